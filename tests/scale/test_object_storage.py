"""Archives in a store of S3's protocol: range reads, a replaced object, no credential shown."""

from __future__ import annotations

import gzip
import importlib.util
import json
from typing import TYPE_CHECKING

import pytest
from support.commands import streamt_ol
from support.openlineage_events import run_event, run_lines
from support.s3 import BUCKET, SECRET, Store, store
from support.stores_reports import CONTENTS, check_reports

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MISSING = [name for name in ("s3fs", "moto") if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("s3"),
    pytest.mark.skipif(
        bool(MISSING), reason=f"the store of the tests needs {' and '.join(MISSING)}"
    ),
]
URI = f"s3://{BUCKET}"


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with store(tmp_path_factory.mktemp("s3")) as found:
        yield found


def test_objects_give_the_report_of_files(bucket: Store, tmp_path: Path) -> None:
    choices = (["a"], ["a/*.jsonl*", "b/4.jsonl"], ["a/", "b"])
    contents = {**CONTENTS, "a/_SUCCESS": b"x"}
    check_reports(bucket.put, URI, bucket.environment, tmp_path, contents, choices)


def test_a_large_object_is_read_in_ranges(bucket: Store) -> None:
    bucket.put("large.jsonl", run_lines(40_000))
    before = len(bucket.requests())
    ran = streamt_ol(
        "validate", f"{URI}/large.jsonl", "--split-bytes", "4M", "--jobs", "2",
        environment=bucket.environment,
    )  # fmt: skip
    assert b"40000 events" in ran.stdout.replace(b",", b"")
    answers = [line for line in bucket.requests()[before:] if "GET /lineage/large.jsonl" in line]
    assert len(answers) > 5
    assert all('" 206 ' in line for line in answers)


def test_a_work_directory_may_lie_in_the_store(bucket: Store, tmp_path: Path) -> None:
    bucket.put("w.jsonl", run_lines(500))
    command = ["validate", f"{URI}/w.jsonl", "--work-dir", f"{URI}/work", "--split-bytes", "50k"]
    first = streamt_ol(*command, "--jobs", "2", environment=bucket.environment)
    pieces = {name.rpartition("/")[2] for name in bucket.files.ls(f"{BUCKET}/work", detail=False)}
    assert {"plan", "summary-0", "state-0-0", "names-0", "across", "merged-0"} <= pieces
    again = streamt_ol(*command, "--jobs", "1", environment=bucket.environment)
    assert (again.returncode, again.stdout) == (first.returncode, first.stdout)
    other = streamt_ol(*command, "--strict", environment=bucket.environment)
    assert other.returncode == 2
    assert other.stderr.startswith(b"E500_USAGE_ERROR --work-dir: ")


def test_a_replaced_object_is_an_error_that_names_it(bucket: Store, tmp_path: Path) -> None:
    from streamt_ol.scale import tasks
    from streamt_ol.scale.pieces import Summary, decoded, encoded
    from streamt_ol.scale.plan import Plan, plan_inputs
    from streamt_ol.scale.work_dir import WorkDir

    with pytest.MonkeyPatch.context() as patched:
        for name, value in bucket.environment.items():
            patched.setenv(name, value)
        bucket.put("replaced.jsonl", run_lines(10))
        name = f"{URI}/replaced.jsonl"
        inputs, splits = plan_inputs([name], 1 << 20)
        work = WorkDir(str(tmp_path))
        work.claim(encoded(Plan("test", inputs, splits, 1, True, 1 << 20, 100, False, [])))
        bucket.put("replaced.jsonl", run_lines(11))
        tasks.check(encoded(tasks.Item(work.where, 0)))
        summary = decoded(work.read("summary-0"), Summary)
    assert summary.counts.rules == {"OL-R061": 1}
    assert summary.failure is not None
    message, file, _ = summary.failure
    assert (message, file) == ("the input cannot be read: it has changed since the run began", name)


@pytest.mark.parametrize(
    "more",
    [
        {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"},
        {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_EC2_METADATA_DISABLED": "true"},
    ],
)
def test_what_fails_says_so_without_a_credential(bucket: Store, more: dict[str, str]) -> None:
    ran = streamt_ol("validate", f"{URI}/absent.jsonl", environment={**bucket.environment, **more})
    assert ran.returncode == 1
    assert ran.stderr.startswith(b"E501_PARSE_ERROR s3://lineage/absent.jsonl: ")
    assert b"Traceback" not in ran.stderr
    assert SECRET.encode() not in ran.stderr + ran.stdout
    assert b"planted-key-id" not in ran.stderr + ran.stdout


def test_an_absent_object_is_an_error_of_its_input(bucket: Store) -> None:
    ran = streamt_ol("validate", f"{URI}/absent.jsonl", environment=bucket.environment)
    assert ran.returncode == 1
    assert b"s3://lineage/absent.jsonl:1: error OL-R061: E501_PARSE_ERROR: " in ran.stdout


class TestDelivery:
    """`send` and `check` read objects as they read files."""

    def sent(self, bucket: Store, name: str, folder: Path, *more: str) -> bytes:
        ran = streamt_ol(
            "send", f"{URI}/{name}", "--to", "file", "--path", "out.jsonl", *more,
            cwd=folder, environment=bucket.environment,
        )  # fmt: skip
        assert (ran.returncode, ran.stderr) == (0, b"")
        return ran.stdout

    @pytest.mark.parametrize("more", [[], ["--stream"]])
    def test_what_is_sent_is_what_the_object_holds(
        self, bucket: Store, tmp_path: Path, more: list[str]
    ) -> None:
        data = run_lines(50) + run_lines(50, "COMPLETE")
        bucket.put("send.jsonl", data)
        bucket.put("send.jsonl.gz", gzip.compress(data))
        for name in ("send.jsonl", "send.jsonl.gz"):
            (tmp_path / "out.jsonl").unlink(missing_ok=True)
            said = self.sent(bucket, name, tmp_path, *more)
            assert said == b"sent 100, skipped 0, refused 0\n"
            assert (tmp_path / "out.jsonl").read_bytes() == data

    def test_a_checkpoint_knows_what_an_object_held_that_is_replaced(
        self, bucket: Store, tmp_path: Path
    ) -> None:
        bucket.put("log.jsonl", run_lines(10))
        more = ("--progress-file", "done", "--rejected", "rejected.jsonl")
        assert self.sent(bucket, "log.jsonl", tmp_path, *more).startswith(b"sent 10,")
        assert b"sent before 10" in self.sent(bucket, "log.jsonl", tmp_path, *more)
        both = run_lines(10) + run_lines(5, "COMPLETE")
        bucket.put("log.jsonl", both)
        said = self.sent(bucket, "log.jsonl", tmp_path, *more)
        assert said == b"sent 5, skipped 0, refused 0, sent before 10\n"
        assert (tmp_path / "out.jsonl").read_bytes() == both

    def test_a_long_event_is_one_of_an_object_too(self, bucket: Store, tmp_path: Path) -> None:
        event = run_event("START")
        event["x"] = "y" * (20 << 20)
        bucket.put("long.jsonl", json.dumps(event).encode() + b"\n")
        assert self.sent(bucket, "long.jsonl", tmp_path, "--no-validate").startswith(b"sent 1,")

    def test_check_reads_objects(self, bucket: Store) -> None:
        bucket.put("check.jsonl", run_lines(3))
        ran = streamt_ol(
            "check", f"{URI}/check.jsonl", "--for", "marquez", environment=bucket.environment
        )
        assert ran.stdout.endswith(b"marquez: accepted 3, ignored 0, refused 0\n")

    @pytest.mark.parametrize("more", [[], ["--stream"]])
    def test_an_absent_object_is_an_error_that_names_it(
        self, bucket: Store, tmp_path: Path, more: list[str]
    ) -> None:
        ran = streamt_ol(
            "send", f"{URI}/no.jsonl", "--to", "file", "--path", "out.jsonl", *more,
            cwd=tmp_path, environment=bucket.environment,
        )  # fmt: skip
        assert ran.returncode == 1
        assert b"E501_PARSE_ERROR s3://lineage/no.jsonl: the input cannot be read: " in ran.stderr
