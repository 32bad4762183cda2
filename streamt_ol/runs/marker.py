"""The durable operation marker that streamt's local state backend keeps beside its state.

Of a marker only ``control_version``, ``address``, ``status`` and, of its intent,
``operation_id``, ``kind`` and ``started_at`` are read: never actions, actors or plans.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast, get_args
from urllib.parse import unquote

from streamt_ol.openlineage.formats import is_utc_date_time, is_uuid

if TYPE_CHECKING:
    from pathlib import Path

Status = Literal["clear", "in_progress", "recovery_required"]
KNOWN_VERSIONS = (1,)
KINDS = ("apply", "adopt")
MAX_BYTES = 64 << 20
_SUFFIX = ".control.json"
_SCHEME = "streamt-state://"


class Intent(NamedTuple):
    """The operation that a marker speaks of: a UUID, ``apply`` or ``adopt``, a UTC time."""

    operation_id: str
    kind: str
    started_at: str


class Marker(NamedTuple):
    """A marker as read. A clear one has no intent; a missing file counts as clear."""

    status: Status
    intent: Intent | None = None


class Unusable(NamedTuple):
    """Why a marker says nothing: a reason that is safe to show."""

    reason: str


class Place(NamedTuple):
    """Which marker belongs to a project's environment, and the state file beside it.

    ``backend`` is the one that the marker's address must name, None for any.
    """

    path: Path
    project: str
    environment: str
    backend: str | None = "local"

    @property
    def state_path(self) -> Path | None:
        """Return ``ENV.json`` beside ``ENV.control.json``, None beside any other name."""
        if not self.path.name.endswith(_SUFFIX):
            return None
        return self.path.with_name(self.path.name.removesuffix(_SUFFIX) + ".json")


def local_place(project_dir: Path, project: str, environment: str) -> Place:
    """Return where streamt's local backend keeps the marker of ``environment``."""
    path = project_dir / ".streamt" / "state" / f"{environment}{_SUFFIX}"
    return Place(path, project, environment)


def read_marker(place: Place) -> Marker | Unusable:
    """Return the marker at ``place``, or why it says nothing. A value either way, never raised."""
    try:
        content = _content(place.path)
    except FileNotFoundError:
        return Marker("clear")
    except OSError as error:
        return Unusable(f"it cannot be read: {error.strerror}")
    if content is None:
        return Unusable("it is no regular file, or is larger than 64 MiB")
    import orjson

    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        return Unusable("it is not JSON")
    return marker_of(document, place)


def _content(path: Path) -> bytes | None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            return None
        return file.read(MAX_BYTES)


def marker_of(document: Any, place: Place) -> Marker | Unusable:
    """Return what a parsed marker says, any JSON value, or why it says nothing."""
    if not isinstance(document, dict):
        return Unusable("it is not a JSON object")
    version = document.get("control_version")
    if isinstance(version, bool) or version not in KNOWN_VERSIONS:
        return Unusable("its control_version is not known")
    if not _is_ours(document.get("address"), place):
        return Unusable("its address is not that of this project and environment")
    status = document.get("status")
    if status not in get_args(Status):
        return Unusable("its status is not known")
    intent = document.get("intent")
    if status == "clear":
        return Marker("clear")
    if not isinstance(intent, dict):
        return Unusable("it has no intent")
    return _intent(cast("Status", status), intent)


def _is_ours(address: Any, place: Place) -> bool:
    if not isinstance(address, str) or not address.startswith(_SCHEME):
        return False
    backend, _, rest = address.removeprefix(_SCHEME).partition("/")
    ours = f"{place.project}/{place.environment}"
    # The project may stand there as it is, or percent-encoded.
    return place.backend in (None, backend) and ours in (rest, unquote(rest))


def _intent(status: Status, intent: dict[str, Any]) -> Marker | Unusable:
    operation_id, kind, started_at = (
        intent.get(key) for key in ("operation_id", "kind", "started_at")
    )
    if not isinstance(operation_id, str) or not is_uuid(operation_id):
        return Unusable("its operation_id is no UUID")
    if kind not in KINDS:
        return Unusable("its kind is not known")
    if not isinstance(started_at, str) or not is_utc_date_time(started_at):
        return Unusable("its started_at is no UTC time")
    return Marker(status, Intent(operation_id, kind, started_at))
