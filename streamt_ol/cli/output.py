"""The output of a command, its results, warnings and errors: plain streams, or the envelope.

Implements "Canonical event serialization" of the specification: in text mode stdout carries
data only and everything else goes to stderr; with ``--output json`` stdout carries one
envelope and nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from streamt_ol.problems import INVALID, USAGE, Location, StreamtOlError, WarningRecord
from streamt_ol.redaction import printable_json, printable_line, shown_path

if TYPE_CHECKING:
    from streamt_ol.contracts import Counts

_CHUNK = 1 << 20
# What an option that is missing takes, where the error says no more.
_HINTS = {
    "job_namespace": "NAMESPACE or set OPENLINEAGE_NAMESPACE",
    "kafka_namespace": "kafka://HOST:PORT",
    "gateway_namespace": "kafka://HOST:PORT",
    "env": "NAME or set STREAMT_ENV",
}
# What is given where a namespace cannot be derived from an address of the runtime.
_INSTEAD = {
    "runtime.kafka.bootstrap_servers": "kafka_namespace",
    "runtime.conduktor.gateway.proxy_bootstrap": "gateway_namespace",
}


class Output:
    """The two streams of one command. ``json`` is set by the global option ``--output``."""

    def __init__(self) -> None:
        self.json = False
        self.command = ""
        self.flags: dict[str, str] = {}  # the flag of each option of the command, by its name
        self.started = False  # something was written to stdout
        self._failed = False  # stdout has failed: what is left to say goes to stderr

    def data(self, chunks: Iterable[bytes]) -> None:
        """Write data to stdout. Raises E506 when that fails.

        That whoever read it has closed it, as `head` does, is no failure: the rest is still made,
        since the exit status depends on it, and thrown away.
        """
        self.started = True
        try:
            stream = _binary_stdout()
            pending: list[bytes] = []
            size = 0
            for chunk in chunks:
                pending.append(chunk)
                size += len(chunk)
                if size >= _CHUNK:
                    stream.write(b"".join(pending))
                    pending, size = [], 0
            stream.write(b"".join(pending))
            stream.flush()
        except BrokenPipeError:
            _silence_stdout()
            for _ in chunks:
                pass
        except OSError as error:
            self.stdout_failed()
            message = f"cannot write to standard output: {error.strerror}"
            raise StreamtOlError(INVALID, message, location="stdout") from None

    def stdout_failed(self) -> None:
        """Remember that stdout cannot be written any more."""
        _silence_stdout()
        self._failed = True

    def text(self, line: str) -> None:
        """Write one line of text to stdout, whatever it holds."""
        self.lines([line])

    def lines(self, lines: Iterable[str]) -> None:
        """Write lines of text to stdout, whatever they hold."""
        self.data(f"{printable_line(line)}\n".encode() for line in lines)

    def document(self, text: bytes) -> None:
        """Write a JSON document to stdout."""
        self.data([printable_json(text), b"\n"])

    def envelope(self, data: Mapping[str, Any], warnings: Iterable[WarningRecord] = ()) -> None:
        """Write the envelope of a success: ``data`` and ``warnings`` of the command."""
        self._write_envelope("ok", data, [], sorted_warnings(warnings))

    def failure(
        self,
        data: Mapping[str, Any],
        errors: Iterable[StreamtOlError],
        warnings: Iterable[WarningRecord] = (),
    ) -> None:
        """Write the envelope of a command that was done in part: its ``data``, and ``errors``."""
        records = [self._record(error) for error in errors]
        self._write_envelope("error", data, records, sorted_warnings(warnings))

    def warnings(self, warnings: Iterable[WarningRecord]) -> None:
        """Write ``CODE place: message`` lines to stderr, sorted."""
        for line in sorted(_line(w["code"], w.get("location"), w["message"]) for w in warnings):
            note(line)

    def error(self, error: StreamtOlError, data: Mapping[str, Any] | None = None) -> None:
        """Write an error: a line and a hint on stderr, or an envelope with ``data``."""
        if self.json and not self._failed:
            self.failure(data or {}, [error])
            return
        record = self._record(error)
        note(_line(error.code, record.get("location"), error.message))
        if "suggestion" in record:
            note(f"  hint: {record['suggestion']}")

    def _record(self, error: StreamtOlError) -> dict[str, Any]:
        """Return the record of an error, with the flag that a user knows for its option.

        In the location the options of the pipeline keep the names that its state has for them,
        since their values may come from elsewhere: a variable, a file, the stage before.
        """
        record, at = error.record(), error.location
        named = at and (at.option or _INSTEAD.get(at.field or ""))
        if not at or not named:
            return record
        from streamt_ol.contracts import OPTIONS

        of_pipeline = {*OPTIONS["properties"]["options"]["properties"], "output_file"}
        flag = self.flags.get(named) or self.flags.get(f"openlineage_{named}")
        if flag is not None and (named not in of_pipeline or error.code == USAGE):
            record["location"] = str(at.replaced(option=flag))
        if flag is not None and named in _HINTS:
            record.setdefault("suggestion", f"give {flag} {_HINTS[named]}")
        return record

    def _write_envelope(
        self,
        status: str,
        data: Mapping[str, Any],
        errors: list[dict[str, Any]],
        warnings: list[WarningRecord],
    ) -> None:
        import orjson

        envelope = {
            "status": status,
            "command": self.command,
            "data": data,
            "errors": [_bounded(error) for error in errors],
            "warnings": [_bounded(warning) for warning in warnings],
        }
        try:
            text = orjson.dumps(envelope)
        except TypeError:  # a path or an argument that is not UTF-8
            text = orjson.dumps(_encodable(envelope))
        self.document(text)


def _bounded(record: Mapping[str, Any]) -> dict[str, Any]:
    return {k: printable_line(v) if isinstance(v, str) else v for k, v in record.items()}


def note(line: str) -> None:
    """Write a line to stderr; a stderr that is closed or full is nothing to stop for."""
    try:
        if sys.stderr is not None:
            sys.stderr.write(printable_line(line) + "\n")
            sys.stderr.flush()
    except OSError:
        pass


def file_to_write(output: Output, path: Path | None) -> Path | None:
    """Return the file of ``--output-file``; None where it is standard output itself.

    Raises E500 where standard output carries the envelope.
    """
    if path is None:
        return None
    from streamt_ol.transport import atomic

    try:
        number = atomic.descriptor_of(path)
    except OSError:  # told when it is written
        return path
    if number != 1:
        return path
    if output.json:
        message = "standard output carries the envelope, so nothing else can be written to it"
        raise StreamtOlError(USAGE, message, location=Location(option="output_file"))
    return None


def write_file(path: Path, chunks: Iterable[bytes]) -> None:
    """Write the file of ``--output-file``, all or nothing. Raises E506 where that fails."""
    from streamt_ol.transport import atomic

    try:
        atomic.write(path, chunks)
    except OSError as error:
        message = f"cannot write to {shown_path(str(path))}: {error.strerror}"
        raise StreamtOlError(INVALID, message, location=Location(option="output_file")) from None


def written(counts: Counts, file: Path) -> str:
    """Return the line that confirms a written file of events."""
    return (
        f"wrote {counts['total']} events ({counts['datasets']} datasets, {counts['jobs']} jobs) "
        f"to {shown_path(str(file))}"
    )


def sorted_warnings(warnings: Iterable[WarningRecord]) -> list[WarningRecord]:
    """Return warnings in the order in which text mode prints them."""
    return sorted(warnings, key=lambda w: (w["code"], w.get("location", ""), w["message"]))


def _encodable(value: Any) -> Any:
    """Return ``value`` with what has no UTF-8 form written as an escape."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list) else value


def _line(code: str, location: str | None, message: str) -> str:
    return f"{code} {location}: {message}" if location else f"{code}: {message}"


def _binary_stdout() -> BinaryIO:
    if sys.stdout is None:  # the process was started with a closed descriptor
        raise OSError(9, "it is closed")
    return sys.stdout.buffer


def _silence_stdout() -> None:
    """Keep the interpreter from failing once more when it flushes stdout at exit."""
    if sys.stdout is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
