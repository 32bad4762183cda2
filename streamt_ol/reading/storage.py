"""Files on disk and objects in a store under one name: list, measure, open from an offset.

A name with a scheme of ``SCHEMES`` is an object's URI and is read through fsspec; its credentials
come from where the store's own tools look for them, never from the name. Any other name is a
file's path. What a store's library raises becomes an ``OSError`` whose text holds no credential.
"""

from __future__ import annotations

import errno
import io
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeVar

from streamt_ol.problems import PARSE, Location, StreamtOlError
from streamt_ol.reading.patterns import files_matching
from streamt_ol.redaction import one_line, shown_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# The module that fsspec needs for a scheme, and the extra that brings it.
SCHEMES: dict[str, tuple[str, str]] = {
    "s3": ("s3fs", "s3"),
    "s3a": ("s3fs", "s3"),
    "gs": ("gcsfs", "gcs"),
    "gcs": ("gcsfs", "gcs"),
    "abfs": ("adlfs", "azure"),
    "abfss": ("adlfs", "azure"),
}
_LOGGERS = ("azure", "botocore", "google")  # of the libraries that those modules use
Result = TypeVar("Result")
_AT_A_TIME = 16  # requests to a store
_READ_AHEAD = 8 << 20  # bytes asked of a store at a time
_VERSION_KEYS = ("ETag", "etag", "generation", "LastModified", "last_modified", "mtime")


class Version(NamedTuple):
    """The version of an input when it was looked at: its size, and what changes with it."""

    size: int
    mark: str


def scheme_of(name: str) -> str | None:
    """Return the scheme of an object's URI, or None for the path of a file.

    Raises E501 for the URI of a store that cannot be read from here.
    """
    scheme, separator, _ = name.partition("://")
    if not separator or not scheme.replace("+", "").replace("-", "").isalnum():
        return None
    if scheme.lower() in SCHEMES:
        return scheme.lower()
    if os.path.exists(name):
        return None
    raise StreamtOlError(
        PARSE,
        f"objects of {scheme}:// cannot be read",
        location=Location(file=shown_path(name)),
        suggestion=f"the stores that can be read: {', '.join(f'{one}://' for one in SCHEMES)}",
    )


def absolute(name: str) -> str:
    """Return ``name`` as every process, in whatever folder, finds it."""
    return name if scheme_of(name) else os.path.abspath(name)


def version(name: str) -> Version:
    """Return the size and the mark of a file or object. Raises ``OSError``."""
    if scheme_of(name) is None:
        found = os.stat(name)
        return Version(found.st_size, f"{found.st_ino}:{found.st_mtime_ns}")
    with store(name) as (files, path):
        info = files.info(path)
    mark = next((str(info[key]) for key in _VERSION_KEYS if info.get(key)), "")
    return Version(int(info["size"] or 0), mark.strip('"'))


def total_size(names: Sequence[str]) -> int | None:
    """Return how many bytes there are to read, or None where that is not known."""
    try:
        return sum(mapped(lambda name: version(name).size, names)) or None
    except (OSError, ValueError, StreamtOlError):
        return None


def is_same(before: Version, now: Version) -> bool:
    """Tell whether what was read is still what it was; a file may have grown, as a log does."""
    if before == now:
        return True
    file, _, _ = before.mark.partition(":")
    return now.size > before.size and now.mark.startswith(f"{file}:")


def mapped(function: Callable[[str], Result], names: Sequence[str]) -> Iterator[Result]:
    """Yield ``function`` of each name in order; of objects many at a time, for a store is far."""
    if not any("://" in name for name in names):
        yield from map(function, names)
        return
    with ThreadPoolExecutor(_AT_A_TIME) as threads:
        yield from threads.map(function, names)


@contextmanager
def opened(name: str, start: int) -> Iterator[BinaryIO]:
    """Open an object to read it from the byte ``start`` on. Raises ``OSError``."""
    with (
        store(name) as (files, path),
        files.open(path, "rb", block_size=_READ_AHEAD, cache_type="readahead") as raw,
        io.BufferedReader(raw) as stream,
    ):
        stream.seek(start)
        yield stream


@contextmanager
def store(name: str) -> Iterator[tuple[Any, str]]:
    """Give fsspec's file system for an object's URI, and the object's path there.

    What goes wrong inside is an ``OSError``. Raises E501 where the store's library is missing.
    """
    scheme = scheme_of(name)
    assert scheme is not None
    files = _file_system(scheme, _authority(name))
    try:
        yield files, files._strip_protocol(f"{scheme}{name[len(scheme) :]}")
    except (OSError, StreamtOlError):
        raise
    except Exception as error:  # noqa: BLE001 - each store's library has errors of its own
        reason = one_line(f"{type(error).__name__}: {error}", 200)
        raise OSError(errno.EIO, f"the store does not give it: {reason}") from None


def _authority(name: str) -> str:
    """Return what stands between the scheme of a URI and its path: a bucket, or more for Azure."""
    return name.partition("://")[2].partition("/")[0]


@lru_cache(maxsize=64)
def _file_system(scheme: str, authority: str) -> Any:
    """Return fsspec's file system; an authority may name an account: ``container@account…``."""
    module, extra = SCHEMES[scheme]
    for logger in (module, *_LOGGERS):
        if not logging.getLogger(logger).handlers:  # else Python prints warnings by itself
            logging.getLogger(logger).addHandler(logging.NullHandler())
    try:
        fsspec = import_module("fsspec")
        import_module(module)
    except ImportError:
        raise StreamtOlError(
            PARSE,
            f"{scheme}:// needs a library that is not installed",
            suggestion=f"pip install 'streamt-ol[{extra}]'",
        ) from None
    options = fsspec.get_filesystem_class(scheme)._get_kwargs_from_urls(f"{scheme}://{authority}")
    # What a listing said once is not believed later: others write there, too.
    return fsspec.filesystem(scheme, use_listings_cache=False, **options)


def below(folder: str, suffixes: tuple[str, ...]) -> list[str]:
    """Return the names of the files below ``folder`` that end in ``suffixes``, sorted.

    Names that begin with ``_`` or ``.`` are left out, as Spark does. Raises ``OSError``.
    """
    if scheme_of(folder) is None:
        found = [os.path.join(top, name) for top, _, names in _walk(folder) for name in names]
    else:
        with store(folder) as (files, path):
            inside = files.find(path)
        prefix = folder.rstrip("/")
        found = [prefix + one[len(path.rstrip("/")) :] for one in inside]
    start = len(folder.rstrip("/")) + 1
    return sorted(
        name for name in found if name.endswith(suffixes) and not _is_hidden(name[start:])
    )


def is_folder(name: str) -> bool:
    """Tell whether ``name`` is a folder, or the prefix of objects. Raises ``OSError``."""
    if scheme_of(name) is None:
        return Path(name).is_dir()
    with store(name) as (files, path):
        return bool(files.isdir(path)) and not files.isfile(path)


def matching(pattern: str) -> list[str]:
    """Return the names of the files that a pattern with ``*``, ``?`` or ``[`` means, sorted."""
    scheme = scheme_of(pattern)
    if scheme is None:
        found = files_matching(pattern)
    else:
        with store(pattern) as (files, path):
            inside = [one.partition("/")[2] for one in files.glob(path)]
        found = [f"{scheme}://{_authority(pattern)}/{one}" for one in inside]
    return sorted(name for name in found if not _is_hidden(name.rpartition("/")[2]))


def _walk(folder: str) -> Iterator[tuple[str, list[str], list[str]]]:
    def fail(error: OSError) -> None:
        raise error

    yield from os.walk(folder, onerror=fail)


def _is_hidden(name: str) -> bool:
    return any(part.startswith(("_", ".")) for part in name.split("/"))
