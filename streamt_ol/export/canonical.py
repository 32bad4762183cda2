"""Options become the canonical state of the export, which is written or handed on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from streamt_ol import collector, pipeline, runner
from streamt_ol.contracts import Canonical, Emitted, State
from streamt_ol.export.environment import variable_named, with_environment
from streamt_ol.export.options import ExportOptions
from streamt_ol.templates import one_process

if TYPE_CHECKING:
    from streamt_ol.stages.compile_project import CompileProject

NO_STAGES: Mapping[str, runner.Stage] = {}
Write = Callable[[Iterable[bytes]], None]


def canonical_state(
    options: ExportOptions,
    environ: Mapping[str, str] = os.environ,
    replaced: Mapping[str, runner.Stage] = NO_STAGES,
    default_job_namespace: str | None = None,
    read: Callable[[str], bytes] | None = None,
) -> Canonical:
    """Return the canonical events of a manifest or project, their lines, counts and warnings.

    ``replaced`` are callables in the place of stages, by name. ``default_job_namespace`` stands
    in where nothing gives one, for events that are only compared or drawn. ``read`` returns the
    bytes of the manifest by its name where they are not those of a file. Raises
    ``StreamtOlError``: E500 to E503 and E506, with the location in the manifest or the project's
    files.
    """
    given = options.given()
    project = _project(environ) if options.project_dir is not None else None
    own: dict[str, runner.Stage] = {} if project is None else {"compile_project": project}
    if default_job_namespace is not None:
        own["resolve_identities"] = _with_job_namespace(default_job_namespace)
    if read is not None:
        from streamt_ol.stages.load_manifest import LoadManifest

        own["load_manifest"] = LoadManifest(read)
    first = "load_manifest" if project is None else "compile_project"
    chain = pipeline.stages(replaced, own, first)[:-1]
    with collector.paused(), variable_named(given, environ), one_process():
        state = {"options": with_environment(given, environ)}
        return cast("Canonical", runner.run(chain, state))


def write(
    state: Canonical,
    sink: Write | None,
    output_file: Path | None = None,
    replaced: Mapping[str, runner.Stage] = NO_STAGES,
) -> Emitted:
    """Write the lines of ``state`` to ``output_file``, all or nothing, or else to ``sink``.

    With neither, the lines are only counted. Returns what was written where. Raises E506 for a
    file that cannot be written; an existing one stays as it was.
    """
    from streamt_ol.stages.emit import Emit

    emit = Emit(output_file=output_file) if sink is None else Emit(sink, output_file)
    chain = pipeline.stages(replaced, {"emit": emit})[-1:]
    with collector.paused():
        return cast("Emitted", runner.run(chain, cast("State", state)))


def _with_job_namespace(default: str) -> runner.Stage:
    resolve = pipeline.stage("resolve_identities").call

    def resolved(state: State) -> State:
        options = state["options"]
        if options.get("job_namespace") is None:
            options = {**options, "job_namespace": default}
        return resolve({**state, "options": options})

    return resolved


def _project(environ: Mapping[str, str]) -> CompileProject:
    from streamt_ol.stages.compile_project import CompileProject

    return CompileProject(environ)
