"""The declarations of a manifest: its sources and models under their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn, Protocol

from streamt_ol.contracts import ProjectedColumn
from streamt_ol.manifest.locations import Locations
from streamt_ol.openlineage.names import is_encodable
from streamt_ol.problems import INVALID, Location, StreamtOlError, pointer
from streamt_ol.redaction import shown

EITHER = "source or model"  # what an entry of `from` that is a bare name may mean
_UNLOCATED = Locations()
_COMPARED = 200  # characters of a name that may be misspelt


class ManifestPart(Protocol):
    """Something of the manifest that knows where it and its parts were declared."""

    def at(self, *parts: str | int) -> Location:
        """Return the location of the part under these keys and indices."""


class Declaration(NamedTuple):
    """A source or a model: ``kind``, ``name``, its pointer in the manifest, what is there."""

    kind: str
    name: str
    pointer: str
    body: dict[str, Any]
    locations: Locations = _UNLOCATED

    def at(self, *parts: str | int) -> Location:
        """Return the location of the declaration, or of a part of it."""
        return self.locations.of(self.pointer + pointer(*parts))

    @property
    def declared_at(self) -> str:
        """The text of the location."""
        return str(self.at()) if self.locations else self.pointer


class Declarations:
    """All sources and models by their names; ``by_name`` has both.

    ``called`` has what each kind of call or entry may name. Raises E506 for blank names and for a
    name used twice.
    """

    def __init__(self, manifest: Mapping[str, Any], locations: Locations = _UNLOCATED) -> None:
        self.locations = locations
        self.sources: dict[str, Declaration] = {}
        self.models: dict[str, Declaration] = {}
        self.by_name: dict[str, Declaration] = {}
        self.called = {"source": self.sources, "ref": self.models, EITHER: self.by_name}
        for kind, into in (("source", self.sources), ("model", self.models)):
            for index, body in enumerate(manifest.get(f"{kind}s") or ()):
                where = f"/{kind}s/{index}"
                self._add(Declaration(kind, body["name"], where, body, locations), into)

    def _add(self, declaration: Declaration, into: dict[str, Declaration]) -> None:
        name = declaration.name
        required_name(name, declaration, "name")
        earlier = self.by_name.get(name)
        if earlier is not None:
            raise StreamtOlError(
                INVALID,
                f"the name {shown(name)} is already used by the {earlier.kind} at {earlier.at()}",
                location=declaration.at(),
            )
        self.by_name[name] = into[name] = declaration

    def nearest(self, kind: str, name: str) -> str | None:
        """Return a hint where ``name`` is of the other kind, or like a name that there is."""
        from difflib import get_close_matches

        if (other := self.by_name.get(name)) is not None:
            return f"{shown(name)} is a {other.kind}"
        near = get_close_matches(name[:_COMPARED], self.called[kind], 1)
        return f"did you mean {shown(near[0])}?" if near else None


def required_name(name: str, owner: ManifestPart, *parts: str | int) -> str:
    """Return ``name``, a part of ``owner``, or raise E506 for a blank or unencodable one."""
    if not name.strip():
        raise StreamtOlError(INVALID, "the name is blank", location=owner.at(*parts))
    if not name.isascii() and not is_encodable(name):
        message = "the name is not valid Unicode"
        raise StreamtOlError(INVALID, message, location=owner.at(*parts))
    return name


def has_sql(model: Declaration) -> bool:
    """Return whether a model has SQL of its own; it decides before a macro and ``from``."""
    return bool((model.body.get("sql") or "").strip())


def topic_names(model: Declaration) -> list[str]:
    """Return the topic names that a model declares; ``[]`` where its own name is the default."""
    body = model.body
    advanced = body.get("advanced") or {}
    topics = (body.get("topic") or {}, advanced.get("topic") or {})
    return [name for topic in topics if (name := topic.get("name"))]


def virtual_topic_name(model: Declaration) -> str | None:
    """Return the virtual topic name that a model declares for the Gateway, None for none."""
    virtual = (model.body.get("gateway") or {}).get("virtual_topic") or {}
    return virtual.get("name") or None


def documented(declaration: Declaration) -> dict[str, str]:
    """Return the declared ``description`` and ``owner``, each only where it says something.

    An empty one is not declared; one of nothing but whitespace is malformed (E506).
    """
    found = {}
    for field in ("description", "owner"):
        text = declaration.body.get(field)
        if text:
            if text.isspace():
                raise _whitespace(declaration.at(field), field)
            found[field] = text
    return found


def _whitespace(location: Location, what: str) -> StreamtOlError:
    return StreamtOlError(INVALID, f"the {what} is nothing but whitespace", location=location)


def columns(declaration: Declaration) -> list[ProjectedColumn]:
    """Return the declared columns in their order; ``[]`` where none are declared.

    Implements "Schema": a contract, even an empty one, comes before a model's own columns.
    Raises E506 for a blank or repeated name and for a malformed description.
    """
    body = declaration.body
    contract = body.get("contract") if declaration.kind == "model" else None
    declared = body.get("columns") if contract is None else contract.get("columns")
    if not declared:
        return []
    names: set[str] = set()
    projected: list[ProjectedColumn] = []
    for index, column in enumerate(declared):  # the most frequent object of a manifest
        name, kind, text = column["name"], column.get("type"), column.get("description")
        if name in names or not name or name.isspace() or (text and text.isspace()):
            within = ("columns",) if contract is None else ("contract", "columns")
            _refuse_column(name, names, declaration, (*within, index))
        names.add(name)
        one: ProjectedColumn = {"name": name}
        if kind and not kind.isspace():
            one["type"] = kind
        if text:
            one["description"] = text
        projected.append(one)
    return projected


def _refuse_column(
    name: str, earlier: set[str], declaration: Declaration, parts: tuple[str | int, ...]
) -> NoReturn:
    """Raise E506 for what is wrong with a column: its name, or else its description."""
    required_name(name, declaration, *parts, "name")
    if name in earlier:
        message = f"the column name {shown(name)} is duplicated"
        raise StreamtOlError(INVALID, message, location=declaration.at(*parts))
    raise _whitespace(declaration.at(*parts, "description"), "description")
