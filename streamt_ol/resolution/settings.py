"""The values that do not come from a declaration: namespaces and the event time.

Implements the namespace precedence of "Static export command", "Dataset identity" and "Event
time, run IDs, and determinism". The command line has already chosen between an option and its
environment variable; a chosen value that is invalid fails and nothing else is tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamt_ol.manifest.locations import Locations
from streamt_ol.openlineage.formats import is_utc_date_time
from streamt_ol.openlineage.names import (
    JOB_NAMESPACE,
    check_dataset_namespace,
    check_job_namespace,
    namespace_of_endpoint,
)
from streamt_ol.problems import INVALID, Location, StreamtOlError

_UNLOCATED = Locations()
# For each kind of dataset: the option, and where in ``runtime`` one endpoint may stand.
_DERIVATION: dict[str, tuple[str, tuple[str, ...]]] = {
    "kafka": ("kafka_namespace", ("kafka", "bootstrap_servers")),
    "gateway": ("gateway_namespace", ("conduktor", "gateway", "proxy_bootstrap")),
}


class Namespaces:
    """The namespaces of one export: checked at once where given, derived when first needed."""

    def __init__(
        self,
        options: Mapping[str, str | None],
        runtime: object,
        locations: Locations = _UNLOCATED,
    ) -> None:
        self.job = _required_job_namespace(options.get("job_namespace"))
        self._runtime = runtime
        self._locations = locations
        self._known = {
            kind: check_dataset_namespace(value, Location(option=option))
            for kind, (option, _) in _DERIVATION.items()
            if (value := options.get(option)) is not None
        }

    def of(self, kind: str) -> str:
        """Return the namespace of ``kafka`` or ``gateway`` datasets, or raise E506."""
        if kind not in self._known:
            self._known[kind] = self._derived(kind)
        return self._known[kind]

    def _derived(self, kind: str) -> str:
        option, path = _DERIVATION[kind]
        endpoint = _dig(self._runtime, path)
        if endpoint is None:
            raise StreamtOlError(
                INVALID,
                f"no namespace for {kind} datasets is given, and there is no "
                f"runtime.{'.'.join(path)} to derive it from",
                location=Location(option=option),
            )
        return namespace_of_endpoint(endpoint, self._locations.field("runtime", *path))


def _required_job_namespace(value: str | None) -> str:
    if value is None:
        message = "no job namespace is given, and there is no default"
        raise StreamtOlError(INVALID, message, location=JOB_NAMESPACE)
    return check_job_namespace(value)


def _dig(value: object, path: tuple[str, ...]) -> object:
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def event_time(given: str | None, manifest: Mapping[str, Any]) -> str:
    """Return the one event time of an export, exactly as given or compiled.

    Raises E506 where it is missing or not a UTC time of RFC 3339.
    """
    value, location = given, Location(option="event_time")
    if value is None:
        value, location = manifest.get("compiled_at"), Location(field="manifest.compiled_at")
    if value is None:
        raise StreamtOlError(
            INVALID,
            "the manifest has no compiled_at, which is the time of its events",
            location=location,
            suggestion="give an event time, e.g. 2026-01-31T12:00:00Z",
        )
    if not is_utc_date_time(value):
        raise StreamtOlError(
            INVALID,
            "the event time is not a UTC time of RFC 3339",
            location=location,
            suggestion="a UTC time ends with Z, e.g. 2026-01-31T12:00:00Z",
        )
    return value
