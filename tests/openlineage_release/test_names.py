"""Names and namespaces: "Dataset identity" and "Stable job identity" of the specification."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamt_ol.openlineage import names
from streamt_ol.problems import INVALID, StreamtOlError

UNICODE = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


class TestSegment:
    @pytest.mark.parametrize(
        ("text", "encoded"),
        [
            ("plain", "plain"),
            ("-._~", "-._~"),
            ("a/b", "a%2Fb"),
            ("100%", "100%25"),
            ("a b", "a%20b"),
            ("é", "%C3%A9"),  # U+00E9 is C3 A9 in UTF-8
            ("日", "%E6%97%A5"),
            ("😀", "%F0%9F%98%80"),
            ("\u0000\n", "%00%0A"),
            ("İ", "%C4%B0"),
            ("a+b&c=d:e@f!g*h'(i)", "a%2Bb%26c%3Dd%3Ae%40f%21g%2Ah%27%28i%29"),
        ],
    )
    def test_is_utf8_percent_encoding_with_uppercase_hex(self, text: str, encoded: str) -> None:
        assert names.segment(text) == encoded

    @given(UNICODE)
    def test_keeps_only_unreserved_characters_and_can_be_read_back(self, text: str) -> None:
        encoded = names.segment(text)
        assert re.fullmatch(r"(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})+", encoded)
        assert unquote(encoded, errors="strict") == text

    @given(UNICODE, UNICODE)
    def test_two_texts_never_share_an_encoding(self, one: str, other: str) -> None:
        assert (names.segment(one) == names.segment(other)) == (one == other)

    def test_a_lone_surrogate_has_no_encoding(self) -> None:
        with pytest.raises(UnicodeEncodeError):
            names.segment("a\ud800")


def test_job_names_have_the_segments_of_the_specification() -> None:
    assert names.model_job_name("pay/ments", "a b") == "streamt/pay%2Fments/models/a%20b"
    assert names.command_job_name("pay/ments", "apply") == "streamt/pay%2Fments/commands/apply"


GOOD_ENDPOINTS = [
    "broker.example:9092",
    "localhost:1",
    "h:65535",
    "BROKER_1.Example:9092",
    "10.0.0.7:9092",
    "[::1]:9092",
    "[2001:db8::7]:9092",
    "[::ffff:10.0.0.7]:9092",
    "host:099",
    "host.example.:9092",
]
BAD_ENDPOINTS = [
    "",
    "host",
    "host:",
    ":9092",
    "host:0",
    "host:65536",
    "host:99999",
    "host:9092 ",
    "host:9092\n",
    "host: 9092",
    "host:+9092",
    "host:٩٠٩٢",
    "a:9092,b:9092",
    "a,b:9092",
    "user:pw@host:9092",
    "user@host:9092",
    "SASL_SSL://host:9092",
    "host:9092/",
    "host:9092?x=1",
    "host:9092#f",
    "ho st:9092",
    "-host:9092",
    "host..example:9092",
    ".host:9092",
    "höst:9092",
    "ho%73t:9092",
    "::1:9092",
    "[::1]",
    "[::1]9092",
    "[::g]:9092",
    "[fe80::1%eth0]:9092",
    "[10.0.0.7]:9092",
    "999.0.0.1:9092",
    "1.2.3:9092",
]


class TestDatasetNamespace:
    @pytest.mark.parametrize("endpoint", GOOD_ENDPOINTS)
    def test_one_host_and_port_is_kept_exactly(self, endpoint: str) -> None:
        namespace = f"kafka://{endpoint}"
        assert names.check_dataset_namespace(namespace, "kafka_namespace") == namespace
        assert names.namespace_of_endpoint(f"  {endpoint}\t\n", "here") == namespace

    @pytest.mark.parametrize("endpoint", BAD_ENDPOINTS)
    def test_everything_else_is_refused_at_its_place_without_repeating_it(
        self, endpoint: str
    ) -> None:
        with pytest.raises(StreamtOlError) as explicit:
            names.check_dataset_namespace(f"kafka://{endpoint}", "kafka_namespace")
        assert (explicit.value.code, explicit.value.location) == (INVALID, "kafka_namespace")
        assert "pw" not in str(explicit.value)
        if endpoint == endpoint.strip():
            with pytest.raises(StreamtOlError) as derived:
                names.namespace_of_endpoint(endpoint, "runtime.kafka.bootstrap_servers")
            assert derived.value.location == "runtime.kafka.bootstrap_servers"

    @pytest.mark.parametrize(
        "namespace",
        ["broker:9092", "KAFKA://broker:9092", "http://broker:9092", "kafka:broker:9092",
         "kafka:///broker:9092", "kafka://", " kafka://broker:9092"],
    )  # fmt: skip
    def test_the_scheme_is_kafka(self, namespace: str) -> None:
        with pytest.raises(StreamtOlError):
            names.check_dataset_namespace(namespace, "kafka_namespace")

    @pytest.mark.parametrize("value", [None, 9092, ["broker:9092"], {"host": "broker"}, True])
    def test_only_text_can_be_an_endpoint(self, value: object) -> None:
        with pytest.raises(StreamtOlError):
            names.namespace_of_endpoint(value, "here")


class TestJobNamespace:
    @pytest.mark.parametrize(
        "value",
        [
            "prod",
            "https://lineage.example/ns/prod",
            " a ",
            "日本",
            "abfss://container@account.dfs.core.windows.net",
            "wasbs://c@a.blob.core.windows.net/x",
            "x://u@h",
            "s3://bucket/a@b",
            "s3://bucket:9000/x-token=1/a@b",
            "//h:80/a@b",
            "s3://[::1]:9000/a:b@c",
            "urn:team:data@example.com",
            "mailto:data@example.com",
            "tag:data@example.com,2026:jobs",
            "arn:aws:glue:eu-west-1:1:a@b",
            "data@example.com",
            "host:9092/a@b",
            "raw/x-token=1",
            "raw/year=2026/x-token=1/part-0",
        ],
    )
    def test_any_text_is_kept_exactly(self, value: str) -> None:
        assert names.check_job_namespace(value) == value

    @pytest.mark.parametrize(
        "value",
        [
            "",
            "  ",
            "\t\n",
            "a\udcff",
            "https://user:pw@lineage.example/ns",
            "abfss://container:pw@account.dfs.core.windows.net",
            "x://u%3Apw@h",
            "kafka://pw@broker:9092",
            "https://u:a/pw@h",
            "jdbc:sqlserver://h;password=pw",
            "s3://bucket/x?token=pw",
            "token=pw",
            "jdbc:postgresql://u:pw@h/db",
            " https://u:pw@h",
            "//u:pw@h",
            "https://h/?token=pw",
            "user:pw@host",
            "user:pw@host:9092",
            " user%3Apw@host/path",
            "raw?a/token=pw",
            "a=b/token=pw",
            "u:p/token=pw",
            "token=a/pw",
            "a/b&token=pw",
        ],
    )
    def test_blank_unencodable_and_credentials_are_refused(self, value: str) -> None:
        with pytest.raises(StreamtOlError) as refused:
            names.check_job_namespace(value)
        assert (refused.value.code, refused.value.location) == (INVALID, "job_namespace")
        assert "pw" not in str(refused.value)

    def test_a_long_one_costs_no_more_than_its_length_allows(self) -> None:
        """Would not end in a lifetime if a pattern began anew at each of its characters."""
        for harmless in (
            "//a:" * 1_000_000,
            "a%3a" * 1_000_000,
            "pass" * 1_000_000,
            "-" * 4_000_000,
        ):
            assert names.check_job_namespace(harmless) == harmless
            assert names.check_job_namespace(f"a={harmless}") == f"a={harmless}"
        with pytest.raises(StreamtOlError):
            names.check_job_namespace("pass" * 1_000_000 + "=x")
