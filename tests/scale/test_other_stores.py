"""Archives in the stores of Google and Azure: emulators of both, on loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.commands import streamt_ol
from support.openlineage_events import run_lines
from support.stores import ACCOUNT_KEY, EMULATORS, Store
from support.stores_reports import CONTENTS, check_reports

from streamt_ol.reading import storage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("stores")]


@pytest.fixture(scope="module", params=EMULATORS)
def bucket(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    emulator = EMULATORS[request.param]
    if emulator.missing:
        pytest.skip(f"the emulator needs {emulator.missing}")
    with emulator.start(tmp_path_factory.mktemp("store")) as found:
        yield found


def test_objects_give_the_report_of_files(bucket: Store, tmp_path: Path) -> None:
    choices = (["a/"], ["a/*.jsonl*", "b/4.jsonl"])
    check_reports(bucket.put, bucket.uri, bucket.environment, tmp_path, CONTENTS, choices)


def test_a_work_directory_may_lie_in_the_store(bucket: Store) -> None:
    bucket.put("w.jsonl", run_lines(500))
    command = [
        "validate", f"{bucket.uri}/w.jsonl", "--work-dir", f"{bucket.uri}/work",
        "--split-bytes", "50k",
    ]  # fmt: skip
    first = streamt_ol(*command, "--jobs", "2", environment=bucket.environment)
    assert (first.returncode, first.stderr) == (1, b"")
    again = streamt_ol(*command, "--jobs", "1", environment=bucket.environment)
    assert (again.returncode, again.stdout) == (first.returncode, first.stdout)
    other = streamt_ol(*command, "--strict", environment=bucket.environment)
    assert other.stderr.startswith(b"E500_USAGE_ERROR --work-dir: ")


def test_send_reads_objects(bucket: Store, tmp_path: Path) -> None:
    bucket.put("send.jsonl", run_lines(20))
    ran = streamt_ol(
        "send", f"{bucket.uri}/send.jsonl", "--to", "file", "--path", "out.jsonl",
        cwd=tmp_path, environment=bucket.environment,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert (tmp_path / "out.jsonl").read_bytes() == run_lines(20)


def test_an_absent_object_is_an_error_without_a_credential(bucket: Store) -> None:
    ran = streamt_ol("validate", f"{bucket.uri}/absent.jsonl", environment=bucket.environment)
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"E501_PARSE_ERROR {bucket.uri}/absent.jsonl: ".encode())
    assert ACCOUNT_KEY.encode() not in ran.stderr + ran.stdout
    assert b"Traceback" not in ran.stderr


def test_a_replaced_object_is_another(bucket: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in bucket.environment.items():
        monkeypatch.setenv(name, value)
    bucket.put("replaced.jsonl", run_lines(3))
    name = f"{bucket.uri}/replaced.jsonl"
    before = storage.version(name)
    assert storage.is_same(before, storage.version(name))
    bucket.put("replaced.jsonl", run_lines(3, "ABORT"))
    assert not storage.is_same(before, storage.version(name))
