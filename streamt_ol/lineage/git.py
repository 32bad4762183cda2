"""Files and folders of a revision, read from git's own store; nothing is fetched or checked out.

``git:REV:PATH`` names one, as ``git show REV:PATH`` does: ``PATH`` is relative to the top of the
repository, or with ``./`` before it to the working directory, which is ``.`` itself.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from streamt_ol.problems import PARSE, Location, StreamtOlError
from streamt_ol.redaction import one_line, shown_path

PREFIX = "git:"
# Without these a partial clone would fetch what is missing, or git would ask for a password.
_OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
_NO_PROTOCOL = ("-c", "protocol.allow=never", "-c", "core.fsmonitor=false")
_FILE, _LINK = "100", "120000"


def is_git(name: str) -> bool:
    """Tell whether ``name`` names something in git."""
    return name.startswith(PREFIX)


def kind_of(name: str) -> str:
    """Return ``blob`` for a file, ``tree`` for a folder.

    Raises ``StreamtOlError`` (E501) where git knows nothing of that name.
    """
    kind = _git(name, "cat-file", "-t", _object(name)).decode().strip()
    if kind not in ("blob", "tree"):
        raise _error(name, f"it is a {kind}, not a file or folder")
    return kind


def blob(name: str) -> bytes:
    """Return the content of a file."""
    return _git(name, "cat-file", "blob", _object(name))


def extract(name: str, target: Path, wanted: Callable[[PurePosixPath], bool]) -> None:
    """Write those files of a folder that are ``wanted`` below ``target``.

    A symbolic link that leads out of the folder is left out, as are submodules.
    """
    entries = [entry for entry in _entries(name) if wanted(entry[1])]
    contents = _contents(name, [digest for _, _, digest in entries])
    for (mode, path, _), content in zip(entries, contents, strict=True):
        file = target / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if mode != _LINK:
            file.write_bytes(content)
        elif _stays_inside(path, content):
            file.symlink_to(os.fsdecode(content))


def _entries(name: str) -> Iterator[tuple[str, PurePosixPath, str]]:
    listing = _git(name, "ls-tree", "-r", "-z", "--full-tree", _object(name))
    for entry in listing.split(b"\0")[:-1]:
        head, _, path = entry.partition(b"\t")
        mode, _, digest = head.decode().split(" ")
        parts = PurePosixPath(os.fsdecode(path))
        safe = not parts.is_absolute() and ".." not in parts.parts
        if safe and (mode == _LINK or mode.startswith(_FILE)):
            yield mode, parts, digest


def _contents(name: str, digests: list[str]) -> Iterator[bytes]:
    """Yield the contents of blobs, from one process."""
    asked = "".join(f"{digest}\n" for digest in digests).encode()
    answer = _git(name, "cat-file", "--batch", stdin=asked)
    start = 0
    for _ in digests:
        end = answer.index(b"\n", start)
        words = answer[start:end].split(b" ")
        if words[1] != b"blob":
            raise _error(name, f"{words[0].decode()} is not in this clone")
        size = int(words[2])
        yield answer[end + 1 : end + 1 + size]
        start = end + 1 + size + 1


def _stays_inside(path: PurePosixPath, content: bytes) -> bool:
    link = os.fsdecode(content)
    inside = os.path.normpath(os.path.join("/top", path.parent, link))  # noqa: PTH118 - no such file
    return not link.startswith("/") and (inside == "/top" or inside.startswith("/top/"))


def parent(name: str) -> str:
    """Return the name of the folder that holds the file ``name``."""
    revision, _, path = name.removeprefix(PREFIX).partition(":")
    folder = str(PurePosixPath(path).parent)
    relative = path.startswith(("./", "../"))
    if folder == ".":
        folder = "./" if relative else ""
    elif relative and not folder.startswith(".."):
        folder = f"./{folder}"
    return f"{PREFIX}{revision}:{folder}"


def _object(name: str) -> str:
    """Return the object id that ``name`` names."""
    revision, separator, path = name.removeprefix(PREFIX).partition(":")
    if path in (".", ".."):  # git itself takes them only with a slash
        path += "/"
    if not (revision and separator):
        raise _error(name, "it is not git:REV:PATH")
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}:{path}")
    try:
        return _git(name, *words).decode().strip()
    except StreamtOlError as error:
        if error.message.endswith(": "):
            raise _error(name, "there is no such revision or path") from None
        raise


def _git(name: str, *words: str, stdin: bytes = b"") -> bytes:
    command = ["git", *_NO_PROTOCOL, *words]
    environment = {**os.environ, **_OFFLINE, "LC_ALL": "C"}
    try:
        ran = subprocess.run(
            command, input=stdin, capture_output=True, env=environment, check=False
        )
    except (OSError, ValueError) as error:  # no git, or a name with a null character
        reason = error.strerror if isinstance(error, OSError) else "no such name"
        raise _error(name, f"git cannot be started: {reason}") from None
    if ran.returncode:
        said = ran.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        raise _error(name, one_line(said, 300))
    return ran.stdout


def _error(name: str, reason: str) -> StreamtOlError:
    return StreamtOlError(
        PARSE,
        f"cannot read it from git: {reason}",
        location=Location(file=shown_path(name)),
        suggestion="git:REV:PATH is read like `git show REV:PATH`, in the working directory",
    )
