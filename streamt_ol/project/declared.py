"""The sources and models of a project as the manifest would declare them: what lineage reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from streamt_ol.flink_sql import read_tokens
from streamt_ol.problems import INVALID, PARSE, StreamtOlError
from streamt_ol.project.macros import Macros
from streamt_ol.project.materialization import (
    GATEWAY,
    SINK,
    TOPIC,
    declared_materialization,
    has_statement,
    of_sql,
)
from streamt_ol.project.sections import Section, mistyped
from streamt_ol.redaction import shown
from streamt_ol.templates import Call, Rendering, rendering

_EITHER = "source or model"  # what an entry of `from` that is a bare name may mean


class Dependency(NamedTuple):
    """A name that a model depends on, and whether it is a ``source``, a ``ref`` or either."""

    kind: str
    name: str


class Model(NamedTuple):
    """A model as read: the manifest's entry, what it compiles to, what it depends on."""

    section: Section
    body: dict[str, Any]
    materialization: str
    has_process: bool
    topic: str
    dependencies: list[Dependency]


def read_source(section: Section) -> dict[str, Any]:
    """Return a source as the manifest declares it. Raises E501 at a field of the wrong type."""
    return {
        "name": _name(section, "name"),
        "topic": _name(section, "topic"),
        **_documented(section),
        **_columns(section),
    }


def read_model(section: Section, macros: Macros, *, gateway: bool) -> Model:
    """Return a model with its effective materialization and its dependencies.

    ``gateway`` is whether the project declares a Gateway. Raises ``StreamtOlError`` with the
    place: E501 for a wrong type or a missing macro, E502 for a missing variable, E506 for SQL
    that cannot be rendered and for a materialization that does not exist.
    """
    name = _name(section, "name")
    key = "from_" if section.value.get("from_") is not None else "from"
    entries = _from(section, key)
    rendered = _rendered(section, macros)
    materialization = _effective(section, rendered, entries, gateway=gateway)
    body: dict[str, Any] = {"name": name, **_documented(section), **_columns(section)}
    calls = list(dict.fromkeys(rendered.calls)) if rendered else []
    if calls:
        body["sql"] = " ".join(map(_call_text, calls))
    if entries is not None:
        body[key] = [_entry_text(entry) for entry in entries]
    contract = section.section("contract")
    if contract is not None:
        body["contract"] = _columns(contract)
    called = [Dependency(call.kind, call.name) for call in calls]
    return Model(
        section,
        body,
        materialization,
        has_process=rendered is not None or materialization != TOPIC,
        topic=_topic(section, materialization) or name,
        dependencies=called + (entries or []),
    )


def _name(section: Section, key: str) -> str:
    name = section.required_text(key)
    if not name.strip():
        raise StreamtOlError(INVALID, f"the {key} is blank", location=section.location(key))
    return name


def _documented(section: Section) -> dict[str, str]:
    texts = {key: section.text(key) for key in ("description", "owner")}
    return {key: text for key, text in texts.items() if text is not None}


def _columns(section: Section) -> dict[str, list[dict[str, str]]]:
    columns = section.items("columns")
    if columns is None:
        return {}
    declared = []
    for index, column in enumerate(columns):
        if not isinstance(column, Section):
            raise mistyped(column, "object", f"{section.location('columns')}/{index}")
        texts = {key: column.text(key) for key in ("type", "description")}
        present = {key: text for key, text in texts.items() if text is not None}
        declared.append({"name": column.required_text("name"), **present})
    return {"columns": declared}


def _from(section: Section, key: str) -> list[Dependency] | None:
    """Return the entries of ``from``: a name, ``{source: x}``, ``{ref: y}``, or a list of them."""
    value = section.value.get(key)
    if value is None:
        return None
    if isinstance(value, str):
        text = section.text(key)
        assert text is not None
        return [Dependency(_EITHER, text)]
    single = section.section(key) if isinstance(value, dict) else None
    items = [single] if single else section.items(key) or []
    return [_entry(item) for item in items]


def _entry(item: Any) -> Dependency:
    if not isinstance(item, Section):
        return Dependency(_EITHER, item)
    named = [(kind, n) for kind in ("source", "ref") if (n := item.text(kind)) is not None]
    if len(named) != 1:
        message = "the entry must name one source or one ref"
        raise StreamtOlError(INVALID, message, location=item.place)
    return Dependency(*named[0])


def _rendered(section: Section, macros: Macros) -> Rendering | None:
    """Return the rendered SQL of a model, its own or its macro's, or None where it has none.

    SQL that calls nothing and holds comments alone is none.
    """
    sql = section.text("sql")
    if sql is not None and sql.strip():
        location = section.location("sql")
        found = rendering(sql, location)
    else:
        macro = section.text("macro")
        if macro is None:
            return None
        location = section.location("macro")
        found = _of_macro(macro, section, macros, location)
    empty = not found.calls and not has_statement(read_tokens(found.text, location))
    return None if empty else found


def _of_macro(macro: str, section: Section, macros: Macros, location: str) -> Rendering:
    params = {str(key): value for key, value in section.plain("params").items()}
    found = macros.rendered(macro, params, location)
    if found is None:
        message = f"there is no macro {shown(macro)}: macros/ holds no file of that name"
        raise StreamtOlError(PARSE, message, location=location)
    return found


def _effective(
    section: Section,
    rendered: Rendering | None,
    entries: list[Dependency] | None,
    *,
    gateway: bool,
) -> str:
    """Return the materialization, in the order in which streamt infers it."""
    declared = section.text("materialized")
    if declared is not None:
        return declared_materialization(declared, section.location("materialized"))
    if entries and rendered is None:
        return SINK
    if any(_layouts(section, "gateway", "virtual_topic")):
        return GATEWAY
    if rendered is None:
        return TOPIC
    location = section.location("sql" if section.value.get("sql") else "macro")
    tables = len(set(rendered.calls))
    return of_sql(rendered.text, tables, location, gateway=gateway)


def _layouts(section: Section, *keys: str) -> Iterator[Section]:
    """Yield the mapping under ``keys`` in the flat layout, then the one under ``advanced``."""
    for start in ((), ("advanced",)):
        found = section.below(*start, *keys)
        if found is not None:
            yield found


def _topic(section: Section, materialization: str) -> str | None:
    """Return the declared physical name of a model's output, or None for the model's own name."""
    virtual = _layouts(section, "gateway", "virtual_topic") if materialization == GATEWAY else ()
    for declared in (*virtual, *_layouts(section, "topic")):
        if declared.text("name") is not None:
            return _name(declared, "name")
    return None


def _call_text(call: Call) -> str:
    """Return a call as SQL would have it; JSON's escapes are Jinja's, too."""
    return f"{{{{ {call.kind}({json.dumps(call.name)}) }}}}"


def _entry_text(entry: Dependency) -> str | dict[str, str]:
    return entry.name if entry.kind == _EITHER else {entry.kind: entry.name}
