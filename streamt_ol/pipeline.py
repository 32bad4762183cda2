"""The pipeline of the export: its stages under their names, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple

from streamt_ol.contracts import CANONICAL, State
from streamt_ol.problems import INVALID, USAGE, Location, StreamtOlError
from streamt_ol.redaction import shown
from streamt_ol.runner import NamedStage, Stage, imported


class Entry(NamedTuple):
    """A stage of the table: where its callable lives, and what it does in one line."""

    reference: str
    summary: str


def _own(module: str, name: str, summary: str) -> Entry:
    return Entry(f"streamt_ol.stages.{module}:{name}", summary)


# The stages by name, in their order. Classes are made with their defaults.
STAGES: dict[str, Entry] = {
    "load_manifest": _own(
        "load_manifest", "LoadManifest", "reads a compiled manifest: a file or a pipe"
    ),
    "compile_project": _own(
        "compile_project", "CompileProject", "reads a project instead, and compiles its manifest"
    ),
    "resolve_identities": _own(
        "resolve_identities",
        "resolve_identities",
        "resolves datasets and jobs; from here on the manifest is gone",
    ),
    "build_facets": _own(
        "build_facets", "build_facets", "makes one OpenLineage event of each dataset and job"
    ),
    "validate": _own(
        "validate", "validate", "checks events against the pinned schemas and the rules"
    ),
    "canonicalize": _own(
        "canonicalize", "canonicalize", "puts events in canonical order, as canonical JSON lines"
    ),
    "emit": _own("emit", "Emit", "writes the lines to stdout or a file"),
}
# The stages that a pipeline may begin with: one of them runs, the others do not.
FIRST = ("load_manifest", "compile_project")


def stage_name(word: str) -> str:
    """Return the stage that a user means by ``word``; dashes and underscores are the same.

    Raises E500 for an unknown one.
    """
    name = word.replace("-", "_")
    if name not in STAGES:
        known = ", ".join(STAGES)
        raise StreamtOlError(USAGE, f"there is no stage {shown(word)}; the stages are {known}")
    return name


def stage(name: str, call: Stage | None = None, *, checked: bool = False) -> NamedStage:
    """Return the built-in stage ``name``, or ``call`` under that stage's contracts."""
    module_name, _, attribute = STAGES[name].reference.partition(":")
    module = import_module(module_name)
    if call is None:
        built_in = getattr(module, attribute)
        call = built_in() if isinstance(built_in, type) else built_in
    return NamedStage(name, call, module.TAKES, module.RETURNS, checked)


def replacements(options: list[str]) -> dict[str, Stage]:
    """Return the callables that ``NAME=package.module:function`` options put in place of stages.

    Raises E500 for an unknown name, a malformed option, or an import that fails.
    """
    found: dict[str, Stage] = {}
    for option in options:
        word, separator, reference = option.partition("=")
        if not separator:
            raise StreamtOlError(USAGE, f"{shown(option)} is not NAME=package.module:function")
        name = stage_name(word)
        found[name] = imported(reference)
    return found


def stages(
    replaced: Mapping[str, Stage], own: Mapping[str, Stage], first: str = "load_manifest"
) -> list[NamedStage]:
    """Return the whole pipeline, beginning with ``first``, one of ``FIRST``.

    ``replaced`` are a user's stages, whose contracts are checked; ``own`` are built-in stages
    made with other options than the defaults. Behind a replaced ``validate`` or ``canonicalize``
    the events are checked once more: "Invalid output is never emitted or written."
    """
    chain = [
        stage(name, replaced[name], checked=True)._replace(foreign=True)
        if name in replaced
        else stage(name, own.get(name))
        for name in (first, *(name for name in STAGES if name not in FIRST))
    ]
    if not replaced.keys().isdisjoint(("validate", "canonicalize")):
        chain.insert(-1, GUARD)
    return chain


def _guarded(state: State) -> State:
    """Return canonical state as it is, or raise E506: not valid, or not its events' own lines."""
    valid = stage("validate").call({"events": state["events"], "warnings": []})
    again = stage("canonicalize").call(valid)
    if any(again[key] != state[key] for key in ("events", "lines", "counts")):
        raise StreamtOlError(
            INVALID,
            "the lines or counts are not those of the events in canonical form",
            location=Location(stage="canonicalize"),
        )
    return state


# What stands before ``emit`` where canonical state comes from elsewhere.
GUARD = NamedStage("emit", _guarded, CANONICAL, CANONICAL, checked=True)
