"""Whatever a configuration holds, it is taken as the reference reads it, or refused cleanly."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any
from urllib.parse import urljoin, urlsplit

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from streamt_ol.problems import StreamtOlError
from streamt_ol.reading.files import parse_configuration
from streamt_ol.transport.address import parse_address
from streamt_ol.transport.config import read_transport_config

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
plain = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)
# Text that is likely to be YAML, and likely to be a trap.
traps = st.lists(
    st.sampled_from(
        ["transport:", "\n", "  ", "type: http", "&a ", "*a", "!!python/object:x ", "<<: ", "- ",
         "{", "}", "[", "]", ": ", "? ", "|", ">", "---\n", "...", "%YAML 1.1\n", "'", '"', "#",
         "2026-01-01", "1e309", "0x", "=", "\t", "\u2028", "é", "~", "yes", ".inf", ".nan", "1:2"]
    ),
    max_size=14,
).map("".join)  # fmt: skip
urls = st.lists(
    st.sampled_from(
        ["http", "https", "://", ":", "/", "//", "@", "?", "#", "[", "]", "::1", "127.0.0.1", "a",
         "localhost", ".example", "%2f", "..", "\\", " ", "0", "443", "\r\n", "u:p", "é", "0x7f.1"]
    ),
    max_size=9,
).map("".join)  # fmt: skip


def result(text: str) -> Any:
    try:
        return parse_configuration(text, "x")
    except StreamtOlError:
        return StreamtOlError


@settings(max_examples=150)
@given(plain)
def test_plain_values_are_read_as_the_reference_reads_them(value: Any) -> None:
    text = yaml.safe_dump(value)
    found = result(text)
    if found is not StreamtOlError:
        assert repr(found) == repr(yaml.safe_load(text))
    elif isinstance(value, str | int | float | bool | None):
        raise AssertionError("a scalar is never refused")


@settings(max_examples=1000)
@given(traps)
def test_no_text_is_read_in_another_way_than_the_reference_reads_it(text: str) -> None:
    found = result(text)
    if found is not StreamtOlError:
        assert repr(found) == repr(yaml.safe_load(text))


@settings(max_examples=1000)
@given(urls, urls)
def test_an_address_is_where_the_reference_says_it_is(url: str, endpoint: str) -> None:
    try:
        found = parse_address(url, endpoint, url_field="u", endpoint_field="e")
    except StreamtOlError:
        return
    theirs = urlsplit(urljoin(url, endpoint))
    assert (found.scheme, found.host) == (theirs.scheme, theirs.hostname)
    assert found.target == (theirs.path or "/")
    assert "@" not in found.authority
    assert found.target.isascii()
    assert not any(character.isspace() for character in found.target)
    if found.scheme == "http" and not found.is_unencrypted:
        is_name = found.host.removesuffix(".") == "localhost"
        looked_up = socket.gethostbyname("localhost") if is_name else found.host
        assert ipaddress.ip_address(looked_up).is_loopback


@settings(max_examples=300)
@given(st.dictionaries(
    st.sampled_from(["TRANSPORT", "TRANSPORT__TYPE", "TRANSPORT__URL", "TRANSPORT__RETRY",
                     "TRANSPORT__AUTH__APIKEY", "TRANSPORT__AUTH", "TRANSPORT__ENDPOINT"]),
    st.text(alphabet=st.characters(exclude_characters="\0"), max_size=20)
    | st.sampled_from(["http", "file", "{}", '{"total":1}', "https://h", "/x", '{"type":[]}']),
))  # fmt: skip
def test_variables_are_taken_or_refused(variables: dict[str, str]) -> None:
    environment = {f"OPENLINEAGE__{name}": value for name, value in variables.items()}
    refused: StreamtOlError | None = None
    try:
        read_transport_config(environment)
    except StreamtOlError as error:
        refused = error
    assert refused is None or refused.location
