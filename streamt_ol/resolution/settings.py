"""The values that do not come from a declaration: namespaces and the event time.

Implements the namespace precedence of "Static export command", "Dataset identity" and "Event
time, run IDs, and determinism". The command line has already chosen between an option and its
environment variable; a chosen value that is invalid fails and nothing else is tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamt_ol.openlineage.formats import is_utc_date_time
from streamt_ol.openlineage.names import (
    check_dataset_namespace,
    check_job_namespace,
    namespace_of_endpoint,
)
from streamt_ol.problems import INVALID, StreamtOlError

# For each kind of dataset: the option, and where in ``runtime`` one endpoint may stand.
_DERIVATION: dict[str, tuple[str, tuple[str, ...]]] = {
    "kafka": ("kafka_namespace", ("kafka", "bootstrap_servers")),
    "gateway": ("gateway_namespace", ("conduktor", "gateway", "proxy_bootstrap")),
}
_OPTION_NAMES = {"kafka_namespace": "--kafka-namespace", "gateway_namespace": "--gateway-namespace"}


class Namespaces:
    """The namespaces of one export: checked at once where given, derived when first needed."""

    def __init__(self, options: Mapping[str, str | None], runtime: object) -> None:
        self.job = _required_job_namespace(options.get("job_namespace"))
        self._runtime = runtime
        self._known = {
            kind: check_dataset_namespace(value, option)
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
                location=option,
                suggestion=f"give {_OPTION_NAMES[option]} kafka://HOST:PORT",
            )
        return namespace_of_endpoint(endpoint, "runtime." + ".".join(path))


def _required_job_namespace(value: str | None) -> str:
    if value is None:
        raise StreamtOlError(
            INVALID,
            "no job namespace is given, and there is no default",
            location="job_namespace",
            suggestion="give --job-namespace NAMESPACE or set OPENLINEAGE_NAMESPACE",
        )
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
    value, location = given, "event_time"
    if value is None:
        value, location = manifest.get("compiled_at"), "manifest.compiled_at"
    if value is None:
        raise StreamtOlError(
            INVALID,
            "the manifest has no compiled_at, which is the time of its events",
            location=location,
            suggestion="give --event-time, e.g. 2026-01-31T12:00:00Z",
        )
    if not is_utc_date_time(value):
        raise StreamtOlError(
            INVALID,
            "the event time is not a UTC time of RFC 3339",
            location=location,
            suggestion="a UTC time ends with Z, e.g. 2026-01-31T12:00:00Z",
        )
    return value
