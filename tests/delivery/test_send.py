"""`streamt-ol send` over HTTP: a real process, a real server, and what the server's log says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.commands import PROGRAM, clean_environment, streamt_ol
from support.delivery.events import RUN_ID, dataset, job, run, write
from support.delivery.servers import Server
from support.terminal import stderr_on_a_terminal

KEY = "planted-key-4711-never-to-be-seen"


def envelope(*arguments: str | Path, **more: Any) -> tuple[int, dict[str, Any]]:
    done = streamt_ol("--output", "json", *arguments, **more)
    assert done.stderr == b""
    return done.returncode, json.loads(done.stdout)


def closing_line(done: subprocess.CompletedProcess[bytes]) -> str:
    return done.stdout.decode().splitlines()[-1]


class TestDelivery:
    def test_every_line_arrives_as_it_is(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("ä"), dataset("d"), run("r"), '{"x" :1}'[:0])
        lines = [line for line in events.read_text().splitlines() if line]
        with Server(tmp_path) as server:
            done = streamt_ol("send", events, "--to", "marquez", "--url", server.url)
            assert sorted(server.bodies()) == sorted(lines)
            assert {r["line"] for r in server.requests()} == {"POST /api/v1/lineage HTTP/1.1"}
        assert (done.returncode, done.stdout) == (0, b"sent 3, skipped 0, refused 0\n")
        assert done.stderr == b""

    def test_a_pipe_with_a_byte_order_mark_crlf_and_no_last_line_end(self, tmp_path: Path) -> None:
        lines = [json.dumps(job(name)) for name in "ab"]
        data = b"\xef\xbb\xbf" + "\r\n\r\n".join(lines).encode()
        with Server(tmp_path) as server:
            done = streamt_ol("send", "-", "--to", "openlineage", "--url", server.url, stdin=data)
            assert sorted(server.bodies()) == sorted(lines)
        assert done.returncode == 0

    def test_nothing_to_send(self, tmp_path: Path) -> None:
        with Server(tmp_path) as server:
            done = streamt_ol("send", "-", "--to", "marquez", "--url", server.url)
            assert server.requests() == []
        assert (done.returncode, done.stdout) == (0, b"sent 0, skipped 0, refused 0\n")

    def test_tls_token_gzip_and_endpoint(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", *(job(f"j{n}") for n in range(20)))
        with Server(tmp_path, tls="localhost") as server:
            done = streamt_ol(
                "send", events, "--to", "openlineage", "--url", server.url, "--endpoint", "/ol",
                "--token-env", "T", "--gzip", "--ca-file", server.ca_file, environment={"T": KEY},
            )  # fmt: skip
            requests = server.requests()
        assert done.returncode == 0, done.stderr
        assert {r["headers"]["authorization"] for r in requests} == {f"Bearer {KEY}"}
        assert {r["headers"]["content-encoding"] for r in requests} == {"gzip"}
        assert {r["line"] for r in requests} == {"POST /ol HTTP/1.1"}
        assert len({r["connection"] for r in requests}) <= 4

    def test_order_is_kept_within_a_job(self, tmp_path: Path) -> None:
        events = [run(f"j{n % 5}", "RUNNING", at=n) for n in range(200)]
        with Server(tmp_path, {"match": '"at": 1', "delay": 0.002}) as server:
            streamt_ol(
                "send", write(tmp_path / "e.jsonl", *events), "--to", "marquez", "--url",
                server.url, "--concurrency", "8",
            )  # fmt: skip
            arrived = [json.loads(body) for body in server.bodies()]
            connections = {r["connection"] for r in server.requests()}
        assert len(connections) > 1
        for name in (f"j{n}" for n in range(5)):
            places = [event["at"] for event in arrived if event["job"]["name"] == name]
            assert places == sorted(places)
            assert len(places) == 40

    def test_export_piped_into_send(self, tmp_path: Path) -> None:
        exported = streamt_ol(
            "export", "fixtures/manifests/demo.json", "--job-namespace", "demo",
            "--kafka-namespace", "kafka://b:9092",
        ).stdout  # fmt: skip
        with Server(tmp_path) as server:
            done = streamt_ol("send", "-", "--to", "marquez", "--url", server.url, stdin=exported)
            assert sorted(server.bodies()) == sorted(exported.decode().splitlines())
        assert done.returncode == 0


class TestRefusals:
    def test_what_the_receiver_cannot_read_is_refused_before_anything_is_sent(
        self, tmp_path: Path
    ) -> None:
        bad = [
            "7", "{", "[]", '{"a":1,"a":2}', '{"eventTime":"x"}', "\x00",
        ]  # fmt: skip
        events = write(tmp_path / "e.jsonl", *bad, job("good"))
        rejected = tmp_path / "rejected.jsonl"
        with Server(tmp_path) as server:
            status, told = envelope(
                "send", events, "--to", "marquez", "--url", server.url, "--rejected", rejected
            )
            assert [json.loads(body)["job"]["name"] for body in server.bodies()] == ["good"]
        assert status == 1
        assert told["status"] == "error"
        assert told["data"]["counts"]["refused"] == len(bad)
        assert [p["line"] for p in told["data"]["problems"]] == list(range(1, len(bad) + 1))
        first = told["errors"][0]
        assert first["location"] == f"{events}:1"
        assert (first["file"], first["line"]) == (str(events), 1)
        assert {e["code"] for e in told["errors"]} == {"E510_NOT_DELIVERED"}
        assert rejected.read_text().splitlines() == bad

    def test_without_validation_the_server_decides(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", {**job("x"), "eventTime": "yesterday"})
        with Server(tmp_path) as server:
            done = streamt_ol(
                "send", events, "--to", "openlineage", "--url", server.url, "--no-validate"
            )
            assert len(server.requests()) == 1
        assert done.returncode == 0

    def test_a_refused_event_is_reported_once_and_delivery_goes_on(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("a"), job("bad"), job("c"))
        rejected = tmp_path / "rejected.jsonl"
        plan = {"match": '"bad"', "status": 422, "body": f'{{"why":"no","token":"{KEY}"}}\n\x1b[2J'}
        with Server(tmp_path, plan) as server:
            done = streamt_ol(
                "send", events, "--to", "marquez", "--url", server.url, "--token-env", "T",
                "--rejected", rejected, environment={"T": KEY},
            )  # fmt: skip
            assert len(server.requests()) == 3
        assert done.returncode == 1
        assert closing_line(done) == "sent 2, skipped 0, refused 1"
        (told,) = done.stderr.decode().splitlines()
        assert told.startswith("line 2: refused: JobEvent 'jobs' 'bad': the server answered 422: ")
        assert KEY not in told
        assert told.isprintable()
        assert rejected.read_text() == json.dumps(job("bad")) + "\n"

    def test_fail_fast_stops(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("bad"), *(job(f"j{n}") for n in range(500)))
        with Server(tmp_path, {"match": '"bad"', "status": 400}, {"delay": 0.01}) as server:
            status, told = envelope(
                "send", events, "--to", "marquez", "--url", server.url, "--fail-fast"
            )
            arrived = len(server.requests())
        counts = told["data"]["counts"]
        assert status == 1
        assert counts["refused"] == 1
        assert counts["sent"] + 1 == arrived < 400
        assert counts["sent"] + counts["unsent"] == 500

    def test_fail_fast_with_an_invalid_event_sends_nothing(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("a"), "{")
        with Server(tmp_path) as server:
            done = streamt_ol("send", events, "--to", "marquez", "--url", server.url, "--fail-fast")
            assert server.requests() == []
        assert closing_line(done) == "sent 0, skipped 0, refused 1, not sent 1"

    def test_a_redirect_is_a_refusal(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("a"))
        with (
            Server(tmp_path / "b") as target,
            Server(tmp_path / "a", {"status": 308, "headers": {"Location": target.url}}) as server,
        ):
            done = streamt_ol("send", events, "--to", "marquez", "--url", server.url)
            assert (len(server.requests()), target.requests()) == (1, [])
        assert b"redirects are not followed" in done.stderr


class TestRetries:
    def test_what_may_pass_is_tried_again_and_nothing_else(self, tmp_path: Path) -> None:
        passing = (408, 425, 429, 500, 502, 503, 504)
        lasting = (400, 409, 413, 418, 422)
        plan = [{"match": f'"s{s}"', "status": s, "times": 2} for s in (*passing, *lasting)]
        events = write(tmp_path / "e.jsonl", *(job(f"s{s}") for s in (*passing, *lasting)))
        with Server(tmp_path, *plan) as server:
            done = streamt_ol("send", events, "--to", "marquez", "--url", server.url)
            names = [json.loads(body)["job"]["name"] for body in server.bodies()]
        assert done.stdout == b"sent 6, skipped 0, refused 5, failed 1\n"
        tried = {f"s{s}": 3 for s in passing} | {f"s{s}": 1 for s in lasting}
        # The same answer of 500 twice is about the event.
        assert Counter(names) == tried | {"s500": 2}

    @pytest.mark.parametrize(
        "plan",
        [
            {"kind": "drop", "raw": "", "times": 1},
            {"kind": "drop", "raw": "HTTP/1.1 201 C\r\nContent-Length: 5\r\n\r\n{", "times": 1},
            {"kind": "reset", "times": 1},
            {"kind": "hang", "times": 1},
            {"kind": "drip", "seconds": 0.3, "times": 1},
        ],
    )
    def test_a_broken_exchange_is_tried_again(self, tmp_path: Path, plan: dict[str, Any]) -> None:
        events = write(tmp_path / "e.jsonl", job("a"))
        with Server(tmp_path, plan) as server:
            done = streamt_ol(
                "send", events, "--to", "marquez", "--url", server.url, "--timeout", "0.5"
            )
            assert len(server.requests()) == 2
        assert done.returncode == 0

    @pytest.mark.parametrize(
        "plan",
        [
            {"kind": "raw", "raw": "SSH-2.0\r\n\r\n"},
            {"kind": "raw", "raw": "HTTP/1.1 103 Early\r\nx: " + "y" * 200_000},
        ],
    )
    def test_what_is_no_answer_is_reported(self, tmp_path: Path, plan: dict[str, Any]) -> None:
        events = write(tmp_path / "e.jsonl", job("a"))
        with Server(tmp_path, plan) as server:
            done = streamt_ol("send", events, "--to", "marquez", "--url", server.url)
        assert closing_line(done) == "sent 0, skipped 0, refused 0, failed 1"

    def test_retry_after_is_waited_for(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("a"))
        plan = {"status": 429, "headers": {"Retry-After": "1"}, "times": 1}
        with Server(tmp_path, plan) as server:
            streamt_ol("send", events, "--to", "marquez", "--url", server.url)
            first, second = (r["time"] for r in server.requests())
        assert second - first >= 1  # asked for by the server: no measure of speed

    def test_retry_after_beyond_the_deadline_ends_the_delivery(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("a"), job("a"))
        plan = {"status": 503, "headers": {"Retry-After": "30"}}
        with Server(tmp_path, plan) as server:
            done = streamt_ol(
                "send", events, "--to", "marquez", "--url", server.url, "--deadline", "3"
            )
            assert 1 <= len(server.requests()) <= 2
        assert done.returncode == 1
        assert b"the server answered 503" in done.stderr

    def test_no_attempt_outlives_the_deadline(self, tmp_path: Path) -> None:
        """The server would answer after 30 s, and --timeout would wait for that."""
        events = write(tmp_path / "e.jsonl", job("a"))
        with Server(tmp_path, {"delay": 30}) as server:
            for to in (
                ["--to", "marquez", "--url", server.url, "--timeout", "60", "--retries", "9"],
                ["--to", "config"],
            ):
                done = streamt_ol(
                    "send", events, *to, "--deadline", "1.5",
                    environment={
                        "OPENLINEAGE__TRANSPORT__TYPE": "http",
                        "OPENLINEAGE__TRANSPORT__URL": server.url,
                        "OPENLINEAGE__TRANSPORT__ENDPOINT": "api/v1/lineage",
                    },
                )  # fmt: skip
                assert closing_line(done) == "sent 0, skipped 0, refused 0, failed 1"
                assert b"no complete answer in time" in done.stderr
            # Had the first one waited for its answer, it would have been acknowledged.
            assert server.count() == 2

    def test_order_survives_a_retry(self, tmp_path: Path) -> None:
        events = [run("j", "RUNNING", at=f"<{n}>") for n in range(10)]
        with Server(tmp_path, {"match": "<3>", "status": 503, "times": 2}) as server:
            streamt_ol(
                "send", write(tmp_path / "e.jsonl", *events), "--to", "marquez", "--url", server.url
            )
            arrived = [json.loads(body)["at"] for body in server.bodies()]
        assert arrived == [f"<{n}>" for n in (0, 1, 2, 3, 3, 3, 4, 5, 6, 7, 8, 9)]

    def test_a_receiver_that_is_not_there_ends_the_delivery(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", *(job(f"j{n}") for n in range(100)))
        with Server(tmp_path) as server:
            url = server.url
        status, told = envelope("send", events, "--to", "marquez", "--url", url, "--retries", "1")
        counts = told["data"]["counts"]
        assert status == 1
        assert counts["sent"] == 0
        assert 3 <= counts["failed"] <= 7
        assert counts["failed"] + counts["unsent"] == 100
        assert "in a row" in told["errors"][-1]["message"]

    def test_a_certificate_that_is_not_accepted_ends_the_delivery(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", *(job(f"j{n}") for n in range(100)))
        with Server(tmp_path, tls="localhost") as server:
            done = streamt_ol("send", events, "--to", "marquez", "--url", server.url)
            assert server.requests() == []
        assert done.returncode == 1
        assert b"the certificate is not accepted" in done.stderr

    def test_a_lasting_500_of_one_event_does_not_stop_the_others(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("bad"), *(job(f"j{n}") for n in range(20)))
        with Server(tmp_path, {"match": '"bad"', "status": 500}) as server:
            done = streamt_ol(
                "send", events, "--to", "marquez", "--url", server.url, "--retries", "1"
            )
        assert closing_line(done) == "sent 20, skipped 0, refused 0, failed 1"


class TestProgress:
    def test_the_same_command_sends_the_rest(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("a"), job("bad"), job("c"))
        progress = tmp_path / "progress"
        with Server(tmp_path, {"match": '"bad"', "status": 400, "times": 1}) as server:
            command: list[str | Path] = ["send", events, "--to", "marquez", "--url", server.url,
                       "--progress-file", progress]  # fmt: skip
            first, second, third = (streamt_ol(*command) for _ in range(3))
            names = [json.loads(body)["job"]["name"] for body in server.bodies()]
        assert [d.returncode for d in (first, second, third)] == [1, 0, 0]
        assert closing_line(second) == "sent 1, skipped 0, refused 0, sent before 2"
        assert closing_line(third) == "sent 0, skipped 0, refused 0, sent before 3"
        assert sorted(names) == ["a", "bad", "bad", "c"]

    def test_a_changed_line_is_a_new_event(self, tmp_path: Path) -> None:
        events = tmp_path / "e.jsonl"
        with Server(tmp_path) as server:
            for second in ("b", "changed"):
                streamt_ol(
                    "send", write(events, job("a"), job(second)), "--to", "marquez", "--url",
                    server.url, "--progress-file", tmp_path / "progress",
                )  # fmt: skip
            names = [json.loads(body)["job"]["name"] for body in server.bodies()]
        assert sorted(names) == ["a", "b", "changed"]

    @pytest.mark.parametrize("content", [b"not mine\n", b'{"line":1}\n', b"x"])
    def test_another_file_is_not_overwritten(self, tmp_path: Path, content: bytes) -> None:
        progress = tmp_path / "progress"
        progress.write_bytes(content)
        events = write(tmp_path / "e.jsonl", job("a"))
        with Server(tmp_path) as server:
            done = streamt_ol(
                "send", events, "--to", "marquez", "--url", server.url,
                "--progress-file", progress,
            )  # fmt: skip
            assert server.requests() == []
        assert done.returncode == 1
        assert progress.read_bytes() == content

    def test_the_progress_of_another_receiver_is_refused(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("a"))
        with Server(tmp_path / "a") as server, Server(tmp_path / "b") as other:
            done = [
                streamt_ol(
                    "send", events, "--to", "marquez", "--url", url,
                    "--progress-file", tmp_path / "progress",
                )
                for url in (server.url, other.url)
            ]  # fmt: skip
            assert other.requests() == []
        assert [d.returncode for d in done] == [0, 1]
        assert b"another receiver" in done[1].stderr

    def test_a_checkpoint_of_nothing_serves_another_receiver(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("a"))
        with Server(tmp_path / "a", {"status": 404}) as wrong, Server(tmp_path / "b") as server:
            done = [
                streamt_ol(
                    "send", events, "--to", "marquez", "--url", url,
                    "--progress-file", tmp_path / "progress",
                )
                for url in (wrong.url, server.url, server.url, wrong.url)
            ]  # fmt: skip
        assert [d.returncode for d in done] == [1, 0, 0, 1]
        assert closing_line(done[2]) == "sent 0, skipped 0, refused 0, sent before 1"
        assert b"another receiver" in done[3].stderr

    def test_a_full_disk_cuts_one_event_and_no_other(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", *(job(f"j{n}" + "x" * 300) for n in range(6)))
        length = len(events.read_bytes()) // 6
        whole = 1024 // length  # as many events as the one block of the limit holds
        assert 0 < whole < 5
        out, rejected = tmp_path / "out", tmp_path / "rejected"
        command = [PROGRAM, "send", str(events), "--to", "file", "--path", str(out),
                   "--rejected", str(rejected)]  # fmt: skip
        limited = ["bash", "-c", 'ulimit -f 1; exec "$@"', "-", *command]
        done = subprocess.run(limited, capture_output=True, check=False, env=clean_environment())
        assert done.returncode == 1
        rest = f"failed 1, not sent {5 - whole}"
        assert closing_line(done) == f"sent {whole}, skipped 0, refused 0, {rest}"
        assert done.stderr.count(b"only a part of the event") in (1, 2)  # the event, why it stopped
        assert out.read_bytes().splitlines()[:whole] == events.read_bytes().splitlines()[:whole]
        assert rejected.read_bytes() == b""

    @pytest.mark.parametrize("cut", [1, 30, -1, -9])
    def test_a_record_that_was_cut_off_is_sent_again(self, tmp_path: Path, cut: int) -> None:
        events = write(tmp_path / "e.jsonl", job("a"), job("b"))
        progress = tmp_path / "progress"
        with Server(tmp_path) as server:
            command: list[str | Path] = ["send", events, "--to", "marquez", "--url", server.url,
                       "--progress-file", progress, "--concurrency", "1"]  # fmt: skip
            streamt_ol(*command)
            progress.write_bytes(progress.read_bytes()[:cut])
            second, third = streamt_ol(*command), streamt_ol(*command)
        assert (second.returncode, third.returncode) == (0, 0)
        assert closing_line(third) == "sent 0, skipped 0, refused 0, sent before 2"

    def test_it_holds_no_event_and_no_token(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("name-of-a-job"))
        progress = tmp_path / "progress"
        with Server(tmp_path) as server:
            streamt_ol(
                "send", events, "--to", "marquez", "--url", server.url, "--token-env", "T",
                "--progress-file", progress, environment={"T": KEY},
            )  # fmt: skip
        assert KEY not in progress.read_text()
        assert "name-of-a-job" not in progress.read_text()
        assert progress.stat().st_mode & 0o777 == 0o600

    def test_a_full_disk_is_told(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("a"))
        for option in ("--progress-file", "--rejected"):
            with Server(tmp_path) as server:
                done = streamt_ol(
                    "send", events, "--to", "marquez", "--url", server.url, option, "/dev/full"
                )
                assert server.requests() == []
            assert done.returncode == 1
            assert option.encode() in done.stderr

    @pytest.mark.parametrize(("blocks", "before"), [(0, b""), (1, b"x" * 1024)])
    def test_a_disk_that_is_full_from_the_start_is_told(
        self, tmp_path: Path, blocks: int, before: bytes
    ) -> None:
        """Neither the first line nor the end of a torn one can be written."""
        events = write(tmp_path / "e.jsonl", job("a"))
        progress = tmp_path / "progress"
        with Server(tmp_path) as server:
            command = ["send", str(events), "--to", "marquez", "--url", server.url,
                       "--progress-file", str(progress)]  # fmt: skip
            if before:
                streamt_ol(*command)
                with progress.open("ab") as file:
                    file.write(before[file.tell() :])
            limited = ["bash", "-c", f'ulimit -f {blocks}; exec "$@"', "-", PROGRAM, *command]
            done = subprocess.run(
                limited, capture_output=True, check=False, env=clean_environment()
            )
            assert len(server.requests()) == bool(before)
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.startswith(b"E506_OPENLINEAGE_INVALID --progress-file: ")
        assert b"cannot be written" in done.stderr

    @pytest.mark.parametrize("to", ["http", "file"])
    def test_what_was_acknowledged_is_counted_when_it_cannot_be_recorded(
        self, tmp_path: Path, to: str
    ) -> None:
        events = write(tmp_path / "e.jsonl", *(job(f"j{n}") for n in range(6)))
        progress = tmp_path / "progress"
        with Server(tmp_path) as server:
            ways = {"http": ["--to", "marquez", "--url", server.url, "--concurrency", "4"],
                    "file": ["--to", "file", "--path", str(tmp_path / "out")]}  # fmt: skip
            command = [PROGRAM, "send", str(events), *ways[to], "--progress-file", str(progress)]
            # The limit leaves room for the header line of the file, and for the events' own file.
            limited = ["bash", "-c", 'ulimit -f 2; exec "$@"', "-", *command]
            streamt_ol("send", write(tmp_path / "none", ""), *command[3:])
            with progress.open("a") as file:
                file.write("\n" * (2048 - file.tell()))
            done = subprocess.run(
                limited, capture_output=True, check=False, env=clean_environment()
            )
            arrived = server.count() if to == "http" else 6
        assert done.returncode == 1
        counted = f"sent {arrived}, skipped 0, refused 0"
        rest = f", not sent {6 - arrived}" if arrived < 6 else ""
        assert closing_line(done) == counted + rest
        assert arrived > 0
        assert b"--progress-file" in done.stderr

    def test_the_input_is_not_taken_for_the_file_of_refused_lines(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", "{")
        done = streamt_ol(
            "send", events, "--to", "marquez", "--url", "http://127.0.0.1:1", "--rejected", events
        )
        assert done.returncode == 2
        assert events.read_text() == "{\n"

    def test_the_certificates_are_no_file_to_write(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("a"), "{")
        trusted = tmp_path / "ca.pem"
        trusted.write_text("certificates")
        where = ["--to", "marquez", "--url", "https://localhost:1", "--ca-file", str(trusted)]
        for option in ("--rejected", "--progress-file"):
            done = streamt_ol("send", events, *where, option, trusted)
            assert done.returncode == 2
            assert b"the file is the same as --" in done.stderr
        assert trusted.read_text() == "certificates"

    @pytest.mark.parametrize("link", ["", "symbolic", "hard"])
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("", "--path"),
            ("", "--progress-file"),
            ("", "--rejected"),
            ("--path", "--progress-file"),
            ("--progress-file", "--rejected"),
            ("--path", "--rejected"),
        ],
    )
    def test_no_two_files_are_one(self, tmp_path: Path, one: str, other: str, link: str) -> None:
        events = write(tmp_path / "e.jsonl", job("a"), "{")
        first = tmp_path / "first" if one else events
        if link:
            first.touch()
            (tmp_path / "link").unlink(missing_ok=True)
            second = tmp_path / "link"
            if link == "hard":
                second.hardlink_to(first)
            else:
                second.symlink_to(first)
        else:
            second = tmp_path / "." / ".." / tmp_path.name / first.name
        files = {"--path": tmp_path / "out", **({one: first} if one else {}), other: second}
        before = events.read_bytes()
        options = [text for pair in files.items() for text in map(str, pair)]
        done = streamt_ol("send", events, "--to", "file", *options)
        assert done.returncode == 2
        assert f"{other}: the file is the same as {one or 'the input'}".encode() in done.stderr
        assert events.read_bytes() == before
        assert not (tmp_path / "out").exists()


class TestInterrupt:
    @pytest.mark.parametrize(
        ("number", "status", "word"),
        [(signal.SIGINT, 130, b"interrupted"), (signal.SIGTERM, 143, b"terminated")],
    )
    def test_a_signal_lets_what_is_on_its_way_be_finished(
        self, tmp_path: Path, number: signal.Signals, status: int, word: bytes
    ) -> None:
        events = write(tmp_path / "e.jsonl", *(job(f"j{n}") for n in range(2000)))
        progress = tmp_path / "progress"
        with Server(tmp_path, {"delay": 0.02}) as server:
            command = ["send", str(events), "--to", "marquez", "--url", server.url,
                       "--progress-file", str(progress)]  # fmt: skip
            child = subprocess.Popen(
                [PROGRAM, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=clean_environment(),
            )  # fmt: skip
            while len(server.requests()) < 10:
                time.sleep(0.01)
            child.send_signal(number)
            out, err = child.communicate(timeout=30)
            arrived = server.bodies()
        assert child.returncode == status
        assert b"stopped: " + word in err
        assert b"Traceback" not in err
        sent = int(out.split()[1].rstrip(b","))
        assert len(arrived) == sent < 2000
        assert len(progress.read_text().splitlines()) == sent + 1

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_a_slow_answer_is_waited_for(self, tmp_path: Path, number: signal.Signals) -> None:
        events = write(tmp_path / "e.jsonl", *(job(f"j{n}") for n in range(3)))
        with Server(tmp_path, {"delay": 1}) as server:
            child = self.begun(server, events)
            child.send_signal(number)
            out, err = child.communicate(timeout=30)
            assert server.count() == 1
        assert child.returncode == 128 + number
        assert out == b"sent 1, skipped 0, refused 0, not sent 2\n"
        assert [line.partition(b":")[0] for line in err.splitlines()] == [b"stopped"]

    def test_a_second_signal_does_not_call_what_was_posted_unsent(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", *(job(f"j{n}") for n in range(3)))
        with Server(tmp_path, {"delay": 20}) as server:
            child = self.begun(server, events)
            child.send_signal(signal.SIGINT)
            with pytest.raises(subprocess.TimeoutExpired):  # it waits for the answer
                child.wait(0.5)
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=15)
        assert child.returncode == 130
        assert out == b"sent 0, skipped 0, refused 0, outcome unknown 1, not sent 2\n"
        assert b"line 1: unknown: JobEvent 'jobs' 'j0': it was on its way" in err
        assert b"Traceback" not in err

    @staticmethod
    def begun(server: Server, events: Path) -> subprocess.Popen[bytes]:
        """Return a `send` over one connection whose first request has arrived."""
        command = ["send", str(events), "--to", "marquez", "--url", server.url]
        child = subprocess.Popen(
            [PROGRAM, *command, "--concurrency", "1"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=clean_environment(),
        )  # fmt: skip
        while not server.count():
            time.sleep(0.01)
        return child


class TestSecrets:
    def test_a_token_is_seen_nowhere(self, tmp_path: Path) -> None:
        """Neither in arguments of any process, nor in what is printed or written."""
        events = write(tmp_path / "e.jsonl", *(job(f"j{n}") for n in range(20)))
        plans: list[dict[str, Any]] = [
            {"match": '"j1"', "status": 401, "body": "@KEY@ " * 3},
            {"match": '"j2"', "kind": "raw", "raw": "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"},
            {"delay": 0.01},
        ]
        plans[0]["body"] = f"Authorization: Bearer {KEY} {KEY} {KEY[:-3]}"
        with Server(tmp_path, *plans, tls="localhost") as server:
            child = subprocess.Popen(
                [PROGRAM, "--output", "json", "send", str(events), "--to", "openlineage",
                 "--url", server.url, "--token-env", "T", "--ca-file", str(server.ca_file),
                 "--progress-file", str(tmp_path / "progress"), "--rejected",
                 str(tmp_path / "rejected")],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=clean_environment(T=KEY, PYTHONFAULTHANDLER="1"),
            )  # fmt: skip
            arguments = ""
            while child.poll() is None:
                try:
                    arguments += Path(f"/proc/{child.pid}/cmdline").read_text()
                except OSError:
                    break
                time.sleep(0.01)
            out, err = child.communicate()
            assert {r["headers"]["authorization"] for r in server.requests()} == {f"Bearer {KEY}"}
        written = (tmp_path / "progress").read_text() + (tmp_path / "rejected").read_text()
        assert KEY not in arguments + out.decode() + err.decode() + written
        assert json.loads(out)["data"]["counts"]["failed"] >= 1

    @pytest.mark.parametrize("value", ["", "a\nb", "ü"])
    def test_what_is_no_token_is_refused(self, tmp_path: Path, value: str) -> None:
        done = streamt_ol(
            "send", os.devnull, "--to", "marquez", "--url", "https://h.example",
            "--token-env", "T", environment={"T": value},
        )  # fmt: skip
        assert done.returncode in (1, 2)
        assert done.stdout == b""


class TestUsage:
    @pytest.mark.parametrize(
        "options",
        [
            ["--to", "nowhere"],
            ["--to", "marquez"],
            ["--to", "marquez", "--url", "http://lineage.example", "--token-env", "PATH"],
            ["--to", "kafka", "--bootstrap", "b:9092", "--topic", "t", "--allow-plain-http"],
            ["--to", "marquez", "--url", "https://h.example", "--namespace-map", "x"],
            ["--to", "marquez", "--url", "https://u:planted-key@lineage.example"],
            ["--to", "marquez", "--url", "https://h.example", "--batch"],
            ["--to", "marquez", "--url", "https://h.example", "--gzip"],
            ["--to", "marquez", "--url", "https://h.example", "--topic", "t"],
            ["--to", "marquez", "--url", "https://h.example", "--token-header", "bearer"],
            ["--to", "marquez", "--url", "https://h.example", "--processing-engine", "A", "1"],
            ["--to", "marquez", "--url", "http://127.0.0.1", "--ca-file", "x"],
            ["--to", "datakit", "--url", "http://127.0.0.1:9529", "--token-env", "HOME"],
            ["--to", "truewatch", "--url", "https://h.example", "--token-env", "HOME",
             "--token-header", "query"],
            ["--to", "kafka", "--url", "https://h.example"],
            ["--to", "kafka", "--bootstrap", "b:9092"],
            ["--to", "kafka", "--bootstrap", "https://b:9092", "--topic", "t"],
            ["--to", "file"],
            ["--to", "config", "--path", "x"],
            ["--to", "marquez", "--url", "https://h.example", "--concurrency", "0"],
            ["--to", "marquez", "--url", "https://h.example", "--timeout", "nan"],
            ["--to", "marquez", "--url", "https://h.example", "--deadline", "nan"],
            ["--to", "marquez", "--url", "https://h.example", "--deadline", "inf"],
            [],
        ],
    )  # fmt: skip
    def test_a_wrong_command_line(self, options: list[str]) -> None:
        done = streamt_ol("send", os.devnull, *options)
        assert done.returncode == 2
        assert done.stdout == b""
        assert b"planted-key" not in done.stderr
        assert b"Traceback" not in done.stderr

    def test_where_a_key_belongs(self) -> None:
        url = "https://u:planted-key@lineage.example"
        done = streamt_ol("send", os.devnull, "--to", "marquez", "--url", url)
        assert b"--token-env" in done.stderr
        assert b"api_key" not in done.stderr

    @pytest.mark.parametrize("name", ["absent.jsonl", "", "a\0b"[:1] + "/x"])
    def test_an_input_that_cannot_be_read(self, tmp_path: Path, name: str) -> None:
        done = streamt_ol("send", tmp_path / name, "--to", "marquez", "--url", "http://127.0.0.1:1")
        assert done.returncode == 1
        assert done.stderr.startswith(b"E501_PARSE_ERROR")

    def test_a_dry_run_sends_and_writes_nothing(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("a"), run("b"), "{")
        options: list[str | Path] = [
            "--progress-file",
            tmp_path / "p",
            "--rejected",
            tmp_path / "r",
            "--dry-run",
        ]
        with Server(tmp_path) as server:
            url = server.url
            done = streamt_ol("send", events, "--to", "marquez", "--url", url, *options)
            status, told = envelope("send", events, "--to", "marquez", "--url", url, *options)
            assert server.requests() == []
        size = len(json.dumps(job("a")))
        assert done.stdout.decode().splitlines() == [
            f"line 1: JobEvent 'jobs' 'a', {size} bytes -> {url}/api/v1/lineage",
            f"line 2: RunEvent COMPLETE 'jobs' 'b', {len(json.dumps(run('b')))} bytes"
            f" -> {url}/api/v1/lineage",
        ]
        assert (done.returncode, status) == (1, 1)
        assert [entry["line"] for entry in told["data"]["would_send"]] == [1, 2]
        assert not (tmp_path / "p").exists()
        assert not (tmp_path / "r").exists()

    def test_a_closed_pipe_ends_quietly(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", *(job(f"j{n}") for n in range(5000)))
        done = subprocess.run(
            f"{PROGRAM} send {events} --to marquez --url http://127.0.0.1:1 --dry-run | head -1",
            shell=True, capture_output=True, env=clean_environment(), check=False,
        )  # fmt: skip
        assert done.stdout.startswith(b"line 1: JobEvent")
        assert b"Traceback" not in done.stderr


class TestProgressBar:
    def stderr_of(self, command: list[str]) -> bytes:
        """Return what a command writes to a terminal on its stderr."""
        shown, _ = stderr_on_a_terminal([PROGRAM, *command])
        return shown

    def test_a_bar_on_a_terminal_only(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", *(job(f"j{n}") for n in range(40)))
        with Server(tmp_path, {"delay": 0.3}) as server:
            command = ["send", str(events), "--to", "marquez", "--url", server.url]
            shown = self.stderr_of(command)
            as_json = self.stderr_of(["--output", "json", *command])
            piped = streamt_ol(*command).stderr
        assert b"/40 " in shown
        assert shown.endswith(b"\r\x1b[K")
        assert as_json == piped == b""


class TestConfig:
    def test_the_configured_transport_is_used(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("a"), run("b", run_id=RUN_ID))
        with Server(tmp_path) as server:
            environment = {
                "OPENLINEAGE__TRANSPORT__TYPE": "http",
                "OPENLINEAGE__TRANSPORT__URL": server.url,
                "OPENLINEAGE__TRANSPORT__ENDPOINT": "/configured",
            }
            done = streamt_ol("send", events, "--to", "config", environment=environment)
            assert {r["line"] for r in server.requests()} == {"POST /configured HTTP/1.1"}
            assert len(server.requests()) == 2
        assert done.returncode == 0

    def test_its_rule_of_one_retry_stays(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("a"))
        with Server(tmp_path, {"status": 503}) as server:
            environment = {
                "OPENLINEAGE__TRANSPORT__TYPE": "http",
                "OPENLINEAGE__TRANSPORT__URL": server.url,
                "OPENLINEAGE__TRANSPORT__ENDPOINT": "/configured",
            }
            streamt_ol("send", events, "--to", "config", environment=environment)
            assert len(server.requests()) == 2

    def test_without_one_nothing_is_sent(self) -> None:
        done = streamt_ol("send", os.devnull, "--to", "config")
        assert done.returncode == 1
        assert b"no transport is configured" in done.stderr

    def test_files(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", *(job(f"j{n}") for n in range(600)))
        by_option, by_config = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
        done = [
            streamt_ol("send", events, "--to", "file", "--path", by_option),
            streamt_ol(
                "send", events, "--to", "config",
                environment={
                    "OPENLINEAGE__TRANSPORT__TYPE": "file",
                    "OPENLINEAGE__TRANSPORT__LOG_FILE_PATH": str(by_config),
                },
            ),
        ]  # fmt: skip
        assert [d.returncode for d in done] == [0, 0]
        assert by_option.read_bytes() == by_config.read_bytes() == events.read_bytes()


class TestFolders:
    def test_missing_ones_are_made_for_every_file_that_is_appended_to(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("a"))
        files = {name: tmp_path / name / "deep" / "file" for name in ("path", "rejected", "done")}
        done = streamt_ol(
            "send", events, "--to", "file", "--path", files["path"], "--rejected",
            files["rejected"], "--progress-file", files["done"],
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert files["path"].read_text().count("\n") == 1
        assert all(file.is_file() for file in files.values())

    def test_a_file_in_the_place_of_a_folder_is_an_error(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("a"))
        for option in ("--path", "--rejected", "--progress-file"):
            path = [] if option == "--path" else ["--path", str(tmp_path / "out")]
            done = streamt_ol("send", events, "--to", "file", *path, option, events / "x")
            assert done.returncode in (1, 2), done.stderr
            assert option in done.stderr.decode()
            assert b"Traceback" not in done.stderr
