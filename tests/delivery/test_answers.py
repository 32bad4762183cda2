"""Answers that are no acknowledgement, or that no other attempt would change."""

from __future__ import annotations

import json
from email.utils import formatdate
from pathlib import Path
from time import time
from typing import Any

import pytest
from support.commands import streamt_ol
from support.delivery.events import job, refs, run, write
from support.delivery.servers import Server

KEY = "planted-key-4711-never-to-be-seen"
PAGE = "<!DOCTYPE html><title>Sign in</title>"


def send(tmp_path: Path, count: int, *plan: dict[str, Any], more: tuple[str, ...] = ()) -> Any:
    """Send ``count`` events in one connection; return the process, and the requests made."""
    events = str(write(tmp_path / "e.jsonl", *(job(f"j{n}") for n in range(count))))
    with Server(tmp_path, *plan) as server:
        done = streamt_ol(
            "send", events, "--to", "openlineage", "--url", server.url, "--concurrency", "1",
            "--rejected", str(tmp_path / "rejected"), "--progress-file", str(tmp_path / "p"),
            "--token-env", "T", *more, environment={"T": KEY},
        )  # fmt: skip
        return done, server.requests(), server


@pytest.mark.parametrize("status", [401, 403, 404, 405, 407, 410, 421, 301, 302, 307, 308])
def test_what_is_about_the_address_or_the_token_stops(tmp_path: Path, status: int) -> None:
    done, requests, _ = send(tmp_path, 1500, {"status": status})
    assert len(requests) == 1
    assert done.returncode == 1
    assert done.stdout == b"sent 0, skipped 0, refused 0, failed 1, not sent 1499\n"
    assert f"answered {status}".encode() in done.stderr
    assert b"about the address or the token" in done.stderr
    assert (tmp_path / "rejected").read_bytes() == b""


@pytest.mark.parametrize(
    ("status", "about"),
    [
        *((status, "the server or the network") for status in (402, 426, 501, 505, 507, 511)),
        *((status, "the server or the network") for status in (520, 525, 530)),
        *((status, "the form of the requests") for status in (406, 411, 415, 431)),
    ],
)
def test_what_is_about_the_server_or_the_requests_stops(
    tmp_path: Path, status: int, about: str
) -> None:
    done, requests, _ = send(tmp_path, 5, {"status": status})
    assert (done.returncode, len(requests)) == (1, 1)
    assert done.stdout == b"sent 0, skipped 0, refused 0, failed 1, not sent 4\n"
    assert f"answered {status}".encode() in done.stderr
    assert f"that is about {about}, and so about every event".encode() in done.stderr
    assert (tmp_path / "rejected").read_bytes() == b""


@pytest.mark.parametrize("status", [400, 409, 413, 418, 422])
def test_what_is_about_the_event_does_not_stop(tmp_path: Path, status: int) -> None:
    done, requests, _ = send(tmp_path, 5, {"status": status})
    assert (done.returncode, len(requests)) == (1, 5)
    assert done.stdout == b"sent 0, skipped 0, refused 5\n"
    assert len((tmp_path / "rejected").read_bytes().splitlines()) == 5


@pytest.mark.parametrize("more", [{"headers": {"x": "y" * 200_000}}, {"body": "x" * 2_000_000}],
                         ids=["header", "body"])  # fmt: skip
def test_an_answer_beyond_a_bound_leaves_its_status(tmp_path: Path, more: dict[str, Any]) -> None:
    done, _, _ = send(
        tmp_path, 3, {"match": '"j1"', "status": 400, **more}, {"status": 201, **more}
    )
    assert done.stdout == b"sent 2, skipped 0, refused 1\n"
    assert b"answered 400" in done.stderr
    assert b"not understood" in done.stderr
    kept = (tmp_path / "rejected").read_bytes().splitlines()
    assert [json.loads(line)["job"]["name"] for line in kept] == ["j1"]


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 200, "body": '{"lineageEdgesCreated": 1}' + " " * 2_000_000},
        *(
            {"status": 200, "body": f'{{"lineageEdgesCreated": {number}}}'}
            for number in ("9" * 5000, "1e400", "NaN", "-1", "0.5", '"3"', "true", "[1]")
        ),
        {
            "status": 200,
            "body": '{"lineageEdgesCreated": 1, "x": ' + "[" * 10**5 + "]" * 10**5 + "}",
        },
        {"status": 200, "body": "[" * 10**5},
    ],
)
def test_edges_beyond_a_bound_are_not_understood(tmp_path: Path, answer: dict[str, Any]) -> None:
    sides: dict[str, Any] = {"inputs": refs("a.b.c.d"), "outputs": refs("a.b.c.e")}
    events = write(tmp_path / "e.jsonl", run("r", **sides))
    with Server(tmp_path, answer) as server:
        done = streamt_ol("send", events, "--to", "openmetadata", "--url", server.url,
                          "--token-env", "T", environment={"T": KEY})  # fmt: skip
    assert done.stdout.startswith(b"sent 1, skipped 0, refused 0")


def test_the_same_command_sends_the_rest_later(tmp_path: Path) -> None:
    events = str(write(tmp_path / "e.jsonl", *(job(f"j{n}") for n in range(40))))
    plan = {"match": '"j20"', "status": 401, "times": 1}
    with Server(tmp_path, plan) as server:
        command = ["send", events, "--to", "marquez", "--url", server.url, "--concurrency", "1",
                   "--progress-file", str(tmp_path / "p")]  # fmt: skip
        first, second = streamt_ol(*command), streamt_ol(*command)
        names = [json.loads(body)["job"]["name"] for body in server.bodies()]
    assert first.stdout == b"sent 20, skipped 0, refused 0, failed 1, not sent 19\n"
    assert second.stdout == b"sent 20, skipped 0, refused 0, sent before 20\n"
    assert sorted(names) == sorted([*(f"j{n}" for n in range(40)), "j20"])


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 200, "headers": {"Content-Type": "text/html; charset=utf-8"}},
        {"status": 201, "headers": {"content-type": "application/xhtml+xml"}},
        {"status": 200, "body": PAGE},
        {"status": 200, "body": "\n  <HTML>"},
        {"status": 200, "body": f"\ufeff{PAGE}"},
        {"status": 200, "body": f"<!-- a proxy -->{PAGE}"},
    ],
)
def test_a_web_page_is_no_acknowledgement(tmp_path: Path, answer: dict[str, Any]) -> None:
    done, requests, _ = send(tmp_path, 5, answer)
    assert (done.returncode, len(requests)) == (1, 1)
    assert done.stdout == b"sent 0, skipped 0, refused 0, failed 1, not sent 4\n"
    assert b"with a web page, which acknowledges nothing" in done.stderr


def test_a_web_page_is_none_for_a_run_either(tmp_path: Path) -> None:
    with Server(tmp_path, {"status": 200, "headers": {"Content-Type": "text/html"}}) as server:
        environment = {
            "OPENLINEAGE__TRANSPORT__TYPE": "http",
            "OPENLINEAGE__TRANSPORT__URL": server.url,
            "OPENLINEAGE__TRANSPORT__ENDPOINT": "/x",
        }
        done = streamt_ol(
            "run", "--job-namespace", "n", "--job-name", "j", "--", "true", environment=environment
        )
    assert done.returncode == 0
    assert b"W112_OPENLINEAGE_EMIT_FAILED" in done.stderr
    assert b"web page" in done.stderr


@pytest.mark.parametrize("asked", ["61", "3600", "9" * 400, "9" * 5000, "date"])
def test_what_is_asked_to_wait_beyond_the_bound_is_not_asked_earlier(
    tmp_path: Path, asked: str
) -> None:
    header = formatdate(time() + 7200, usegmt=True) if asked == "date" else asked
    done, requests, _ = send(tmp_path, 3, {"status": 503, "headers": {"Retry-After": header}})
    assert (done.returncode, len(requests)) == (1, 1)
    assert b"failed 1, not sent 2" in done.stdout
    seconds = {"61": b"61", "3600": b"3,600", "date": b"7,"}.get(asked, b"longer than any bound")
    assert b"the server asks not to be asked again for " + seconds in done.stderr


def test_what_is_asked_within_the_bound_is_waited(tmp_path: Path) -> None:
    plan = {"status": 429, "headers": {"Retry-After": "1"}, "times": 1}
    done, requests, _ = send(tmp_path, 1, plan)
    assert (done.returncode, len(requests)) == (0, 2)
    assert requests[1]["time"] - requests[0]["time"] >= 1


def test_the_same_500_twice_is_permanent_and_its_words_are_shown(tmp_path: Path) -> None:
    """The second answer differs in its time and its trace only; the token is in neither."""
    plans = [
        {"match": '"j0"', "status": 500, "times": 1,
         "body": f'{{"error":"no orchestrator","trace":"0af7651916cd43dd","key":"{KEY}"}}'},
        {"match": '"j0"', "status": 500,
         "body": f'{{"error":"no orchestrator","trace":"11111111aaaaaaaa","key":"{KEY}"}}'},
    ]  # fmt: skip
    done, requests, _ = send(tmp_path, 3, *plans)
    assert (done.returncode, len(requests)) == (1, 4)
    assert done.stdout == b"sent 2, skipped 0, refused 0, failed 1\n"
    assert b"no orchestrator" in done.stderr
    assert KEY.encode() not in done.stderr


def test_a_500_that_passes_is_tried_again(tmp_path: Path) -> None:
    plans = [{"status": 500, "times": 1, "body": "a"}, {"status": 500, "times": 1, "body": "b"}]
    done, requests, _ = send(tmp_path, 1, *plans)
    assert (done.returncode, len(requests)) == (0, 3)


class TestOpenMetadata:
    def sent(self, tmp_path: Path, body: str, *more: str) -> Any:
        events = str(
            write(tmp_path / "e.jsonl", run("r", inputs=refs("a.b.c"), outputs=refs("a.b.d")))
        )
        with Server(tmp_path, {"status": 200, "body": body}) as server:
            return streamt_ol(*more, "send", events, "--to", "openmetadata", "--url", server.url)

    def test_what_did_not_resolve_is_listed(self, tmp_path: Path) -> None:
        said = {
            "status": "partial_success",
            "lineageEdgesCreated": 2,
            "unresolvedDatasets": [{"namespace": "n", "name": "d", "reason": "not found"}],
            "unresolvedJobs": ["ns/job"],
        }
        done = self.sent(tmp_path, json.dumps(said))
        assert done.returncode == 0
        assert done.stderr.decode().splitlines() == [
            "lineage edges created: 2",
            "unresolved dataset: n d not found",
            "unresolved job: ns/job",
        ]

    @pytest.mark.parametrize("number", ["9" * 30, "9" * 5000, "1e400"])
    @pytest.mark.parametrize("more", [(), ("--output", "json")])
    def test_a_number_beyond_any_bound_is_not_understood(
        self, tmp_path: Path, number: str, more: tuple[str, ...]
    ) -> None:
        done = self.sent(tmp_path, f'{{"status":"success","lineageEdgesCreated":{number}}}', *more)
        assert b"Traceback" not in done.stderr
        if number == "9" * 30:
            assert done.returncode == 0


@pytest.mark.parametrize("text", ["\x1b[2J", "\n", "\u2028", "\u202e", "x" * 5000])
@pytest.mark.parametrize("command", ["send", "check"])
def test_no_control_character_of_an_event_reaches_the_terminal(
    tmp_path: Path, text: str, command: str
) -> None:
    """As a facet's name, a job's name, a key and within what a rule quotes."""
    event = job(f"j{text}", **{f"k{text}": 1})
    event["job"]["facets"] = {f"f{text}": {"_producer": text, text: text}}
    twice = json.dumps(event)[:-1] + f", {json.dumps('k' + text)}: 2}}"
    events = str(write(tmp_path / "e.jsonl", event, twice))
    for receiver in ("file", "openmetadata", "datahub"):
        more = {"file": ["--path", str(tmp_path / "out")]}.get(
            receiver, ["--url", "http://127.0.0.1:1"]
        )
        options = ["--for", receiver] if command == "check" else ["--to", receiver, *more]
        done = streamt_ol(command, events, *options, "--refuse-invalid")
        for line in (done.stdout + done.stderr).decode().split("\n"):
            assert line.isprintable(), line
            assert len(line) < 3000


def test_a_refusal_with_an_endless_body_is_a_refusal(tmp_path: Path) -> None:
    raw = "HTTP/1.1 400 Bad\r\nContent-Length: 3000000\r\n\r\n" + "x" * 3_000_000
    done, requests, _ = send(tmp_path, 1, {"kind": "raw", "raw": raw})
    assert (done.returncode, len(requests)) == (1, 1)
    assert done.stdout == b"sent 0, skipped 0, refused 1\n"


def test_503_of_openmetadata_may_be_a_disabled_api(tmp_path: Path) -> None:
    event = run("r", inputs=refs("a.b.c"), outputs=refs("a.b.d"))
    events = str(write(tmp_path / "e.jsonl", event))
    with Server(tmp_path, {"status": 503}) as server:
        done = streamt_ol(
            "send", events, "--to", "openmetadata", "--url", server.url, "--retries", "0"
        )
    assert b"its settings may disable the API" in done.stderr


def test_a_progress_file_of_an_older_release_is_read(tmp_path: Path) -> None:
    events = str(write(tmp_path / "e.jsonl", job("a"), job("b")))
    out, progress = str(tmp_path / "out"), tmp_path / "p"
    command = ["send", events, "--to", "file", "--path", out, "--progress-file", str(progress)]
    streamt_ol(*command)
    progress.write_text(progress.read_text().replace('"event":', '"line":'))
    assert streamt_ol(*command).stdout == b"sent 0, skipped 0, refused 0, sent before 2\n"


@pytest.mark.parametrize(
    "header", ["Content-Length: 9" + "9" * 30, "Transfer-Encoding: chunked\r\n\r\n" + "F" * 30]
)
@pytest.mark.parametrize(
    ("status", "said"),
    [(201, b"sent 1, skipped 0, refused 0"), (422, b"sent 0, skipped 0, refused 1")],
)
def test_a_length_beyond_any_bound_does_not_change_what_the_status_says(
    tmp_path: Path, header: str, status: int, said: bytes
) -> None:
    raw = f"HTTP/1.1 {status} Any\r\n{header}\r\n\r\n{{}}"
    done, requests, _ = send(tmp_path, 1, {"kind": "raw", "raw": raw})
    assert (done.stdout, len(requests)) == (said + b"\n", 1)
