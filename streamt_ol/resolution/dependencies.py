"""The direct dependencies of a model: what its SQL calls, its ``from``, its compiled macro.

Implements "Direct inputs and outputs": direct sources and models, never transitive ones, never
an empty list for a macro that could not be resolved.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from streamt_ol.manifest.processes import KAFKA, PROCESSES
from streamt_ol.problems import INVALID, Location, StreamtOlError
from streamt_ol.redaction import shown
from streamt_ol.resolution.artifacts import Artifact
from streamt_ol.resolution.declarations import EITHER, Declaration, Declarations, has_sql
from streamt_ol.resolution.outputs import CompiledModel, Topic
from streamt_ol.templates import calls, plain_calls

if TYPE_CHECKING:
    from streamt_ol.flink_sql import Table

_NOT_IN_TABLE_NAMES = re.compile(r"\W", re.ASCII)


class Dependencies:
    """Finds the dependencies of models among the declared datasets.

    ``topics`` has the topic of each declaration that has one, by declaration name.
    """

    def __init__(self, declarations: Declarations, topics: Mapping[str, Topic]) -> None:
        self._topics = topics
        self._declarations = declarations
        self._by_topic: dict[str, list[Declaration]] = defaultdict(list)
        for name, topic in topics.items():
            self._by_topic[topic.name].append(declarations.by_name[name])

    def of(self, compiled: CompiledModel) -> list[Declaration]:
        """Return the direct dependencies of a model, each once, in the order found.

        Raises E506 for a dependency that is unknown, ambiguous, or has no dataset.
        """
        found: dict[str, Declaration] = {}
        for dependency in self._all(compiled):
            found.setdefault(dependency.name, dependency)
        return list(found.values())

    def _all(self, compiled: CompiledModel) -> Iterator[Declaration]:
        """Yield what the SQL says, or else the macro, or else ``from``."""
        model = compiled.model
        if has_sql(model):
            sql = model.body["sql"]
            found = plain_calls(sql)
            for call in calls(sql, model.at("sql")) if found is None else found:
                yield self._declared(call.kind, call.name, model, "sql")
        elif not model.body.get("macro"):
            yield from self._from(model)
        elif compiled.process is not None:
            yield from self._compiled_macro(compiled, compiled.process)

    def _from(self, model: Declaration) -> Iterator[Declaration]:
        given = [key for key in ("from_", "from") if model.body.get(key) is not None]
        if not given:
            return
        key = given[0]
        entries = model.body[key]
        if any(model.body[other] != entries for other in given[1:]):
            message = "`from` and `from_` say different things"
            raise StreamtOlError(INVALID, message, location=model.at("from"))
        if not isinstance(entries, list):
            yield self._entry(entries, model, key)
            return
        for index, entry in enumerate(entries):
            yield self._entry(entry, model, key, index)

    def _entry(
        self, entry: str | Mapping[str, str | None], model: Declaration, *parts: str | int
    ) -> Declaration:
        if isinstance(entry, str):
            return self._declared(EITHER, entry, model, *parts)
        named = [(kind, n) for kind in ("source", "ref") if (n := entry.get(kind)) is not None]
        if len(named) != 1:
            message = "the entry must name one source or one ref"
            raise StreamtOlError(INVALID, message, location=model.at(*parts))
        return self._declared(*named[0], model, *parts)

    def _declared(self, kind: str, name: str, model: Declaration, *parts: str | int) -> Declaration:
        """Return what a part of ``model`` names. Raises E506 for nothing that can be read."""
        found = self._declarations.called[kind].get(name)
        if found is None:
            what = "model" if kind == "ref" else kind
            raise StreamtOlError(
                INVALID,
                f"there is no {what} named {shown(name)}",
                location=model.at(*parts),
                suggestion=self._declarations.nearest(kind, name),
            )
        if found.name not in self._topics:
            message = f"the {found.kind} {shown(name)} has no dataset to read"
            raise StreamtOlError(INVALID, message, location=model.at(*parts))
        return found

    def _compiled_macro(self, compiled: CompiledModel, process: Artifact) -> Iterator[Declaration]:
        kind = PROCESSES[process.kind]
        topics = kind.reads(process.body)
        if kind.scripted:
            yield from self._tables(compiled, process)
        elif topics is None:
            message = f"the {kind.title} of a macro does not name the topic that it reads"
            raise StreamtOlError(INVALID, message, location=process.at())
        else:
            for topic in topics:
                found = self._by_topic.get(topic, [])
                if kind.physical:
                    found = [d for d in found if self._topics[d.name].kind == KAFKA]
                yield _only(topic, found, process.at())

    def _tables(self, compiled: CompiledModel, job: Artifact) -> Iterator[Declaration]:
        from streamt_ol.flink_sql import read_script

        location = job.at("sql")
        script = read_script(job.body.get("sql") or "", location)
        declared = {table.name for table in script.tables}
        targets = set(script.targets)
        written = {t.topic for t in script.tables if t.name in targets}
        output = compiled.topic.name if compiled.topic else None
        if not targets <= declared or written != {output}:
            raise StreamtOlError(
                INVALID,
                f"the compiled SQL of the model {shown(compiled.model.name)} does not write, "
                "through tables that it declares, to the topic of the model and no other",
                location=location,
            )
        if not targets.isdisjoint(script.reads):
            raise reads_what_it_writes(compiled.model)
        for name in script.reads:
            if name not in declared and name not in script.views:
                message = f"the compiled SQL reads {shown(name)}, which it does not declare"
                raise StreamtOlError(INVALID, message, location=location)
        yield from self._inputs([t for t in script.tables if t.name not in targets], location)

    def _inputs(self, tables: list[Table], location: Location) -> Iterator[Declaration]:
        for table in tables:
            if table.topic is None:
                if table.generated:
                    continue
                message = f"the table {shown(table.name)} of the compiled SQL names no topic"
                raise StreamtOlError(INVALID, message, location=location)
            found = self._by_topic.get(table.topic, [])
            # Where one topic name lives in both namespaces, the table's name decides.
            named = [d for d in found if table.name in (d.name, table_name(d.name))]
            yield _only(table.topic, named or found, location)


def _only(topic: str, found: list[Declaration], location: Location) -> Declaration:
    """Return the one dataset that a compiled topic is. Raises E506 for none and for several."""
    if len(found) == 1:
        return found[0]
    reason = "stands for more than one dataset" if found else "is not a declared dataset"
    message = f"the compiled topic {shown(topic)} {reason}"
    raise StreamtOlError(INVALID, message, location=location)


def table_name(name: str) -> str:
    """Return the table name that streamt makes from a source's or model's name."""
    return _NOT_IN_TABLE_NAMES.sub("_", name)


def reads_what_it_writes(model: Declaration) -> StreamtOlError:
    """Return the error for a dataset that is both an input and an output of one job."""
    return StreamtOlError(
        INVALID,
        f"the model {shown(model.name)} reads the dataset that it writes",
        location=model.at(),
    )
