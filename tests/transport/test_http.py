"""The HTTP transport against a server in another process."""

from __future__ import annotations

import os
import socket
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from support.delivery.servers import Server

from streamt_ol.problems import StreamtOlError
from streamt_ol.transport.base import DeliveryError
from streamt_ol.transport.config import read_transport_config

if TYPE_CHECKING:
    from pathlib import Path

    from streamt_ol.transport.base import Transport

EVENT = b'{"eventTime":"2026-10-21T08:00:00Z","job":{"name":"j","namespace":"n"}}'
KEY = "planted-key-4711-never-to-be-seen"


def transport_to(server: Server, **fields: str) -> Transport:
    settings = {"TYPE": "http", "URL": server.url, "ENDPOINT": "/api/v1/lineage"}
    if server.ca_file.exists():
        settings["VERIFY"] = str(server.ca_file)
    settings.update(fields)
    environment = {f"OPENLINEAGE__TRANSPORT__{name}": value for name, value in settings.items()}
    return read_transport_config(environment).open()


def failure(transport: Transport, event: bytes = EVENT) -> DeliveryError:
    with transport, pytest.raises(DeliveryError) as caught:
        transport.emit(event)
    return caught.value


def test_the_bytes_arrive_as_they_are_over_one_connection(tmp_path: Path) -> None:
    with Server(tmp_path) as server, transport_to(server) as transport:
        for number in range(5):
            transport.emit(b'{"n":%d, "x" : "\xc3\xa4"}' % number)
        requests = server.requests()
    assert [r["body"] for r in requests] == [f'{{"n":{n}, "x" : "ä"}}' for n in range(5)]
    assert {r["connection"] for r in requests} == {1}
    assert {r["line"] for r in requests} == {"POST /api/v1/lineage HTTP/1.1"}
    assert requests[0]["headers"]["content-type"] == "application/json"
    assert "authorization" not in requests[0]["headers"]


@pytest.mark.parametrize("framing", ["Content-Length: 4", "Transfer-Encoding: chunked"])
def test_a_body_that_must_not_be_there_is_not_read_as_the_next_answer(
    tmp_path: Path, framing: str
) -> None:
    # A 204 has no body (RFC 9110, section 15.3.5); some servers send one, and a moment later.
    head = f"HTTP/1.1 204 No Content\r\n{framing}\r\n\r\n"
    plan = {"kind": "raw", "raw": head, "stays": True}
    with Server(tmp_path, plan) as server, transport_to(server) as transport:
        transport.emit(EVENT)
        transport.emit(EVENT)
        assert {request["connection"] for request in server.requests()} == {1, 2}


def test_tls_with_a_named_authority_carries_key_and_gzip(tmp_path: Path) -> None:
    fields = {"AUTH": f'{{"type":"api_key","apiKey":"{KEY}"}}', "COMPRESSION": "gzip"}
    with Server(tmp_path, tls="localhost") as server, transport_to(server, **fields) as transport:
        transport.emit(EVENT * 50)
        (request,) = server.requests()
    assert request["headers"]["authorization"] == f"Bearer {KEY}"
    assert request["headers"]["content-encoding"] == "gzip"
    assert request["body"] == (EVENT * 50).decode()
    assert request["raw_size"] < len(EVENT) * 5


def test_an_unknown_authority_is_refused_and_nothing_is_sent(tmp_path: Path) -> None:
    with (
        Server(tmp_path / "a", tls="localhost") as server,
        Server(tmp_path / "b", tls="localhost") as other,
    ):
        error = failure(transport_to(server, VERIFY=str(other.ca_file)))
        by_default = failure(transport_to(server, VERIFY="true"))
        assert server.requests() == []
    assert error.kind == by_default.kind == "tls"


def test_a_certificate_for_another_host_is_refused(tmp_path: Path) -> None:
    with Server(tmp_path, tls="elsewhere.example") as server:
        assert failure(transport_to(server)).kind == "tls"
        assert server.requests() == []


def test_inherited_environment_does_not_decide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a proxy, nor a .netrc, nor OpenSSL's variables."""
    keys = tmp_path / "keys.log"
    (tmp_path / ".netrc").write_text("machine localhost login u password p")
    with Server(tmp_path / "s", tls="localhost") as server, Server(tmp_path / "proxy") as proxy:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
        monkeypatch.setenv("SSLKEYLOGFILE", str(keys))
        monkeypatch.setenv("SSL_CERT_FILE", str(server.ca_file))
        assert failure(transport_to(server, VERIFY="true")).kind == "tls"
        with transport_to(server) as transport:
            transport.emit(EVENT)
        assert proxy.requests() == []
        (request,) = server.requests()
    assert "authorization" not in request["headers"]
    assert not keys.exists()


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_passing_refusal_is_retried_once(tmp_path: Path, status: int) -> None:
    plan = {"status": status, "times": 1}
    retry = {"RETRY": '{"total":1,"backoff_factor":0}'}
    with Server(tmp_path, plan) as server, transport_to(server, **retry) as transport:
        transport.emit(EVENT)
        assert len(server.requests()) == 2


def test_there_is_never_a_second_retry(tmp_path: Path) -> None:
    with Server(tmp_path, {"status": 503}) as server:
        error = failure(transport_to(server, RETRY='{"backoff_factor":0}'))
        assert len(server.requests()) == 2
    assert (error.kind, error.status) == ("status", 503)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_a_lasting_refusal_is_not_retried(tmp_path: Path, status: int) -> None:
    with Server(tmp_path, {"status": status, "body": "because"}) as server:
        error = failure(transport_to(server))
        assert len(server.requests()) == 1
    assert error.status == status
    assert str(error) == f"the server answered {status}: because"


def test_no_retry_when_the_configuration_says_so(tmp_path: Path) -> None:
    with Server(tmp_path, {"status": 503}) as server:
        failure(transport_to(server, RETRY='{"total":0}'))
        assert len(server.requests()) == 1


def test_a_redirect_is_a_refusal(tmp_path: Path) -> None:
    with (
        Server(tmp_path / "b") as target,
        Server(tmp_path / "a", {"status": 307, "headers": {"Location": "@"}}) as server,
    ):
        error = failure(transport_to(server))
        assert target.requests() == []
    assert error.status == 307
    assert "redirects are not followed" in str(error)


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("https://sso.example/sign-in?state=hunter2#hunter2", " (to https://sso.example/sign-in)"),
        ("/api/v1/lineage/", " (to /api/v1/lineage/)"),
        ("https://user:hunter2@sso.example/", " (to https://***@sso.example/)"),
        ("/accept/the-key-of-this-test/x", " (to /accept/***)"),
        ("?token=hunter2", ""),
        ("", ""),
    ],
)
def test_a_redirect_says_where_to_without_secrets(
    tmp_path: Path, location: str, shown: str
) -> None:
    key = '{"type":"api_key","api_key":"the-key-of-this-test"}'
    with Server(tmp_path, {"status": 302, "headers": {"Location": location}}) as server:
        error = failure(transport_to(server, AUTH=key))
    assert str(error).startswith(f"the server answered 302; redirects are not followed{shown}")
    assert ("(to " in str(error)) == bool(shown)
    assert "hunter2" not in str(error)


def test_a_plain_server_behind_an_https_address_is_told(tmp_path: Path) -> None:
    def answer() -> None:
        """Answer as a web server does to what is no request."""
        connection, _ = listener.accept()
        with connection:
            connection.recv(1)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener, Server(tmp_path) as server:
        answering = threading.Thread(target=answer)
        answering.start()
        port = listener.getsockname()[1]
        error = failure(transport_to(server, URL=f"https://127.0.0.1:{port}"))
        answering.join()
    assert error.kind == "tls"
    assert str(error).endswith("; the server seems to speak plain http there")


@pytest.mark.parametrize(
    ("plan", "kind"),
    [
        pytest.param({"kind": "raw", "raw": "SSH-2.0-OpenSSH\r\n"}, "protocol", id="garbage"),
        pytest.param(
            {"kind": "raw", "raw": "HTTP/1.1 103 Early\r\nx: " + "y" * 200_000}, "protocol",
            id="endless header of an interim answer",
        ),
        pytest.param({"kind": "drop", "raw": ""}, "broken", id="no answer"),
        pytest.param({"kind": "drop", "raw": "HTTP/1.1 20"}, "broken", id="half a head"),
        pytest.param(
            {"kind": "drop", "raw": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"}, "broken",
            id="half a body",
        ),
        pytest.param({"kind": "reset"}, "broken", id="reset"),
        pytest.param(
            {"kind": "raw", "raw": "HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"},
            "protocol", id="upgrade",
        ),
    ],
)  # fmt: skip
def test_a_broken_answer_is_no_acknowledgement(
    tmp_path: Path, plan: dict[str, Any], kind: str
) -> None:
    with Server(tmp_path, plan) as server:
        error = failure(transport_to(server, RETRY='{"total":0}'))
    assert error.kind == kind
    begun = kind == "broken" and "\r\n\r\n" in plan.get("raw", "")
    assert ("before the end of its answer 200" in str(error)) == begun


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param({"kind": "hang"}, id="silence"),
        pytest.param({"kind": "drip", "seconds": 0.1}, id="a byte now and then"),
    ],
)
def test_the_deadline_is_for_all_of_a_request(tmp_path: Path, plan: dict[str, Any]) -> None:
    with Server(tmp_path, plan) as server:
        begin = time.monotonic()
        error = failure(transport_to(server, TIMEOUT="0.5"))
        seconds = time.monotonic() - begin
    assert error.kind == "timeout"
    assert seconds < 4  # far below what the server would take; not a measure of speed


LARGE = "y" * 200_000
NINES = "9" * 5000


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param({"kind": "endless"}, id="endless body"),
        pytest.param({"status": 201, "body": "x" * 2_000_000}, id="large body"),
        pytest.param({"status": 201, "headers": {"x": LARGE}}, id="large header"),
        pytest.param({"kind": "raw", "raw": f"HTTP/1.1 200 OK\r\nx: {LARGE}"}, id="half a header"),
        pytest.param({"kind": "raw", "raw": f"HTTP/1.1 200 \r\nContent-Length: {NINES}\r\n\r\n"},
                     id="length beyond any bound"),
        pytest.param({"kind": "raw", "raw": "HTTP/1.1 200 \r\nContent-Length: -1\r\n\r\n"},
                     id="length below zero"),
        pytest.param({"kind": "raw", "raw": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                      + "f" * 300 + "\r\n"}, id="chunk beyond any bound"),
        pytest.param({"kind": "raw", "stays": True,
                      "raw": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"}, id="no end in time"),
    ],
)  # fmt: skip
def test_a_status_of_success_stands_whatever_follows_it(
    tmp_path: Path, plan: dict[str, Any]
) -> None:
    with Server(tmp_path, plan) as server:
        with transport_to(server, RETRY='{"total":0}', TIMEOUT="1") as transport:
            transport.emit(EVENT)
            transport.emit(EVENT)
        assert [r["connection"] for r in server.requests()] == [1, 2]


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({"status": 400, "headers": {"x": LARGE}}, "its headers are larger than 64 KiB"),
        ({"status": 400, "body": "x" * 2_000_000}, "it is larger than 1024 KiB"),
    ],
    ids=["header", "body"],
)
def test_a_status_of_refusal_stands_whatever_follows_it(
    tmp_path: Path, plan: dict[str, Any], said: str
) -> None:
    with Server(tmp_path, plan) as server:
        error = failure(transport_to(server))
        assert len(server.requests()) == 1
    assert (error.kind, error.status) == ("status", 400)
    assert str(error).startswith("the server answered 400")
    assert str(error).endswith(f"the answer is not understood: {said}")


def test_an_interim_answer_is_waited_through(tmp_path: Path) -> None:
    raw = "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"
    plan = {"kind": "raw", "raw": raw, "stays": True}
    with Server(tmp_path, plan) as server, transport_to(server) as transport:
        transport.emit(EVENT)
        transport.emit(EVENT)
        assert {r["connection"] for r in server.requests()} == {1}


def test_an_answer_may_end_with_the_connection(tmp_path: Path) -> None:
    plan = {"kind": "raw", "raw": "HTTP/1.0 200 OK\r\n\r\ndone"}
    with Server(tmp_path, plan) as server, transport_to(server) as transport:
        transport.emit(EVENT)
        transport.emit(EVENT)
        assert [r["connection"] for r in server.requests()] == [1, 2]


@pytest.mark.parametrize("tls", [None, "localhost"])
def test_a_tls_connection_is_kept_through_its_session_tickets(
    tmp_path: Path, tls: str | None
) -> None:
    with Server(tmp_path, tls=tls) as server, transport_to(server) as transport:
        for _ in range(4):
            transport.emit(EVENT)
            time.sleep(0.02)
        assert {r["connection"] for r in server.requests()} == {1}


@pytest.mark.parametrize("tls", [None, "localhost"])
def test_a_connection_that_was_closed_while_idle_is_opened_again(
    tmp_path: Path, tls: str | None
) -> None:
    with Server(tmp_path, {"status": 201, "close": True}, tls=tls) as server:
        with transport_to(server, RETRY='{"total":0}') as transport:
            for _ in range(3):
                transport.emit(EVENT)
                time.sleep(0.05)
        assert [r["connection"] for r in server.requests()] == [1, 2, 3]


def test_a_refusal_before_the_end_of_a_large_body_is_heard(tmp_path: Path) -> None:
    plan = {"match": "EARLY", "status": 413, "body": "too large", "close": True}
    with Server(tmp_path, plan) as server:
        error = failure(transport_to(server, RETRY='{"total":0}'), b"x" * 8_000_000)
    # The reset that follows may overtake the answer; silence about the event never may.
    assert error.status == 413 or error.kind == "broken"


def test_nobody_listens(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with Server(tmp_path) as server:
        error = failure(transport_to(server, URL=f"http://127.0.0.1:{port}"))
    assert error.kind == "connect"


def test_an_echoed_key_is_not_shown(tmp_path: Path) -> None:
    plan = {"status": 401, "body": f'{{"you sent": "Bearer {KEY}", "bare": "{KEY}"}}'}
    fields = {"AUTH__TYPE": "api_key", "AUTH__APIKEY": KEY}
    with Server(tmp_path, plan) as server:
        error = failure(transport_to(server, **fields))
    assert KEY not in str(error) + repr(error) + error.excerpt
    assert error.status == 401


@pytest.mark.parametrize(
    "echo",
    ["{key}", "{key}!", "x{key}", "{key:.20}", "{quoted}", "{slashed}", "token {key} and {key}"],
)
def test_a_key_is_masked_in_every_spelling(tmp_path: Path, echo: str) -> None:
    key = "planted/key+4711=never/to/be/seen"
    said = echo.format(key=key, quoted=quote(key, safe=""), slashed=key.replace("/", r"\/"))
    plan = {"status": 401, "body": f"<{said}> is no key"}
    with Server(tmp_path, plan) as server:
        error = failure(transport_to(server, AUTH__TYPE="api_key", AUTH__APIKEY=key))
    assert "planted" not in str(error)
    assert "never" not in str(error)
    assert "is no key" in str(error)


def test_an_excerpt_is_bounded_and_on_one_line(tmp_path: Path) -> None:
    plan = {"status": 400, "body": "\x1b[31mred\r\n" * 1000}
    with Server(tmp_path, plan) as server:
        error = failure(transport_to(server))
    assert len(str(error)) < 400
    assert str(error).isprintable()


def test_a_closed_transport_takes_nothing(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        transport = transport_to(server)
        transport.close()
        transport.close()
        assert failure(transport).kind == "closed"


def test_a_ca_file_without_an_authority_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("")
    with Server(tmp_path, tls="localhost") as server:
        for name in ("empty.pem", "absent.pem"):
            with pytest.raises(StreamtOlError) as caught:
                transport_to(server, VERIFY=str(tmp_path / name))
            assert caught.value.location == "transport.verify"


@pytest.mark.parametrize("before", ["", "# café\n"], ids=["plain", "comment"])
def test_a_ca_file_may_have_comments_and_come_through_a_pipe(tmp_path: Path, before: str) -> None:
    with Server(tmp_path, tls="localhost") as server:
        pipe = tmp_path / "ca"
        os.mkfifo(pipe)
        text = before + server.ca_file.read_text()
        writer = threading.Thread(target=pipe.write_text, args=(text,))
        writer.start()
        with transport_to(server, VERIFY=str(pipe)) as transport:
            transport.emit(EVENT)
        writer.join()
        assert len(server.requests()) == 1


def test_a_ca_file_that_is_a_device_or_too_large_is_refused(tmp_path: Path) -> None:
    large = tmp_path / "large.pem"
    large.write_bytes(b"#" * ((4 << 20) + 1))
    with Server(tmp_path, tls="localhost") as server:
        for name, reason in (("/dev/zero", "it is a device"), (str(large), "larger than 4 MiB")):
            with pytest.raises(StreamtOlError, match=reason) as caught:
                transport_to(server, VERIFY=name)
            assert caught.value.location == "transport.verify"
