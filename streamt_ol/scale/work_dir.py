"""The work directory: what passes between the steps, each piece under its name, whole or absent.

A folder, or a prefix of objects in a store. A piece is written under another name and renamed
(an object of a store appears whole by itself), so that a piece that is there is complete, and
a task that runs twice, or again after a crash, does no harm.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from streamt_ol.problems import INVALID, USAGE, Location, StreamtOlError
from streamt_ol.reading import storage
from streamt_ol.redaction import shown_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PLAN = "plan"
_OPTION = Location(option="work_dir")


class WorkDir:
    """A work directory by its absolute path or URI."""

    def __init__(self, where: str) -> None:
        self.where = where.rstrip("/")
        self._remote = storage.scheme_of(where) is not None

    def claim(self, plan: bytes) -> None:
        """Take the directory for ``plan``, or go on with what an earlier run of it left.

        Raises E500 where another run's plan is there, E506 where it cannot be written.
        """
        try:
            if not self._remote:
                Path(self.where).mkdir(parents=True, exist_ok=True)
            there = self.read(_PLAN) if self.has(_PLAN) else None
        except OSError as error:
            raise self._failure(error) from None
        if there is None:
            self.write(_PLAN, plan)
        elif there != plan:
            raise StreamtOlError(
                USAGE,
                "the work directory was left by a run over other inputs, with other options or "
                "by another version",
                location=_OPTION,
                suggestion="name another folder, or remove this one",
            )

    def plan(self) -> bytes:
        """Return the plan that claimed the directory."""
        return self.read(_PLAN)

    def has(self, name: str) -> bool:
        """Tell whether the piece ``name`` is there."""
        if not self._remote:
            return os.path.exists(f"{self.where}/{name}")
        with storage.store(self.where) as (files, path):
            return bool(files.exists(f"{path}/{name}"))

    def pieces(self) -> set[str]:
        """Return the names of all pieces that are there. Raises E506 where that fails."""
        try:
            if not self._remote:
                return set(os.listdir(self.where))
            with storage.store(self.where) as (files, path):
                return {one.rpartition("/")[2] for one in files.ls(path, detail=False)}
        except OSError as error:
            raise self._failure(error) from None

    def read(self, name: str, start: int = 0, end: int | None = None) -> bytes:
        """Return the bytes ``[start, end)`` of the piece ``name``. Raises E506 where that fails."""
        try:
            if self._remote:
                with storage.store(self.where) as (files, path):
                    return bytes(files.cat_file(f"{path}/{name}", start=start, end=end))
            with open(f"{self.where}/{name}", "rb") as file:
                file.seek(start)
                return file.read(-1 if end is None else end - start)
        except OSError as error:
            raise self._failure(error) from None

    def write(self, name: str, data: bytes) -> None:
        """Write the piece ``name`` whole. Raises E506 where that fails: a full disk, say."""
        try:
            if self._remote:
                with storage.store(self.where) as (files, path):
                    files.pipe_file(f"{path}/{name}", data)
            else:
                self._write_file(name, data)
        except OSError as error:
            raise self._failure(error) from None

    def remove(self, names: Iterable[str]) -> None:
        """Remove the pieces ``names``. Raises E506 where that fails."""
        try:
            for name in names:
                if self._remote:
                    with storage.store(self.where) as (files, path):
                        files.rm_file(f"{path}/{name}")
                else:
                    Path(self.where, name).unlink(missing_ok=True)
        except OSError as error:
            raise self._failure(error) from None

    def _write_file(self, name: str, data: bytes) -> None:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=self.where)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.replace(temporary, f"{self.where}/{name}")
        except BaseException:  # an interrupt too: no half-written piece stays
            Path(temporary).unlink(missing_ok=True)
            raise

    def _failure(self, error: OSError) -> StreamtOlError:
        return StreamtOlError(
            INVALID,
            f"the work directory {shown_path(self.where)} fails: {error.strerror or error}",
            location=_OPTION,
            suggestion="what is done is kept there: the same command goes on with the rest"
            if error.errno == errno.ENOSPC
            else None,
        )


@contextmanager
def work_dir(where: str | None) -> Iterator[WorkDir]:
    """Give the work directory ``where``, or a temporary one that is removed in the end."""
    if where == "":
        raise StreamtOlError(USAGE, "the name of the work directory is empty", location=_OPTION)
    if where is not None:
        yield WorkDir(storage.absolute(where))
        return
    temporary = tempfile.mkdtemp(prefix="streamt-ol-")
    try:
        yield WorkDir(temporary)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
