"""The durable operation marker that streamt's local state backend keeps beside its state.

Of a marker only ``control_version``, ``address``, ``status``, of its intent ``operation_id``,
``kind``, ``started_at`` and the number of actions, of its progress how many of them are
completed, and of its recovery ``failure_code`` are read: never an action, an actor or a plan.
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
Progress = Literal["none", "some", "all", "failed"]
KINDS = ("apply", "adopt")
MAX_BYTES = 64 << 20
_INTERRUPTED = "operation_interrupted"
_SUFFIX = ".control.json"
_SCHEME = "streamt-state://"


class Intent(NamedTuple):
    """The operation that a marker speaks of: a UUID, ``apply`` or ``adopt``, a UTC time."""

    operation_id: str
    kind: str
    started_at: str


class Marker(NamedTuple):
    """A marker as read. A clear one has no intent; a missing file counts as clear.

    ``progress`` is how far the intent's actions have come: ``none`` begun, ``some``, ``all``
    completed successfully (of at least one), or one ``failed``. ``interrupted`` is what its
    recovery record says.
    """

    status: Status
    intent: Intent | None = None
    progress: Progress = "none"
    interrupted: bool = False


class Unusable(NamedTuple):
    """A marker that says nothing: the reason, safe to show, as in "the marker is damaged: ..."."""

    reason: str


class MarkerLocation(NamedTuple):
    """The marker of a project's environment, with the state file and the lock beside it.

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

    @property
    def lock_path(self) -> Path | None:
        """Return ``.ENV.json.lock`` beside the state file, None where that has no known name."""
        state = self.state_path
        return None if state is None else state.with_name(f".{state.name}.lock")


def local_location(project_dir: Path, project: str, environment: str) -> MarkerLocation:
    """Return where streamt's local backend keeps the marker of ``environment``."""
    path = project_dir / ".streamt" / "state" / f"{environment}{_SUFFIX}"
    return MarkerLocation(path, project, environment)


def read_marker(location: MarkerLocation) -> tuple[Marker | Unusable, object]:
    """Return the marker at ``location``, or why it says nothing, and its file's identity.

    The identity is that of the very file that was read, which may have been replaced since; None:
    there is no file. Nothing is raised.
    """
    try:
        content, control = _content(location.path)
    except FileNotFoundError:
        return Marker("clear"), None
    except OSError as error:
        return Unusable(f"cannot be read: {error.strerror}"), identity(location.path)
    if content is None:
        reason = "cannot be read: it is not a regular file, or is larger than 64 MiB"
        return Unusable(reason), control
    import orjson

    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        return _damaged("it is not JSON"), control
    return marker_of(document, location), control


def identity(file: Path | int) -> object:
    """Return what differs after a file, a path or a descriptor, was replaced; None: no file."""
    try:
        status = os.stat(file)  # noqa: PTH116 - called hundreds of times a second
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _content(path: Path) -> tuple[bytes | None, object]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
        control = identity(descriptor)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            return None, control
        return file.read(MAX_BYTES), control


def marker_of(document: Any, location: MarkerLocation) -> Marker | Unusable:
    """Return what a parsed marker says, any JSON value, or why it says nothing.

    Every ``control_version`` from 1 on is read, as long as the fields that are needed are as
    they are expected; whatever else a version adds is ignored.
    """
    if not isinstance(document, dict):
        return _damaged("it is not a JSON object")
    version = document.get("control_version")
    if type(version) is not int or version < 1:
        return Unusable("cannot be read: its control_version is not known")
    if not _is_ours(document.get("address"), location):
        return Unusable("is not used: its address is not that of this project and environment")
    status = document.get("status")
    if status not in get_args(Status):
        return Unusable("cannot be read: its status is not known")
    if status == "clear":
        return Marker("clear")
    intent = _intent(document.get("intent"))
    if isinstance(intent, Unusable):
        return intent
    recovery = document.get("recovery")
    interrupted = isinstance(recovery, dict) and recovery.get("failure_code") == _INTERRUPTED
    progress = _progress(document.get("progress"), document["intent"])
    return Marker(cast("Status", status), intent, progress, interrupted)


def _is_ours(address: Any, location: MarkerLocation) -> bool:
    if not isinstance(address, str) or not address.startswith(_SCHEME):
        return False
    backend, _, rest = address.removeprefix(_SCHEME).partition("/")
    ours = f"{location.project}/{location.environment}"
    # The project may stand there as it is, or percent-encoded.
    return location.backend in (None, backend) and ours in (rest, unquote(rest))


def _intent(intent: Any) -> Intent | Unusable:
    if not isinstance(intent, dict):
        return _damaged("it has no intent")
    operation_id, kind, started_at = (
        intent.get(key) for key in ("operation_id", "kind", "started_at")
    )
    if not isinstance(operation_id, str) or not is_uuid(operation_id):
        return _damaged("its operation_id is not a UUID")
    if kind not in KINDS:
        return Unusable("cannot be read: its kind is not known")
    if not isinstance(started_at, str) or not is_utc_date_time(started_at):
        return _damaged("its started_at is not a UTC time")
    return Intent(operation_id, kind, started_at)


def _progress(entries: Any, intent: dict[str, Any]) -> Progress:
    """Return how far the actions of ``intent`` have come; what is not understood is ``some``."""
    if not isinstance(entries, list) or not entries:
        return "none"
    ended = [e for e in entries if isinstance(e, dict) and e.get("status") == "completed"]
    if any(entry.get("succeeded") is False for entry in ended):
        return "failed"
    done = {
        index
        for entry in ended
        if entry.get("succeeded") is True and isinstance(index := entry.get("action_index"), int)
    }
    actions = intent.get("actions")
    complete = isinstance(actions, list) and done >= set(range(len(actions))) and bool(actions)
    return "all" if complete else "some"


def _damaged(reason: str) -> Unusable:
    return Unusable(f"is damaged: {reason}")
