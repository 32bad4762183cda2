"""The configuration of a transport: what is taken, and that what is refused is named."""

from __future__ import annotations

import copy
import json
import logging
import os
import pickle
import threading
from typing import TYPE_CHECKING, Any

import pytest

from streamt_ol.problems import StreamtOlError
from streamt_ol.transport.address import Address
from streamt_ol.transport.config import FileConfig, HttpConfig, read_transport_config
from streamt_ol.transport.credentials import Secret
from streamt_ol.transport.http_settings import RetryConfig

if TYPE_CHECKING:
    from pathlib import Path

KEY = "planted-key-4711-never-to-be-seen"
HTTP = {"type": "http", "url": "https://lineage.example", "endpoint": "/api/v1/lineage"}

# As printed in the documentation of OpenMetadata, with a value in the place of the token's name.
OPENMETADATA = f"""\
transport:
  type: http
  url: https://your-company.open-metadata.org
  endpoint: /api/v1/openlineage/lineage
  auth:
    type: api_key
    api_key: "{KEY}"
"""
# As printed in TrueWatch's documentation, with values in the place of the names in brackets.
TRUEWATCH = {
    "OPENLINEAGE__TRANSPORT__TYPE": "http",
    "OPENLINEAGE__TRANSPORT__URL": "https://openway.truewatch.com",
    "OPENLINEAGE__TRANSPORT__ENDPOINT": "/v1/write/openlineage",
    "OPENLINEAGE__TRANSPORT__AUTH__TYPE": "api_key",
    "OPENLINEAGE__TRANSPORT__AUTH__APIKEY": KEY,
    "OPENLINEAGE__TRANSPORT__COMPRESSION": "gzip",
    "OPENLINEAGE__TRANSPORT__RETRY": '{"total":5,"connect":5,"read":5,"backoff_factor":0.3,'
    '"status_forcelist":[429,500,502,503,504],"allowed_methods":["POST"]}',
}


def variables(section: dict[str, Any]) -> dict[str, str]:
    return {"OPENLINEAGE__TRANSPORT": json.dumps(section)}


def http(**fields: Any) -> HttpConfig:
    config = read_transport_config(variables({**HTTP, **fields}))
    assert isinstance(config, HttpConfig)
    return config


def refusal(environment: dict[str, str]) -> StreamtOlError:
    with pytest.raises(StreamtOlError) as caught:
        read_transport_config(environment)
    assert caught.value.code == "E506_OPENLINEAGE_INVALID"
    assert KEY not in str(caught.value) + repr(caught.value) + str(caught.value.suggestion)
    return caught.value


def refused_file(tmp_path: Path, content: bytes) -> StreamtOlError:
    path = tmp_path / "openlineage.yml"
    path.write_bytes(content)
    return refusal({"OPENLINEAGE_CONFIG": str(path)})


def test_the_file_that_openmetadata_prints_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "openlineage.yml"
    path.write_text(OPENMETADATA)
    config = read_transport_config({"OPENLINEAGE_CONFIG": str(path)})
    assert config == HttpConfig(
        Address("https", "your-company.open-metadata.org", 443, "/api/v1/openlineage/lineage"),
        headers=(("Authorization", Secret(f"Bearer {KEY}")),),
    )


def test_what_truewatch_prints_is_refused_for_its_five_retries_and_nothing_else() -> None:
    assert refusal(TRUEWATCH).location == "transport.retry.total"
    retry = TRUEWATCH["OPENLINEAGE__TRANSPORT__RETRY"].replace('"total":5', '"total":1')
    config = read_transport_config(TRUEWATCH | {"OPENLINEAGE__TRANSPORT__RETRY": retry})
    assert config == HttpConfig(
        Address("https", "openway.truewatch.com", 443, "/v1/write/openlineage"),
        gzip=True,
        headers=(("Authorization", Secret(f"Bearer {KEY}")),),
        retry=RetryConfig(1, 1, 1, 0.3, frozenset({429, 500, 502, 503, 504})),
    )


def test_variables_lie_on_top_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "openlineage.yml"
    path.write_text(OPENMETADATA)
    config = read_transport_config(
        {
            "OPENLINEAGE_CONFIG": str(path),
            "OPENLINEAGE__TRANSPORT__ENDPOINT": "/other",
            "OPENLINEAGE__TRANSPORT__AUTH__APIKEY": "another",
        }
    )
    assert isinstance(config, HttpConfig)
    assert config.address.target == "/other"
    assert config.headers == (("Authorization", Secret("Bearer another")),)


def test_a_configuration_may_be_mounted_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "data.yml").write_text(OPENMETADATA)
    (tmp_path / "openlineage.yml").symlink_to("data.yml")
    linked = read_transport_config({"OPENLINEAGE_CONFIG": str(tmp_path / "openlineage.yml")})
    direct = read_transport_config({"OPENLINEAGE_CONFIG": str(tmp_path / "data.yml")})
    assert linked == direct


def test_a_key_of_digits_stays_text() -> None:
    name = "OPENLINEAGE__TRANSPORT__AUTH__APIKEY"
    for key in ("0012345678901234567890", "1e5", "true", "null"):
        config = read_transport_config(
            TRUEWATCH | {"OPENLINEAGE__TRANSPORT__RETRY": "{}", name: key}
        )
        assert isinstance(config, HttpConfig)
        assert config.headers == (("Authorization", Secret(f"Bearer {key}")),)


def test_file_transport() -> None:
    for append in ({}, {"append": True}):
        section = {"type": "file", "log_file_path": "events.jsonl", **append}
        assert read_transport_config(variables(section)) == FileConfig("events.jsonl")


@pytest.mark.parametrize(
    ("url", "endpoint", "expected"),
    [
        ("https://h.example", "/api/v1/lineage", "https://h.example/api/v1/lineage"),
        ("https://h.example/", "api/v1/lineage", "https://h.example/api/v1/lineage"),
        ("https://h.example/base/", "api/v1/lineage", "https://h.example/base/api/v1/lineage"),
        ("https://h.example:8443", "x", "https://h.example:8443/x"),
        ("https://H.Example:443", "x", "https://h.example/x"),
        ("https://[2001:db8::1]:8443", "x", "https://[2001:db8::1]:8443/x"),
        ("http://127.0.0.1:5000", "x", "http://127.0.0.1:5000/x"),
        ("http://127.8.8.8", "x", "http://127.8.8.8/x"),
        ("http://localhost:5000", "x", "http://localhost:5000/x"),
        ("http://[::1]:5000", "x", "http://[::1]:5000/x"),
    ],
)
def test_url_and_endpoint(url: str, endpoint: str, expected: str) -> None:
    assert http(url=url, endpoint=endpoint).address.url == expected


PLAIN = [
    "http://marquez:5000", "http://datakit.datakit.svc:9529", "http://10.0.0.7:15000",
    "http://localhost.example", "http://127.0.0.1.example", "http://[::2]", "http://0.0.0.0",
]  # fmt: skip


@pytest.mark.parametrize("url", PLAIN)
def test_plain_http_needs_no_encryption_without_a_credential(url: str) -> None:
    config = http(url=url)
    assert config.address.url == f"{url}/api/v1/lineage"
    assert config.is_unencrypted


@pytest.mark.parametrize("url", PLAIN)
@pytest.mark.parametrize(
    "credential", [{"auth": {"type": "api_key", "api_key": KEY}}, {"custom_headers": {"X-T": KEY}}]
)
def test_a_credential_is_refused_over_plain_http(url: str, credential: dict[str, Any]) -> None:
    fields = variables({**HTTP, "url": url, **credential})
    assert refusal(fields).location == "transport.url"
    allowed = read_transport_config(fields, allows_plain_http=True)
    assert allowed.is_unencrypted


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:5000", "http://[::1]", "http://localhost", "http://localhost.:5000",
     "http://127.0.0.2", "http://[::ffff:127.0.0.1]:5000"],
)  # fmt: skip
def test_a_credential_goes_to_loopback(url: str) -> None:
    assert not http(url=url, auth={"type": "api_key", "api_key": KEY}).is_unencrypted


@pytest.mark.parametrize("key", [f"Bearer {KEY}", f"bearer  {KEY}"])
def test_a_key_that_names_its_scheme_is_refused(key: str) -> None:
    error = refusal(variables({**HTTP, "auth": {"type": "api_key", "api_key": key}}))
    assert error.location == "transport.auth.api_key"
    assert error.suggestion == "give the token alone: Bearer is added"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(
            ("url", url)
            for url in (
                "", "lineage.example", "ftp://lineage.example", "https://", "https:///x",
                "https://user:planted-key-4711-never-to-be-seen@lineage.example",
                "https://planted-key-4711-never-to-be-seen@lineage.example", "https://@lineage.example",
                "https://lineage.example?token=planted-key-4711-never-to-be-seen",
                "https://lineage.example#x", "https://lineage.example?", "https://a b", "https://a\tb",
                "https://lineage.example:0", "https://lineage.example:70000",
                "https://lineage.example:x", "https://lineage.example:", "https://[::1",
                "https://[v1.x]", "https://lin[eage", "https://ünicode.example", "https://a\\b",
                "https://lineage.example/base", "https://lineage.example/base/", 5, None,
            )
        ),
        *(
            ("endpoint", endpoint)
            for endpoint in (
                "", "//evil.example/x", "https://evil.example/x", "/x?token=1", "/x#y", "/a b",
                "/../x", "a/./b", "/x\r\nEvil: 1", "\\\\evil", "mailto:x", None, 7,
            )
        ),
        *(("timeout", timeout) for timeout in (0, -1, 5.01, 60, "5", True, None, "")),
        *(("verify", verify) for verify in (False, "false", "False", "no", "0", "", 0, None)),
        *(("compression", compression) for compression in ("deflate", True, "", 0)),
        ("auth", "key"), ("auth.type", {"type": "jwt"}), ("auth.type", {"type": "my.Provider"}),
        ("auth.type", {"api_key": KEY}), ("auth.api_key", {"type": "api_key"}),
        ("auth.api_key", {"type": "api_key", "api_key": ""}),
        ("auth.api_key", {"type": "api_key", "api_key": "x", "apiKey": KEY}),
        ("auth.api_key", {"type": "api_key", "api_key": KEY + "\r\nEvil: 1"}),
        ("auth.api_key", {"type": "api_key", "api_key": KEY + "ü"}),
        ("auth.api_key", {"type": "api_key", "api_key": 5}),
        ("auth.tokenEndpoint", {"type": "api_key", "api_key": KEY, "tokenEndpoint": "https://x"}),
        ("retry", 1), ("retry.total", {"total": 2}), ("retry.total", {"total": True}),
        ("retry.total", {"total": -1}), ("retry.connect", {"connect": "1"}),
        ("retry.status_forcelist", {"status_forcelist": [200]}),
        ("retry.status_forcelist", {"status_forcelist": 500}),
        ("retry.allowed_methods", {"allowed_methods": "POST"}),
        ("retry.backoff_factor", {"backoff_factor": -1}), ("retry.jitter", {"jitter": 1}),
        ("custom_headers", []), ("custom_headers.Host", {"Host": "x"}),
        ("custom_headers.content-length", {"content-length": "1"}),
        ("custom_headers.a b", {"a b": "x"}), ("custom_headers.X", {"X": "a\nb"}),
        ("custom_headers.X", {"X": 1}), ("custom_headers", {"X": "1", "x": "2"}),
        ("session", None), ("adapter", {}), ("name", "x"), ("priority", 1), ("unknown", KEY),
    ],
)  # fmt: skip
def test_a_refused_field_is_named(field: str, value: Any) -> None:
    top = field.partition(".")[0]
    assert refusal(variables({**HTTP, top: value})).location == f"transport.{field}"


def test_the_authorization_header_is_not_given_twice() -> None:
    section = {
        **HTTP,
        "auth": {"type": "api_key", "api_key": KEY},
        "custom_headers": {"authorization": f"Bearer {KEY}"},
    }
    assert refusal(variables(section)).location == "transport.custom_headers"


@pytest.mark.parametrize(
    "kind",
    ["console", "kafka", "composite", "async_http", "noop", "transform", "datazone", "HTTP", "",
     "openlineage.client.transport.http.HttpTransport", None, 5, ["http"]],
)  # fmt: skip
def test_other_transports_are_refused(kind: Any) -> None:
    assert refusal(variables({**HTTP, "type": kind})).location == "transport.type"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("append", False), ("append", "true"), ("log_file_path", ""), ("log_file_path", None),
        ("log_file_path", "s3://bucket/x"), ("log_file_path", "a\0b"), ("storage_options", {}),
        ("filesystem", "x.Y"), ("fs_kwargs", {}), ("debug_mode", False), ("url", "https://x"),
    ],
)  # fmt: skip
def test_a_refused_field_of_the_file_transport_is_named(field: str, value: Any) -> None:
    section = {"type": "file", "log_file_path": "x", field: value}
    assert refusal(variables(section)).location == f"transport.{field}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENLINEAGE_DISABLED", "true"),
        ("OPENLINEAGE_DISABLED", " TRUE "),
        ("OPENLINEAGE_URL", "https://lineage.example"),
        ("OPENLINEAGE_API_KEY", KEY),
        ("OPENLINEAGE_ENDPOINT", "x"),
        ("OPENLINEAGE__FILTERS", "[]"),
        ("OPENLINEAGE__FACETS__ENVIRONMENT_VARIABLES", '["HOME"]'),
        ("OPENLINEAGE__TAGS__JOB", "{}"),
        ("OPENLINEAGE__DATASET__DISABLED_TRIMMERS", "x"),
        ("OPENLINEAGE__TRANSPORT", "http"),
        ("OPENLINEAGE__TRANSPORT", "[]"),
        ("OPENLINEAGE__TRANSPORT__", "x"),
        ("OPENLINEAGE__", "x"),
        ("OPENLINEAGE__TRANSPORT__TYPE__X", "x"),
        ("OPENLINEAGE__TRANSPORT__type", "http"),
        ("OPENLINEAGE__TRANSPORT__RETRY", '{"total":1,"total":0}'),
        ("OPENLINEAGE__TRANSPORT__RETRY", "[" * 60_000),
        ("OPENLINEAGE__TRANSPORT__RETRY", "1" * 70_000),
        ("OPENLINEAGE__TRANSPORT__RETRY", "1" * 5_000),
        ("OPENLINEAGE__TRANSPORT__RETRY__TOTAL", "1" * 5_000),
        ("OPENLINEAGE__TRANSPORT", '{"timeout": %s}' % ("1" * 5_000)),
    ],
)
def test_a_refused_variable_is_named(name: str, value: str) -> None:
    environment = {
        "OPENLINEAGE__TRANSPORT__TYPE": "file",
        "OPENLINEAGE__TRANSPORT__LOG_FILE_PATH": "x",
    }
    found = refusal({**environment, name: value}).location
    # Of two spellings of one field, one of the two is named.
    assert found is not None
    assert found.upper() == name.upper()


def test_other_variables_do_not_matter() -> None:
    config = read_transport_config(
        {
            **variables(HTTP),
            "OPENLINEAGE_DISABLED": "false",
            "OPENLINEAGE_NAMESPACE": "ns",
            "OPENLINEAGE_URL": "",
            "HTTPS_PROXY": "http://proxy.example",
        }
    )
    assert isinstance(config, HttpConfig)


def test_without_configuration_there_is_no_default() -> None:
    assert refusal({}).location == "transport"
    assert refusal({"OPENLINEAGE_CONFIG": ""}).location == "transport"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"transport: {type: file, log_file_path: \xff}", id="not UTF-8"),
        pytest.param(b"# " + b"x" * (1 << 20), id="more than 1 MiB"),
        pytest.param(b"transport:\n  auth: " + b"[" * 33 + b"]" * 33, id="33 levels"),
        pytest.param(b"[" * 60000, id="60000 levels, unfinished"),
        pytest.param(b"transport: &a {type: file}\nx: *a", id="alias"),
        pytest.param(b"transport: &a {type: file, log_file_path: x}", id="anchor"),
        pytest.param(b"transport: {type: file, log_file_path: x, type: http}", id="twice"),
        pytest.param(b"transport: {type: file, <<: {log_file_path: x}}", id="merge"),
        pytest.param(b"transport: {type: file, 1: x}", id="a number as key"),
        pytest.param(b"transport: {type: file, ? [a] : x}", id="a list as key"),
        pytest.param(b"transport: !!python/object/apply:os.system [x]", id="tag"),
        pytest.param(b"transport: {}\n---\ntransport: {}", id="two documents"),
        pytest.param(b"transport: {type: file", id="unfinished"),
        pytest.param(b"transport: {when: 2026-13-45}", id="no date"),
        pytest.param(b"", id="empty"),
        pytest.param(b"[transport]", id="a list"),
        pytest.param(b"just text", id="text"),
    ],
)
def test_a_refused_file(tmp_path: Path, content: bytes) -> None:
    assert refused_file(tmp_path, content).location == "OPENLINEAGE_CONFIG"


def test_utf_16_is_called_by_its_name(tmp_path: Path) -> None:
    error = refused_file(tmp_path, OPENMETADATA.encode("utf-16"))
    assert "it is not UTF-8 but UTF-16" in error.message


def test_a_broken_file_does_not_show_its_lines(tmp_path: Path) -> None:
    error = refused_file(tmp_path, f"transport:\n  api_key: {KEY}: {KEY}\n\t{KEY}".encode())
    assert KEY not in repr(error.record())


@pytest.mark.parametrize("section", ["facets", "tags", "filters", "dataset", "other"])
def test_other_sections_are_refused(tmp_path: Path, section: str) -> None:
    content = f"{section}: {{}}\n{OPENMETADATA}".encode()
    assert refused_file(tmp_path, content).location == section


def test_a_file_that_is_none(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent", "/dev/zero"):
        assert refusal({"OPENLINEAGE_CONFIG": str(path)}).location == "OPENLINEAGE_CONFIG"


def test_a_named_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "fifo"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(OPENMETADATA,))
    writer.start()
    found = read_transport_config({"OPENLINEAGE_CONFIG": str(pipe)})
    writer.join()
    (tmp_path / "file").write_text(OPENMETADATA)
    assert found == read_transport_config({"OPENLINEAGE_CONFIG": str(tmp_path / "file")})


class TestSecret:
    """No way of showing a value shows a secret."""

    def test_it_shows_nothing(self) -> None:
        secret = Secret(KEY)
        config = http(
            auth={"type": "api_key", "api_key": KEY}, custom_headers={"X-Other": KEY + "2"}
        )
        ways = [
            repr(secret), str(secret), f"{secret}", f"{secret:>40}", f"{secret!r}", "%s" % secret,  # noqa: UP031
            repr(config), str(config), str(config._asdict()), repr(tuple(config)),
            repr(copy.deepcopy(config)), repr(copy.copy(secret)), repr({"a": [secret]}),
            logging.LogRecord("n", 10, "p", 1, "%s", (secret,), None).getMessage(),
            repr(secret.__reduce__) , repr(dir(secret)),
        ]  # fmt: skip
        assert all(KEY not in way for way in ways)
        assert secret.reveal() == KEY

    def test_it_is_not_serialized(self) -> None:
        secret = Secret(KEY)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match="cannot be pickled"):
                pickle.dumps(secret, protocol)
        with pytest.raises(TypeError):
            json.dumps(secret)
        with pytest.raises(TypeError):
            vars(secret)

    def test_it_does_not_change_and_compares_by_value(self) -> None:
        secret = Secret(KEY)
        with pytest.raises(AttributeError):
            setattr(secret, "other", 1)  # noqa: B010
        assert secret == Secret(KEY)
        assert secret != Secret("other")
        assert len({secret, Secret(KEY)}) == 1
