"""The difference of an earlier export and the one that would be written now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import orjson

from streamt_ol.openlineage.formats import is_utc_date_time
from streamt_ol.problems import PARSE, Location, StreamtOlError, pointer
from streamt_ol.reading import strict_json
from streamt_ol.reading.chunks import chunks, raw_events
from streamt_ol.redaction import name_line, shown

Event = dict[str, Any]
Key = tuple[str, str, str]
_KINDS = ("dataset", "job")


def earlier_events(data: bytes, file: str) -> list[Event]:
    """Return the events of an earlier export, in any form that events are read in.

    Raises ``StreamtOlError`` (``PARSE``, at ``file:line``) for one that is not a JSON object.
    """
    events: list[Event] = []
    for raw in raw_events(chunks(iter([data]))):
        location = Location(file=file, line=raw.line, pointer=raw.pointer or None)
        if raw.fault is not None:
            raise StreamtOlError(PARSE, raw.fault.message, location=location)
        try:
            event = strict_json.loads(raw.data)
        except strict_json.JsonFaultError as fault:
            raise StreamtOlError(PARSE, fault.message, location=location) from None
        if not isinstance(event, dict):
            raise StreamtOlError(PARSE, "the line must hold an object", location=location)
        events.append(event)
    return events


def changes(data: bytes, file: str, current: list[Event]) -> list[str]:
    """Return what changed since the earlier export in ``data``, one line per change.

    ``current`` are the events of now, in canonical order. Only ``eventTime`` may differ, from
    one time in UTC to another: where the events are the same and the bytes are not, that is a
    change, too.
    """
    earlier = earlier_events(data, file)
    found = list(_changed_events(_by_key(earlier), _by_key(current)))
    found += _without_time(earlier)
    if found:
        return found
    repeated = [key for key, count in Counter(map(_key, earlier)).items() if count > 1]
    if repeated:
        return [f"repeated: {_named(key)}" for key in repeated]
    as_written = [_canonical(event) + b"\n" for event in earlier]
    if list(map(_key, earlier)) != list(map(_key, current)) or b"".join(as_written) != data:
        return ["the events are the same, but not in canonical order and form"]
    return []


def _by_key(events: list[Event]) -> dict[Key, Event]:
    return {_key(event): event for event in events}


def _key(event: Event) -> Key:
    for kind in _KINDS:
        entity = event.get(kind)
        if isinstance(entity, dict):
            return kind, str(entity.get("namespace")), str(entity.get("name"))
    return "event", "", ""


def _named(key: Key) -> str:
    kind, namespace, name = key
    return f"{kind} '{name_line(name, 200)}' in '{name_line(namespace, 200)}'"


def _canonical(event: Event) -> bytes:
    return orjson.dumps(event, option=orjson.OPT_SORT_KEYS)


def _changed_events(earlier: dict[Key, Event], current: dict[Key, Event]) -> Iterator[str]:
    for key in sorted(earlier.keys() | current.keys()):
        if key not in current:
            yield f"removed: {_named(key)}"
        elif key not in earlier:
            yield f"added: {_named(key)}"
        else:
            for change in changed_values(_timeless(earlier[key]), _timeless(current[key])):
                yield f"changed: {_named(key)}: {change}"


def _timeless(event: Event) -> Event:
    return {name: value for name, value in event.items() if name != "eventTime"}


def _without_time(events: list[Event]) -> Iterator[str]:
    for event in events:
        time = event.get("eventTime", _ABSENT)
        if not (isinstance(time, str) and is_utc_date_time(time)):
            yield f"changed: {_named(_key(event))}: /eventTime {_value(time)} is not a time in UTC"


def changed_values(earlier: Any, current: Any) -> Iterator[str]:
    """Yield each location that differs, a pointer, with both values, safe to show.

    Any two JSON values are compared, of any depth.
    """
    waiting: list[tuple[str, Any, Any]] = [("", earlier, current)]
    while waiting:
        place, old, new = waiting.pop()
        if isinstance(old, dict) and isinstance(new, dict):
            keys = sorted(old.keys() | new.keys(), reverse=True)
            waiting += [
                (place + pointer(k), old.get(k, _ABSENT), new.get(k, _ABSENT)) for k in keys
            ]
        elif isinstance(old, list) and isinstance(new, list):
            waiting += [
                (f"{place}/{i}", _item(old, i), _item(new, i))
                for i in reversed(range(max(len(old), len(new))))
            ]
        elif old != new or type(old) is not type(new):
            yield f"{shown(place, 200)[1:-1]} {_value(old)} -> {_value(new)}"


_ABSENT = object()


def _item(values: list[Any], index: int) -> Any:
    return values[index] if index < len(values) else _ABSENT


def _value(value: Any) -> str:
    if value is _ABSENT:
        return "nothing"
    return shown(value) if isinstance(value, str) else shown(orjson.dumps(value).decode())[1:-1]
