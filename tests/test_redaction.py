"""Text that may reach a diagnostic: no credential, one line, a bounded length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamt_ol.redaction import MASK, name_line, redact, redact_name, shown, shown_path

SECRET = "hunter2hunter2"


@pytest.mark.parametrize(
    "text",
    [
        f"https://user:{SECRET}@host/path",
        f"jdbc:postgresql://u:{SECRET}@db:5432/x",
        f"abfss://name:{SECRET}@account.dfs.core.windows.net",
        f"abfss://name%3A{SECRET}@account",
        f"kafka://{SECRET}@broker:9092",
        f"https://{SECRET}@host/path",
        f"s3://bucket/path?token={SECRET}",
        f"jdbc:sqlserver://h;user=a;password={SECRET}",
        f"https://host/path?a=b&token={SECRET}",
        f"https://host/path;token={SECRET}",
        f"https://u:a/x-token=1/{SECRET}@host",
        f"https://host/p?to=u:{SECRET}@h",
        f"https://host/a:b?to=u:{SECRET}@h",
        f"https://host/p https://u:{SECRET}@h",
        f"https://host/p user:{SECRET}@h",
        f"/password={SECRET}",
        f"user:x /password={SECRET}",
        f"a=b/password={SECRET}",
        f"u:p/password={SECRET}",
        f"x?a/token={SECRET}",
        f"folder/user:{SECRET}@host",
        f"password={SECRET}",
        f"Password: {SECRET}",
        f"'connection.password' = '{SECRET}'",
        f'"api_key": "{SECRET}"',
        f"sasl.jaas.config=org.Plain required username=\"a\" password=\"{SECRET}\";",
        f"Authorization: Bearer {SECRET}",
        f"bearer {SECRET}",
        f"Authorization: Basic {SECRET}==",
        f"AWS_SECRET_ACCESS_KEY={SECRET}",
        f"token => {SECRET}",
        f"?token={SECRET}&x=1",
        f"client-secret:{SECRET}",
        f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----",
        f"-----BEGIN PRIVATE KEY-----\n{SECRET}",
        f"eyJhbGciOi.{SECRET}.sig",
        f"https://user:{SECRET * 40}@host",
        f"https://u:a/{SECRET}@host",
        f"https://user:{SECRET} @host",
        f"user:{SECRET}@host:9092",
        f"PASS={SECRET}",
        f"db_pass: {SECRET}",
        f"password=a,{SECRET}",
        f"password=a {SECRET}",
        f"Authorization: Digest {SECRET}",
        f'{{\\"password\\":\\"{SECRET}\\"}}',
        f"password%3D{SECRET}",
        f"--password {SECRET}",
        f"Cookie: session={SECRET}",
        f"password '{SECRET}' rejected",
        f"scott/{SECRET}@//db",
        f"https://host/path?key={SECRET}",
        f"https://hooks.slack.com/services/T0/{SECRET}",
        f"glpat-{SECRET}",
        f"AIza{SECRET}",
        f"Token {SECRET}",
        f"ApiKey {SECRET}",
        f"ghp_{SECRET}",
        f"xoxb-{SECRET}",
        f"tkn_{SECRET}",
        f"AccountName=a;AccountKey={SECRET}==;EndpointSuffix=core.windows.net",
        f"account_key: {SECRET}",
        f"https://a.blob.core.windows.net/c?sv=2024&sig={SECRET}",
        f"SIG%3D{SECRET}",
        f"https://b.s3.amazonaws.com/k?X-Amz-Signature={SECRET}&x=1",
        f"pw={SECRET}",
        f"'db_pw': '{SECRET}'",
        f"--pw {SECRET}",
    ],
)  # fmt: skip
def test_credentials_are_hidden(text: str) -> None:
    assert SECRET not in redact(text)
    assert SECRET not in redact(f"before {text} after")
    assert SECRET not in shown(text, 500)


@pytest.mark.parametrize(
    "text",
    [
        "orders",
        "a/b",
        "kafka://broker:9092",
        "the token bucket",
        "basics",
        "x = 1",
        "a@b.c",
        "design: x",
        "assigned=1",
        "signal=2",
        "abfss://container@account.dfs.core.windows.net",
        "wasbs://c@a.blob.core.windows.net and abfss://d@b.dfs.core.windows.net/x",
        "jdbc:postgresql://app@db:5432/x",
        "s3://bucket/x-token=1/part-0",
        "s3://bucket/a@b:c/d",
        "kafka://broker:9092/a@b",
        "kafka://[::1]:9092/a@b",
        "gs://bucket/user@example.com/x",
        "http://h/x-token=1",
        "https://h:8443/x-token=1/a@b",
        "http://h/team:a@b/c",
        "s3://bucket/a:b@c",
        "s3://bucket:9000/x/a:b@c/api_key=5",
        "abfss://c@a.dfs.core.windows.net/x/a:b@c",
        "raw/year=2026/x-token=1/part-0",
        "the input 'raw/x-token=1' of http://h/x-token=1 and raw/x-token=2",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("rest", ["", "/_producer", "/0: it is missing"])
def test_a_json_pointer_is_no_path_of_a_file(rest: str) -> None:
    """Each key of an event stands in one, a secret that was taken for a key, too."""
    for before in ("", "line 1 "):
        text = f"{before}/dataset/facets/token=hunter2{rest}"
        assert redact(text) == f"{before}/dataset/facets/token=***"


def test_an_aws_key_id_is_hidden() -> None:
    assert redact("key AKIAIOSFODNN7EXAMPLE used") == "key *** used"


@given(st.text())
def test_shown_text_is_one_bounded_printable_line(text: str) -> None:
    line = shown(text, 40)
    assert line.isprintable()
    assert len(line) <= 2 + 40 * len("\\U0001f600")


def test_shown_text_escapes_and_cuts() -> None:
    assert shown("a\nb\x1b[31m") == "'a\\nb\\x1b[31m'"
    assert shown("x" * 100, 10) == "'xxxxxxxxx…'"
    assert shown("\ud800") == "'\\ud800'"
    assert shown_path("dir/m\n.json") == "dir/m\\n.json"


def test_long_text_costs_no_more_than_its_length_allows() -> None:
    """Would not end in a lifetime if a rule went back and forth over it."""
    for harmless in (
        "a." * 500_000 + "=",
        "password" * 100_000,
        "'" * 200_000,
        "@" + "a:" * 200_000,
        "://" * 100_000 + "@",
    ):
        assert redact(harmless) == harmless
    assert redact("password " * 100_000 + "=hunter2").endswith(MASK)


def test_a_name_that_begins_with_a_slash_is_a_path() -> None:
    assert redact_name("/p/x-token=1/@a") == "/p/x-token=1/@a"
    assert redact_name("/password=hunter2") == "/password=***"
    assert redact_name("s3://user:hunter2@bucket") == "s3://***@bucket"
    assert name_line("/p/x-token=1/\n", 10) == "/p/x-toke…"
