"""The pipeline of the export: its stages under their names, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from streamt_ol.problems import USAGE, StreamtOlError
from streamt_ol.redaction import shown
from streamt_ol.runner import NamedStage, Stage, imported

# Name of each stage -> where its callable lives. Classes are made with their defaults.
STAGES: dict[str, str] = {
    "load_manifest": "streamt_ol.stages.load_manifest:LoadManifest",
    "compile_project": "streamt_ol.stages.compile_project:CompileProject",
    "resolve_identities": "streamt_ol.stages.resolve_identities:resolve_identities",
    "build_facets": "streamt_ol.stages.build_facets:build_facets",
    "validate": "streamt_ol.stages.validate:validate",
    "canonicalize": "streamt_ol.stages.canonicalize:canonicalize",
    "emit": "streamt_ol.stages.emit:Emit",
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
    module_name, _, attribute = STAGES[name].partition(":")
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
        found[stage_name(word)] = imported(reference)
    return found


def stages(
    replaced: Mapping[str, Stage], own: Mapping[str, Stage], first: str = "load_manifest"
) -> list[NamedStage]:
    """Return the whole pipeline, beginning with ``first``, one of ``FIRST``.

    ``replaced`` are a user's stages, whose contracts are checked; ``own`` are built-in stages
    made with other options than the defaults.
    """
    return [
        stage(name, replaced[name], checked=True)
        if name in replaced
        else stage(name, own.get(name))
        for name in (first, *(name for name in STAGES if name not in FIRST))
    ]
