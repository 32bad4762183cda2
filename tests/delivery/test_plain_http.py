"""Plain http: without a credential allowed, with a warning; with one only where it is asked for.

The server listens on loopback only; ``0.0.0.0`` is an address by which this machine is reached
too, and not one of its loopback addresses.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands import streamt_ol
from support.delivery.events import job, write
from support.delivery.servers import Server

KEY = "planted-key-4711-never-to-be-seen"
WARNING = b"W113_OPENLINEAGE_UNENCRYPTED: events go over plain http to another machine"
CONFIG = {"OPENLINEAGE__TRANSPORT__TYPE": "http", "OPENLINEAGE__TRANSPORT__ENDPOINT": "/x"}


def test_without_a_credential_events_go_with_one_warning(tmp_path: Path) -> None:
    events = write(tmp_path / "e.jsonl", job("a"), job("b"))
    with Server(tmp_path) as server:
        url = f"http://0.0.0.0:{server.port}"
        done = streamt_ol("send", events, "--to", "marquez", "--url", url)
        assert server.count() == 2
    assert (done.returncode, done.stdout) == (0, b"sent 2, skipped 0, refused 0\n")
    assert done.stderr.startswith(WARNING)
    assert done.stderr.count(b"\n") == 1


def test_the_envelope_holds_the_warning(tmp_path: Path) -> None:
    events = str(write(tmp_path / "e.jsonl", job("a")))
    with Server(tmp_path) as server:
        url = f"http://0.0.0.0:{server.port}"
        done = streamt_ol("--output", "json", "send", events, "--to", "marquez", "--url", url)
    assert done.stderr == b""
    told = json.loads(done.stdout)
    assert [w["code"] for w in told["warnings"]] == ["W113_OPENLINEAGE_UNENCRYPTED"]
    assert told["status"] == "ok"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_is_no_other_machine(tmp_path: Path, host: str) -> None:
    events = str(write(tmp_path / "e.jsonl", job("a")))
    with Server(tmp_path) as server:
        done = streamt_ol(
            "send", events, "--to", "marquez", "--url", f"http://{host}:{server.port}",
            "--token-env", "T", environment={"T": KEY},
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_token_goes_only_where_it_is_allowed_to(tmp_path: Path) -> None:
    events = str(write(tmp_path / "e.jsonl", job("a")))
    with Server(tmp_path) as server:
        command = ["send", events, "--to", "marquez", "--url", f"http://0.0.0.0:{server.port}",
                   "--token-env", "T"]  # fmt: skip
        refused = streamt_ol(*command, environment={"T": KEY})
        assert server.count() == 0
        allowed = streamt_ol(*command, "--allow-plain-http", environment={"T": KEY})
        headers = [request["headers"] for request in server.requests()]
    assert refused.returncode == 2
    assert refused.stderr.startswith(b"E500_USAGE_ERROR --url: a credential is not sent over plain")
    assert b"--allow-plain-http" in refused.stderr
    assert allowed.returncode == 0
    assert allowed.stderr.startswith(WARNING)
    assert [h["authorization"] for h in headers] == [f"Bearer {KEY}"]


def test_the_configured_transport_of_send_and_of_run(tmp_path: Path) -> None:
    events = str(write(tmp_path / "e.jsonl", job("a")))
    run = ["run", "--job-namespace", "n", "--job-name", "j", "--", "true"]
    with Server(tmp_path) as server:
        plain = {**CONFIG, "OPENLINEAGE__TRANSPORT__URL": f"http://0.0.0.0:{server.port}"}
        key = {**plain, "OPENLINEAGE__TRANSPORT__AUTH": f'{{"type":"api_key","api_key":"{KEY}"}}'}
        send = ["send", events, "--to", "config"]
        sent = streamt_ol(*send, environment=plain)
        refused = streamt_ol(*send, environment=key)
        allowed = streamt_ol(*send, "--allow-plain-http", environment=key)
        ran = streamt_ol(*run, environment=plain)
        not_run = streamt_ol(*run, environment=key)
    assert [done.returncode for done in (sent, refused, allowed, ran, not_run)] == [0, 1, 0, 0, 1]
    assert sent.stderr.count(WARNING) == allowed.stderr.count(WARNING) == 1
    assert ran.stderr.count(WARNING) == 1
    assert refused.stderr.startswith(b"E506_OPENLINEAGE_INVALID transport.url: a credential")
    assert not_run.stderr.startswith(b"E506_OPENLINEAGE_INVALID transport.url: a credential")


def test_no_configured_address_is_shown(tmp_path: Path) -> None:
    events = str(write(tmp_path / "e.jsonl", job("a")))
    with Server(tmp_path) as server:
        fields = {**CONFIG, "OPENLINEAGE__TRANSPORT__URL": f"http://127.0.0.1:{server.port}"}
        command = ["--output", "json", "send", events, "--to", "config"]
        for more in ([], ["--dry-run"], ["--progress-file", str(tmp_path / "p")]):
            done = streamt_ol(*command, *more, environment=fields)
            assert done.returncode == 0
            assert str(server.port).encode() not in done.stdout
        assert str(server.port) not in (tmp_path / "p").read_text()
        again = streamt_ol(*command, *more, environment=fields)
        elsewhere = {**fields, "OPENLINEAGE__TRANSPORT__ENDPOINT": "/y"}
        refused = streamt_ol(*command, *more, environment=elsewhere)
    assert json.loads(again.stdout)["data"]["counts"]["acknowledged"] == 1
    assert b"another receiver" in refused.stdout


@pytest.mark.parametrize("token", [f"Bearer {KEY}", f"bearer {KEY}"])
@pytest.mark.parametrize("header", ["bearer", "x-token"])
def test_a_token_that_names_its_scheme_is_refused(token: str, header: str) -> None:
    done = streamt_ol(
        "send", "/dev/null", "--to", "truewatch", "--url", "https://h.example",
        "--token-env", "T", "--token-header", header, environment={"T": token},
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == (
        b"E506_OPENLINEAGE_INVALID --token-env: the token already begins with Bearer\n"
        b"  hint: give the token alone: Bearer is added\n"
    )
