"""YAML read strictly, into values that know where they stand: bounded, without recursion.

PyYAML's parser gives events and its safe constructor the scalars; collections are built here,
since neither of PyYAML's own builders refuses duplicate keys, keeps locations or survives deep
nesting and expanding aliases.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import yaml

from streamt_ol.problems import PARSE, Location, StreamtOlError
from streamt_ol.reading.yaml_values import YamlList, YamlMap
from streamt_ol.redaction import redact, shown


class Limits(NamedTuple):
    """Bounds of a file: levels, and values that aliases stand for, each counted in full.

    ``plain``: keys are text, and anchors, aliases, merge keys and the parser's own words, which
    may quote a secret, have no use.
    """

    depth: int
    aliased: int
    plain: bool = False


PROJECT = Limits(64, 3_000_000)
CONFIGURATION = Limits(32, 0, plain=True)
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_RESOLVER: Any = yaml.SafeLoader("")
_SPECIAL = frozenset({"<<", "="})  # a merge key, a default value
_MERGE = "tag:yaml.org,2002:merge"
_SCALARS = {
    f"tag:yaml.org,2002:{name}": getattr(_RESOLVER, f"construct_yaml_{name}")
    for name in ("null", "bool", "int", "float", "timestamp")
}


def parse_yaml(text: str, file: str, limits: Limits = PROJECT) -> Any:
    """Return the one document in ``text`` (``None`` for none) with ``YamlMap`` and ``YamlList``.

    Scalars are those of YAML 1.1 without tags; anchors, aliases and merge keys work within
    ``limits``. Raises ``StreamtOlError`` (E501, at ``file`` and line) for what is not YAML, a
    duplicate key, a tag, a second document, deep nesting and aliases that stand for too much.
    """
    builder = _Builder(file, limits)
    try:
        # The parser in C takes a few texts that the reference refuses.
        for event in yaml.parse(text, Loader=yaml.SafeLoader if limits.plain else _LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = redact(error.problem or "it cannot be parsed")[:100]
        last = text.count("\n") + 1
        line = min(mark.line + 1, last) if mark else last
        raise builder.fault("not valid YAML" + f": {problem}" * (not limits.plain), line) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise builder.fault("not valid YAML: a character is not allowed in it", line) from None
    return builder.root


class _Frame:
    """A collection that is being built."""

    __slots__ = ("anchor", "depth", "key", "key_line", "merged", "size", "value")

    def __init__(self, value: YamlMap | YamlList, anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.size = 1  # values in it, those behind aliases included
        self.depth = 1  # levels of collections in it, itself and those behind aliases included
        self.key: Any = _NO_KEY
        self.key_line = 0
        self.merged: list[YamlMap] = []


class _Marker:
    pass


_NO_KEY = _Marker()
_MERGE_KEY = _Marker()


@lru_cache(maxsize=10_000)  # keys, types and words repeat a lot
def _plain_scalar(text: str) -> Any:
    """Return the value of a scalar without quotes. Raises what its construction raises."""
    tag = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))
    if tag == _MERGE:
        return _MERGE_KEY
    construct = _SCALARS.get(tag)
    return text if construct is None else construct(yaml.ScalarNode(tag, text))


class _Builder:
    def __init__(self, file: str, limits: Limits) -> None:
        self.root: Any = None
        self._file = file
        self._limits = limits
        self._documents = 0
        self._frames: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, int, int]] = {}
        self._aliased = 0
        self._written = ""  # the text of the scalar read last

    def fault(self, message: str, line: int) -> StreamtOlError:
        return StreamtOlError(PARSE, message, location=Location(file=self._file, line=line))

    def take(self, event: Any) -> None:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.NodeEvent) and getattr(event, "tag", None) is not None:
            raise self.fault("YAML tags are not allowed", line)
        if self._limits.plain and getattr(event, "anchor", None) is not None:
            raise self.fault("anchors and aliases are not allowed", line)
        if isinstance(event, yaml.ScalarEvent):
            self._written = event.value
            self._finish((self._scalar(event, line), 1, 0), event.anchor, line)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._start(event, line)
        elif isinstance(event, yaml.CollectionEndEvent):
            frame = self._frames.pop()
            if isinstance(frame.value, YamlMap):
                _merge(frame.value, frame.merged)
            done = (frame.value, frame.size, frame.depth)
            self._finish(done, frame.anchor, frame.value.line)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event.anchor or "", line)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise self.fault("a second YAML document starts here", line)

    def _start(self, event: Any, line: int) -> None:
        self._check_depth(1, line)
        is_map = isinstance(event, yaml.MappingStartEvent)
        self._frames.append(
            _Frame((YamlMap if is_map else YamlList)(self._file, line), event.anchor)
        )
        if event.anchor is not None:
            self._anchors[event.anchor] = (_NO_KEY, 0, 0)

    def _scalar(self, event: Any, line: int) -> Any:
        if not event.implicit[0]:
            return event.value
        if self._limits.plain and event.value in _SPECIAL:
            raise self.fault(f"{event.value} has no use here; as a text it needs quotes", line)
        try:
            return _plain_scalar(event.value)
        except (ValueError, OverflowError, AttributeError):
            raise self.fault("a number or time that is out of range", line) from None

    def _alias(self, anchor: str, line: int) -> None:
        if anchor not in self._anchors:
            raise self.fault(f"the alias {shown(anchor)} has no anchor before it", line)
        value, size, depth = self._anchors[anchor]
        self._written = str(value) if not isinstance(value, YamlMap | YamlList) else ""
        if value is _NO_KEY:
            raise self.fault(f"the anchor {shown(anchor)} holds itself", line)
        self._aliased += size
        if self._aliased > self._limits.aliased:
            raise self.fault("aliases stand for too many values", line)
        self._check_depth(depth, line)
        self._finish((value, size, depth), None, line)

    def _check_depth(self, depth: int, line: int) -> None:
        if len(self._frames) + depth > self._limits.depth:
            raise self.fault(f"nested deeper than {self._limits.depth} levels", line)

    def _finish(self, done: tuple[Any, int, int], anchor: str | None, line: int) -> None:
        """Put a complete value, with its size and depth, where it belongs."""
        value, size, depth = done
        if anchor is not None:
            self._anchors[anchor] = done
        if not self._frames:
            self.root = _outside_maps(value)
            return
        frame = self._frames[-1]
        frame.size += size
        frame.depth = max(frame.depth, depth + 1)
        if isinstance(frame.value, YamlList):
            frame.value.append(_outside_maps(value))
            frame.value.lines.append(line)
        elif frame.key is _NO_KEY:
            self._key(frame, frame.value, value, line)
        else:
            self._entry(frame, frame.value, _outside_maps(value))

    def _key(self, frame: _Frame, owner: YamlMap, key: Any, line: int) -> None:
        if isinstance(key, YamlMap | YamlList):
            raise self.fault("a key must be a plain value", line)
        if self._limits.plain and not isinstance(key, str):
            raise self.fault(f"the key {shown(self._written)} is not text; it needs quotes", line)
        if not isinstance(key, str | _Marker) and key not in owner:
            owner.written[key] = self._written
        if key is not _MERGE_KEY and key in owner:
            earlier = f"line {owner.lines[key]}"
            raise self.fault(
                f"the key {shown(owner.key_text(key))} is already there, at {earlier}", line
            )
        frame.key, frame.key_line = key, line

    def _entry(self, frame: _Frame, owner: YamlMap, value: Any) -> None:
        if frame.key is _MERGE_KEY:
            maps = value if isinstance(value, YamlList) else [value]
            if not all(isinstance(item, YamlMap) for item in maps):
                raise self.fault("only mappings can be merged with <<", frame.key_line)
            frame.merged += maps
        else:
            owner[frame.key] = value
            owner.lines[frame.key] = frame.key_line
        frame.key = _NO_KEY


def _outside_maps(value: Any) -> Any:
    """Return ``value``; where it is not a key of a mapping, ``<<`` is a text like any other."""
    return "<<" if value is _MERGE_KEY else value


def _merge(owner: YamlMap, merged: list[YamlMap]) -> None:
    """Add what is merged in: a mapping's own keys win, then the mappings in their order."""
    for other in merged:
        for key, value in other.items():
            if key not in owner:
                owner[key] = value
                owner.lines[key] = other.lines[key]
                if key in other.written:
                    owner.written[key] = other.written[key]
