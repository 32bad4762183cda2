"""A project's document: its main file, the files of its folders, its environment, merged."""

from __future__ import annotations

from typing import NamedTuple

from streamt_ol.codes import GENERIC_WARNING
from streamt_ol.problems import Location, WarningRecord, warning
from streamt_ol.project.environments import chosen_environment
from streamt_ol.project.folder import Folder
from streamt_ol.project.sections import Section, mistyped
from streamt_ol.project.variables import Variables
from streamt_ol.reading.yaml_values import YamlList, YamlMap
from streamt_ol.redaction import shown, shown_path

_READ = ("sources", "models")
LISTS = (*_READ, "tests", "exposures")  # of the others lineage needs the names at most
# fmt: off
_KNOWN: dict[str, frozenset[str]] = {
    "project": frozenset((
        "apiVersion", "kind", "project", "runtime", "defaults", "rules", "environment",
        "environments", "lifecycle", "macros", "safety", "deployment_state", "connections", "udfs",
        *LISTS,
    )),
    "source": frozenset((
        "name", "description", "topic", "cluster", "schema", "schema_", "owner", "ownership",
        "tags", "columns", "freshness", "event_time", "region", "advanced",
    )),
    "model": frozenset((
        "name", "description", "sql", "from", "from_", "key", "columns", "primary_key", "owner",
        "ownership", "tags", "security", "connector", "sink", "gateway", "ml_outputs", "topic",
        "flink", "flink_cluster", "connect_cluster", "materialized", "access", "group", "version",
        "region", "contract", "macro", "params", "executor", "advanced",
    )),
}
# fmt: on


class Document(NamedTuple):
    """A merged project: ``lists`` has the sections of each of ``LISTS``.

    Variables are filled in below ``runtime`` only; everywhere else ``${`` is text.
    ``environment`` is the file of the chosen environment, where there is one.
    """

    root: Section
    runtime: Section | None
    lists: dict[str, list[Section]]
    environment: Section | None = None

    @property
    def gateway(self) -> Section | None:
        """The Gateway that the project declares, if any."""
        return None if self.runtime is None else self.runtime.below("conduktor", "gateway")


class Unknown:
    """Collects one warning for each kind of mapping and each key that is not known in it."""

    def __init__(self) -> None:
        self.warnings: list[WarningRecord] = []
        self._seen: set[tuple[str, str]] = set()

    def check(self, kind: str, section: Section) -> None:
        """Warn of the keys of ``section``, a ``kind`` of mapping, that are new and unknown."""
        for key in section.value:
            if key in _KNOWN[kind]:
                continue
            name = section.value.key_text(key)
            if (kind, name) not in self._seen:
                self._seen.add((kind, name))
                self._warn(section.value, key, f"the key {shown(name)} of a {kind} is not known")

    def check_environment(self, section: Section, name: str) -> None:
        """Warn of a name in the file of the environment ``name`` that is another one."""
        declared = section.value.get("environment")
        where, key = section.value, "environment"
        if isinstance(declared, YamlMap):
            where, key, declared = declared, "name", declared.get("name")
        if isinstance(declared, str) and "${" not in declared and declared != name:
            self._warn(where, key, f"the name {shown(declared)} is not that of the file")

    def _warn(self, where: YamlMap, key: object, what: str) -> None:
        location = Location(file=where.file, line=where.lines[key])
        self.warnings.append(warning(GENERIC_WARNING, f"{what} and is ignored", location))


def read_document(
    folder: Folder, environment: str | None, variables: Variables, unknown: Unknown
) -> Document:
    """Return the project in ``folder`` under ``environment`` (the option, or None).

    Adds the settings of `.env` and `.env.NAME` to ``variables``. Raises ``StreamtOlError``
    (``PARSE``, ``ENVIRONMENT``) with the location.
    """
    main_file = folder.project_file()
    _add_settings(folder, ".env", variables, unknown)
    chosen = chosen_environment(folder, environment, variables)
    if chosen is not None:
        _add_settings(folder, f".env.{chosen.name}", variables, unknown)
    main = _section(folder, main_file, unknown)
    lists: dict[str, list[Section]] = {name: [] for name in LISTS}
    _merge(main, lists)
    for name in LISTS:
        for file in folder.yaml_files(name):
            _merge(_section(folder, file, unknown), lists)
    for kind in ("source", "model"):
        for section in lists[f"{kind}s"]:
            unknown.check(kind, section)
    runtime, own = main.section("runtime"), None
    if chosen is not None:
        own = _section(folder, chosen.file, unknown)
        unknown.check_environment(own, chosen.name)
        runtime = own.section("runtime") or runtime
    expanded = None if runtime is None else runtime.expanding(variables.expand)
    return Document(main, expanded, lists, own)


def _add_settings(folder: Folder, name: str, variables: Variables, unknown: Unknown) -> None:
    text = folder.text(name)
    if text is not None:
        unknown.warnings += variables.add_file(text, shown_path(name))


def _section(folder: Folder, name: str, unknown: Unknown) -> Section:
    section = Section(folder.yaml_map(name))
    unknown.check("project", section)
    return section


def _merge(section: Section, lists: dict[str, list[Section]]) -> None:
    """Append the declarations of one file."""
    for name, into in lists.items():
        declared = section.value.get(name)
        if isinstance(declared, YamlList):
            for line, value in zip(declared.lines, declared, strict=True):
                where = f"/{name}/{len(into)}"
                if isinstance(value, YamlMap):
                    into.append(Section(value, where))
                elif name in _READ:
                    at = Location(file=declared.file, line=line, pointer=where)
                    raise mistyped(value, "object", at)
        elif declared is not None and name in _READ:
            raise mistyped(declared, "array", section.at(name))
