"""Everything about OpenLineage in a command around a child: the preflight, and the report.

Implements the preflight of the specification's "Failure policy": all that can be refused is
refused before the child starts. Imported only by a command that emits.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamt_ol import collector
from streamt_ol.codes import UNENCRYPTED
from streamt_ol.export.environment import with_environment
from streamt_ol.problems import USAGE, StreamtOlError, WarningRecord, warning
from streamt_ol.runs import Run, RunSpec, check_spec
from streamt_ol.runs.child import Ended
from streamt_ol.runs.marker import MarkerLocation, local_location
from streamt_ol.runs.signals import Endings, ignore_signals
from streamt_ol.transport.config import UNENCRYPTED_MESSAGE, config_of
from streamt_ol.transport.environment import read_transport_section

if TYPE_CHECKING:
    from streamt_ol.cli.output import Output
    from streamt_ol.delivery.senders.kafka_transport import KafkaConfig
    from streamt_ol.project import ProjectIdentity, StateBackend
    from streamt_ol.runs.arguments import StreamtArguments
    from streamt_ol.transport.base import Transport
    from streamt_ol.transport.config import TransportConfig

    AnyTransportConfig = TransportConfig | KafkaConfig

Given = Mapping[str, str | None]
KAFKA = "kafka"


def transport_config(*, allows_kafka: bool = False) -> AnyTransportConfig:
    """Return the transport that the environment configures, read once: it may come from a pipe.

    Kafka is one only where that is allowed: not for streamt's commands. Raises
    ``StreamtOlError``.
    """
    with _reading("the settings"):
        section = read_transport_section(os.environ)
        if allows_kafka and section.get("type") == KAFKA:
            from streamt_ol.delivery.senders.kafka_transport import kafka_config

            return kafka_config(section)
        return config_of(section)


def _reading(what: str) -> AbstractContextManager[object]:
    """Show on a terminal what is read, or that it is waited for: it may be a pipe."""
    if sys.stderr is None or not sys.stderr.isatty():
        return nullcontext()
    from streamt_ol.cli.progress import elapsed

    return elapsed(f"reading {what}")


def opened_transport(
    spec: RunSpec, config: AnyTransportConfig, warnings: list[WarningRecord]
) -> Transport:
    """Return the transport of ``config``, once every event of ``spec`` is known to be valid.

    ``warnings`` gets one where events would be readable on their way. Raises ``StreamtOlError``.
    """
    check_spec(spec)
    if config.is_unencrypted:
        warnings.append(warning(UNENCRYPTED, UNENCRYPTED_MESSAGE))
    with _reading("the settings"):
        return config.open()


class Declared:
    """The manifest, or the project, that streamt works on when called with ``arguments``.

    Raises ``StreamtOlError`` where neither can be read.
    """

    def __init__(self, manifest: Path | None, arguments: StreamtArguments, given: Given) -> None:
        self.arguments = arguments
        self._manifest = manifest
        self._given = given
        if manifest is not None and str(manifest) == "-":
            raise StreamtOlError(
                USAGE, "standard input belongs to the command", location="--manifest"
            )

    def identity(self) -> ProjectIdentity:
        """Return the project's name, its tests, and the options with its variables."""
        if self._manifest is None:
            from streamt_ol.project.identity import read_identity

            return read_identity(self._options(), os.environ)
        from streamt_ol.project import ProjectIdentity

        state = self.compiled()
        manifest = state["manifest"]
        tests = manifest.get("tests") or []
        return ProjectIdentity(manifest["project"], state["options"], tests, self._backend())

    def compiled(self) -> dict[str, Any]:
        """Return ``options``, with the project's variables, the ``manifest``, its ``locations``."""
        with _reading("the project"):
            if self._manifest is not None:
                from streamt_ol.stages.load_manifest import LoadManifest

                options = {**self._options(), "manifest": str(self._manifest)}
                return LoadManifest()({"options": options})
            from streamt_ol.stages.compile_project import CompileProject

            return CompileProject()({"options": self._options()})

    def marker_location(self, project: str, operation_file: Path | None) -> MarkerLocation:
        """Return where streamt keeps the operation marker. Raises E503."""
        environment = self._environment()
        if operation_file is not None:
            return MarkerLocation(operation_file, project, environment, backend=None)
        return local_location(Path(self.arguments.project_dir), project, environment)

    def _backend(self) -> StateBackend | None:
        """Return the backend that the project beside a manifest names, where it can be read."""
        if not self._has_project():
            return None
        from streamt_ol.project.identity import read_identity

        with suppress(StreamtOlError):
            return read_identity(self._of_project(), os.environ).backend
        return None

    def _has_project(self) -> bool:
        from streamt_ol.project import is_project

        return is_project(Path(self.arguments.project_dir))

    def _environment(self) -> str:
        """Return the environment that streamt works in; without a project nothing confirms it."""
        wanted = self.arguments.environment
        if not self._has_project():
            return wanted or os.environ.get("STREAMT_ENV") or "default"
        from streamt_ol.project.identity import environment_name

        return environment_name(Path(self.arguments.project_dir), wanted, os.environ)

    def _options(self) -> dict[str, str | None]:
        chosen = with_environment(self._given, os.environ)
        return chosen if self._manifest is not None else {**chosen, **self._of_project()}

    def _of_project(self) -> dict[str, str | None]:
        return {"project_dir": self.arguments.project_dir, "env": self.arguments.environment}


def _tell(warnings: list[WarningRecord], give_up: Callable[[], None], output: Output) -> None:
    """Print warnings in the order in which they came about, however often Ctrl-C is pressed.

    ``give_up`` adds those for what is still undelivered. From then on the exit status is decided.
    """
    ignore_signals()
    give_up()
    for one in warnings:
        output.warnings([one])


class _Interruptible:
    """A transport whose deliveries end with a signal that asks for it."""

    def __init__(self, transport: Transport, endings: Endings) -> None:
        self._transport = transport
        self._endings = endings

    def emit(self, event_bytes: bytes) -> None:
        with self._endings.raised():
            self._transport.emit(event_bytes)


def report_child(
    spec: RunSpec,
    arguments: list[str],
    output: Output,
    config: AnyTransportConfig,
    *,
    streamt: bool = False,
) -> Ended:
    """Run the child as one run of ``spec``; what was not delivered becomes warnings at the end."""
    from streamt_ol.runs.wrapped import run_wrapped

    warnings: list[WarningRecord] = []
    with opened_transport(spec, config, warnings) as transport:
        endings = Endings()
        endings.install()
        run = Run(spec, _Interruptible(transport, endings), warn=warnings.append)
        collector.resume()
        try:
            return run_wrapped(run, arguments, os.environ, streamt=streamt, endings=endings)
        finally:
            _tell(warnings, run.give_up, output)


def report_apply(
    spec: RunSpec,
    location: MarkerLocation,
    arguments: list[str],
    output: Output,
    config: AnyTransportConfig,
) -> Ended:
    """Run the child, and report the durable operations that the marker at ``location`` shows."""
    from streamt_ol.runs.durable import Deliveries, run_apply

    warnings: list[WarningRecord] = []
    with opened_transport(spec, config, warnings) as transport:
        endings = Endings()
        endings.install()
        deliveries = Deliveries(spec, transport, warnings.append)
        collector.resume()
        try:
            ended = run_apply(arguments, os.environ, location, deliveries, endings=endings)
            with suppress(KeyboardInterrupt, SystemExit), endings.raised():
                deliveries.finish()
            return ended
        finally:
            _tell(warnings, deliveries.give_up, output)
