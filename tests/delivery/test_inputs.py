"""Inputs that `validate` reads, `send` and `check` read: the same inputs, the same events."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from backports import zstd
from support.commands import streamt_ol
from support.delivery.events import job

from streamt_ol.delivery.items import Item, key_of
from streamt_ol.delivery.plan import Plan, Rules
from streamt_ol.delivery.reading import Events
from streamt_ol.delivery.receivers import RECEIVERS
from streamt_ol.delivery.source import Source
from streamt_ol.delivery.validity import Validity
from streamt_ol.problems import StreamtOlError

A, B = json.dumps(job("a")), json.dumps(job("b"))
BOM = b"\xef\xbb\xbf"
PRETTY = json.dumps(job("a"), indent=2) + "\n" + json.dumps(job("b"), indent=2) + "\n"
COMPACT = [json.dumps(job(name), separators=(",", ":")) for name in "ab"]
LINES = f"{A}\n{B}\n".encode()


def sent(tmp_path: Path, content: bytes, *more: str) -> tuple[bytes, list[str]]:
    """Send an input to a file; return the closing line, and the lines that arrived."""
    path, out = tmp_path / "input", tmp_path / "out.jsonl"
    path.write_bytes(content)
    out.unlink(missing_ok=True)
    done = streamt_ol("send", str(path), "--to", "file", "--path", str(out), *more)
    assert b"Traceback" not in done.stderr
    return done.stdout, out.read_text().splitlines() if out.exists() else []


@pytest.mark.parametrize(
    ("content", "arrived"),
    [
        (LINES, [A, B]),
        (BOM + LINES, [A, B]),
        (A.encode() + b"\n" + BOM + B.encode(), [A, B]),
        (gzip.compress(LINES), [A, B]),
        (zstd.compress(LINES), [A, B]),
        (gzip.compress(A.encode() + b"\n") + gzip.compress(B.encode()), [A, B]),
        (f"[{A},{B}]".encode(), [A, B]),
        (f"[\n{A},\n{B}\n]\n".encode(), [A, B]),
        (PRETTY.encode(), COMPACT),
        (PRETTY.replace("\n", "\r\n").encode(), COMPACT),
        (json.dumps([job("a"), job("b")], indent=1).encode(), COMPACT),
    ],
)
def test_every_input_that_validate_reads(
    tmp_path: Path, content: bytes, arrived: list[str]
) -> None:
    assert sent(tmp_path, content) == (b"sent 2, skipped 0, refused 0\n", arrived)
    checked = streamt_ol("check", str(tmp_path / "input"), "--for", "file")
    assert checked.stdout.endswith(b"file: accepted 2, ignored 0, refused 0\n")
    assert streamt_ol("validate", str(tmp_path / "input")).returncode == 0


def test_numbers_and_escapes_go_out_as_they_came(tmp_path: Path) -> None:
    """1e400 and twenty digits are JSON; what is written in a string is nobody's to change."""
    text = json.dumps(job("a", own="@"), indent=2).replace(
        '"@"', '[1.0, 1E+2, 1e400, 12345678901234567890, "\\u0041\\n  \\" x"]'
    )
    closing, lines = sent(tmp_path, text.encode())
    assert closing == b"sent 1, skipped 0, refused 0\n"
    (line,) = lines
    assert '[1.0,1E+2,1e400,12345678901234567890,"\\u0041\\n  \\" x"]' in line


def test_a_fault_of_one_element_keeps_only_that_back(tmp_path: Path) -> None:
    path = tmp_path / "rejected"
    closing, lines = sent(tmp_path, f"[{A}, 7, {B}]".encode(), "--rejected", str(path))
    assert closing == b"sent 2, skipped 0, refused 1\n"
    assert lines == [A, B]
    assert path.read_text() == "7\n"


def test_damage_is_said_and_what_came_before_is_sent(tmp_path: Path) -> None:
    closing, lines = sent(tmp_path, gzip.compress(LINES)[:-12])
    assert closing.endswith(b"refused 1\n")
    assert lines in ([], [A], [A, B])


def test_events_are_counted_after_decompression(tmp_path: Path) -> None:
    progress = ["--progress-file", str(tmp_path / "p")]
    assert sent(tmp_path, gzip.compress(LINES), *progress)[0] == b"sent 2, skipped 0, refused 0\n"
    for content in (LINES, f"[{A},{B}]".encode(), b"\n\n" + zstd.compress(LINES)[:0] + LINES):
        closing, lines = sent(tmp_path, content, *progress)
        assert closing == b"sent 0, skipped 0, refused 0, sent before 2\n"
        assert lines == []


def test_a_device_is_refused() -> None:
    done = streamt_ol("send", "/dev/zero", "--to", "file", "--path", "/nowhere/x", seconds=20)
    assert done.returncode == 1
    assert b"it is a device" in done.stderr


@pytest.mark.parametrize(
    "changed",
    [LINES.replace(b'"b"', b'"c"'), A.encode(), b"", b"{" * len(LINES)],
    ids=["another name", "cut", "empty", "not JSON"],
)
def test_what_was_not_judged_is_not_sent(tmp_path: Path, changed: bytes) -> None:
    """The input is read twice: to judge all of it, and to send it."""
    path = tmp_path / "e.jsonl"
    path.write_bytes(LINES)
    with Source(str(path)) as source:
        plan = Plan(Events(source), Rules(RECEIVERS["marquez"], Validity()))
        assert [decision.choice for decision in plan.survey()] == ["send", "send"]
        path.write_bytes(changed)
        sent = plan.items()
        if changed.startswith(A.encode()):
            assert next(sent).body == A.encode()
        with pytest.raises(StreamtOlError, match="the input was changed while it was being sent"):
            next(sent)


def test_what_is_appended_after_the_judging_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_bytes(LINES)
    with Source(str(path)) as source:
        plan = Plan(Events(source), Rules(RECEIVERS["marquez"], Validity()))
        assert len(list(plan.survey())) == 2
        with path.open("ab") as file:
            file.write(b"{}\n" + LINES)
        assert [item.body for item in plan.items()] == [A.encode(), B.encode()]


def test_an_item_is_parsed_again_with_a_number_that_no_double_holds() -> None:
    body = b'{"job": {"namespace": "n", "name": "j"}, "n": [1e999, 2]}'
    assert key_of(Item(1, body, body).event) == "job:n/j"
