"""The models of a project as the manifest would declare them: what lineage reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from streamt_ol.openlineage.names import is_encodable
from streamt_ol.problems import INVALID, PARSE, StreamtOlError
from streamt_ol.project.fields import columns_of, documented, named
from streamt_ol.project.macros import Macros
from streamt_ol.project.materialization import (
    EXECUTORS,
    GATEWAY,
    KAFKA_STREAMS,
    MATERIALIZATIONS,
    TOPIC,
    ModelDeclaration,
    effective,
)
from streamt_ol.project.sections import Section
from streamt_ol.redaction import shown
from streamt_ol.templates import Call, calls

_EITHER = "source or model"  # what an entry of `from` that is a bare name may mean
_NOT_WITH_EXECUTOR = ("gateway", "sink", "connector")


class Dependency(NamedTuple):
    """A name that a model depends on, and whether it is a ``source``, a ``ref`` or either."""

    kind: str
    name: str


class Model(NamedTuple):
    """A model as read: the manifest's entry, what it compiles to, what it depends on.

    ``runs_as`` is its executor or materialization, whichever decides what process it becomes.
    """

    section: Section
    body: dict[str, Any]
    materialization: str
    runs_as: str
    has_process: bool
    topic: str
    dependencies: list[Dependency]


class _Logic(NamedTuple):
    """The SQL of a model, its own as written or what its macro renders, and what it calls."""

    sql: str
    calls: list[Call]


def read_model(section: Section, macros: Macros, *, gateway: bool) -> Model:
    """Return a model with its effective materialization and its dependencies.

    SQL decides before a macro, and both before ``from``. ``gateway`` is whether the project
    declares a Gateway. Raises ``StreamtOlError`` with the location: E501 for a wrong type or a
    missing macro, E506 for SQL that cannot be rendered, for both SQL and a macro, and for a
    materialization or an executor that does not exist or cannot be what is declared.
    """
    name = named(section, "name")
    key = _from_key(section)
    entries = _from(section, key)
    logic = _logic(section, macros)
    executor = _executor(section, logic)
    materialization = effective(
        ModelDeclaration(
            materialized=_declared_materialization(section),
            executor=executor,
            sql=None if logic is None else logic.sql,
            has_from=bool(entries),
            virtual_topic=any(_layouts(section, "gateway", "virtual_topic")),
        ),
        gateway=gateway,
    )
    body: dict[str, Any] = {"name": name, **documented(section), **columns_of(section)}
    if (topic := _declared_name(section, "topic")) is not None:
        body["topic"] = {"name": topic}
    if (virtual := _declared_name(section, "gateway", "virtual_topic")) is not None:
        body["gateway"] = {"virtual_topic": {"name": virtual}}
    called = [] if logic is None else list(dict.fromkeys(logic.calls))
    if called:
        body["sql"] = " ".join(map(_call_text, called))
    if logic is None and entries is not None:
        body[key] = [_entry_text(entry) for entry in entries]
    contract = section.section("contract")
    if contract is not None:
        body["contract"] = columns_of(contract)
    dependencies = [Dependency(call.kind, call.name) for call in called]
    return Model(
        section,
        body,
        materialization,
        runs_as=KAFKA_STREAMS if executor == KAFKA_STREAMS else materialization,
        has_process=logic is not None or materialization != TOPIC,
        topic=_topic(section, materialization) or name,
        dependencies=dependencies if logic is not None else entries or [],
    )


def _from_key(section: Section) -> str:
    """Return which of its two names a model's ``from`` has. Raises E506 for two that differ."""
    named, aliased = (section.value.get(key) for key in ("from_", "from"))
    if named is None:
        return "from"
    if aliased not in (None, named):
        message = "`from` and `from_` say different things"
        raise StreamtOlError(INVALID, message, location=section.at("from"))
    return "from_"


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
        raise StreamtOlError(INVALID, message, location=item.at())
    return Dependency(*named[0])


def _logic(section: Section, macros: Macros) -> _Logic | None:
    """Return the SQL of a model, or None where it has neither SQL nor a macro."""
    sql, macro = section.text("sql"), section.text("macro")
    if sql is not None and sql.strip():
        if macro:
            message = f"the model {shown(named(section, 'name'))} has both SQL and a macro"
            raise StreamtOlError(INVALID, message, location=section.at())
        return _Logic(sql, calls(sql, section.at("sql")))
    if macro is None:
        return None
    params = {str(key): value for key, value in section.plain("params").items()}
    rendered = macros.rendered(macro, params, section.at("macro"))
    if rendered is None:
        message = f"there is no macro {shown(macro)}: macros/ has no file of that name"
        raise StreamtOlError(PARSE, message, location=section.at("macro"))
    return _Logic(rendered.text, rendered.calls)


def _declared_materialization(section: Section) -> str | None:
    declared = section.text("materialized")
    if declared is not None and declared not in MATERIALIZATIONS:
        known = ", ".join(MATERIALIZATIONS)
        message = f"the materialization {shown(declared)} is not known; known are {known}"
        raise StreamtOlError(INVALID, message, location=section.at("materialized"))
    return declared


def _executor(section: Section, logic: _Logic | None) -> str | None:
    """Return the declared executor. Raises E506 where it contradicts what else is declared."""
    executor = section.text("executor")
    if executor is None:
        return None
    what = f"the executor {shown(executor)}"
    if executor not in EXECUTORS:
        message = f"{what} is not known; known are {', '.join(EXECUTORS)}"
        raise StreamtOlError(INVALID, message, location=section.at("executor"))
    if logic is None:
        message = f"{what} needs SQL or a macro"
        raise StreamtOlError(INVALID, message, location=section.at("executor"))
    materialized = _declared_materialization(section)
    if materialized not in (None, *EXECUTORS[executor]):
        message = f"{what} does not run a model that is materialized as {shown(materialized)}"
        raise StreamtOlError(INVALID, message, location=section.at("materialized"))
    for key in _NOT_WITH_EXECUTOR:
        if section.value.get(key) is not None:
            message = f"{what} does not go with `{key}`"
            raise StreamtOlError(INVALID, message, location=section.at(key))
    return executor


def _layouts(section: Section, *keys: str) -> Iterator[Section]:
    """Yield the mapping under ``keys`` in the flat layout, then the one under ``advanced``."""
    for start in ((), ("advanced",)):
        found = section.below(*start, *keys)
        if found is not None:
            yield found


def _topic(section: Section, materialization: str) -> str | None:
    """Return the declared physical name of a model's output, or None for the model's own name."""
    virtual = (
        _declared_name(section, "gateway", "virtual_topic") if materialization == GATEWAY else None
    )
    return _declared_name(section, "topic") if virtual is None else virtual


def _declared_name(section: Section, *keys: str) -> str | None:
    for declared in _layouts(section, *keys):
        if declared.text("name"):
            return named(declared, "name")
    return None


def _call_text(call: Call) -> str:
    """Return a call as SQL would have it; JSON's escapes are Jinja's, too.

    What needs none is read without Jinja.
    """
    name = json.dumps(call.name, ensure_ascii=not is_encodable(call.name))
    return f"{{{{ {call.kind}({name}) }}}}"


def _entry_text(entry: Dependency) -> str | dict[str, str]:
    return entry.name if entry.kind == _EITHER else {entry.kind: entry.name}
