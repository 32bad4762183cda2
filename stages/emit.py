"""The last stage: the canonical lines go to stdout or, atomically, to a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from streamt_ol import contracts
from streamt_ol.contracts import State
from streamt_ol.problems import INVALID, Location, StreamtOlError
from streamt_ol.redaction import shown_path

TAKES = contracts.CANONICAL
RETURNS = contracts.EMITTED


def _count(chunks: Iterable[bytes]) -> None:
    for _ in chunks:
        pass


class Emit:
    """Takes ``lines``; writes them and returns what was written where.

    With ``output_file`` the file is replaced all or not at all (E506 at ``output_file``, and
    an existing target stays as it was). Without it the lines go to ``write``, which raises its
    own errors; by default nobody is listening. Implements "Canonical event serialization".
    """

    def __init__(
        self,
        write: Callable[[Iterable[bytes]], None] = _count,
        output_file: Path | None = None,
    ) -> None:
        self._write = write
        self._output_file = output_file

    def __call__(self, state: State) -> State:
        """Return ``counts``, the number of ``bytes``, ``output_file`` and ``warnings``."""
        lines = [f"{line}\n".encode() for line in state["lines"]]
        if self._output_file is None:
            self._write(lines)
        else:
            self._to_file(self._output_file, lines)
        return {
            "counts": state["counts"],
            "bytes": sum(map(len, lines)),
            "output_file": None if self._output_file is None else str(self._output_file),
            "warnings": state["warnings"],
        }

    @staticmethod
    def _to_file(path: Path, lines: list[bytes]) -> None:
        from streamt_ol.transport import atomic

        try:
            atomic.write(path, lines)
        except OSError as error:
            raise StreamtOlError(
                INVALID,
                f"cannot write {shown_path(str(path))}: {error.strerror}",
                location=Location(option="output_file"),
            ) from None
