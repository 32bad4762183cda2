"""The configuration of a transport, checked field by field, before anything is opened.

The fields are those of the official Python client (``HttpConfig``, ``FileConfig``), as far
as the specification's "Transport boundary" allows them. A field that is refused is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from streamt_ol.redaction import one_line, shown, shown_path
from streamt_ol.transport.address import USE_HTTPS, check_encrypted, parse_address
from streamt_ol.transport.base import RETRIED_STATUSES
from streamt_ol.transport.credentials import (
    Secret,
    check_header_name,
    check_header_value,
    check_token,
)
from streamt_ol.transport.environment import API_KEY_NAMES, read_transport_section
from streamt_ol.transport.http_settings import (
    MAX_RETRIES,
    MAX_TIMEOUT,
    HttpSettings,
    RetryConfig,
)
from streamt_ol.transport.section import Section, fail, is_count, mapping, only, text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from streamt_ol.transport.base import Deadline, Transport

UNENCRYPTED_MESSAGE = "events go over plain http to another machine, readable on the way"


class FileConfig(NamedTuple):
    """Append each event as one line to ``path``."""

    path: str

    @property
    def is_unencrypted(self) -> bool:
        """Whether what is sent can be read on its way: a file stays here."""
        return False

    @property
    def target(self) -> str:
        """The file's name, safe to show."""
        return f"file {shown_path(self.path)}"

    def workers(self, wanted: int) -> int:  # noqa: ARG002 - one file has one writer
        """Return how many transports may work at a time."""
        return 1

    def open(self, limit: Deadline | None = None) -> Transport:  # noqa: ARG002 - as HttpConfig
        """Open the file, created if need be. Raises ``StreamtOlError``."""
        from streamt_ol.transport.file import FileTransport

        return FileTransport(self.path)


class HttpConfig(HttpSettings):
    """Post each event to ``address``."""

    def workers(self, wanted: int) -> int:
        """Return how many transports may work at a time."""
        return wanted

    def open(self, limit: Deadline | None = None) -> Transport:
        """Read the CA file; the first event opens the connection. Raises ``StreamtOlError``.

        No request lasts beyond ``limit``.
        """
        from streamt_ol.transport.http import HttpTransport

        return HttpTransport(self, limit=limit)


class TransportConfig(Protocol):
    """A configured transport: a row of ``_KINDS`` makes it of the section."""

    @property
    def is_unencrypted(self) -> bool:
        """Whether what is sent can be read on its way."""

    @property
    def target(self) -> str:
        """The destination, safe to show."""

    def workers(self, wanted: int) -> int:
        """Return how many transports may work at a time."""

    def open(self, limit: Deadline | None = None) -> Transport:
        """Open it; no attempt lasts beyond ``limit``. Raises ``StreamtOlError``."""


def read_transport_config(
    environment: Mapping[str, str],
    *,
    allows_plain_http: bool = False,
    plain_http_hint: str = USE_HTTPS,
) -> TransportConfig:
    """Return the one transport that ``environment`` configures, all its fields checked.

    ``allows_plain_http``: whether a credential may go to another machine unencrypted; the hint
    says what to do where it may not.

    Reads ``OPENLINEAGE_CONFIG`` and ``OPENLINEAGE__TRANSPORT...`` (see
    ``streamt_ol.transport.environment``); opens nothing else. Raises ``StreamtOlError`` whose
    location is the field's name, e.g. ``transport.retry.total``, and which shows no value.
    """
    return config_of(
        read_transport_section(environment),
        allows_plain_http=allows_plain_http,
        plain_http_hint=plain_http_hint,
    )


def config_of(
    section: Section, *, allows_plain_http: bool = False, plain_http_hint: str = USE_HTTPS
) -> TransportConfig:
    """Return the transport of a section, all its fields checked; see ``read_transport_config``."""
    kind = section.get("type")
    build = _KINDS.get(kind) if isinstance(kind, str) else None
    if build is None:
        named = f" {shown(kind, 40)}" if isinstance(kind, str) else ""
        fail("type", f"the transport type{named} is not supported: use {_kinds()}")
    config = build(section)
    if isinstance(config, HttpConfig) and config.headers and not allows_plain_http:
        check_encrypted(config.address, "transport.url", plain_http_hint)
    return config


def _file(section: Section) -> FileConfig:
    only(section, "", {"type", "log_file_path", "append"})
    path = text(section, "log_file_path")
    if "://" in path or "\0" in path:
        fail("log_file_path", "the value must be the path of a local file")
    if section.get("append", True) is not True:
        fail("append", "a file is only appended to", "set it to true")
    return FileConfig(path)


def _http(section: Section) -> HttpConfig:
    fields = {"type", "url", "endpoint", "timeout", "verify", "auth", "compression"}
    only(section, "", fields | {"custom_headers", "retry"})
    address = parse_address(
        text(section, "url").strip(),
        text(section, "endpoint"),
        url_field="transport.url",
        endpoint_field="transport.endpoint",
    )
    headers = (*_authorization(section), *_custom_headers(section))
    if len({name.lower() for name, _ in headers}) != len(headers):
        fail("custom_headers", "a header is duplicated")
    compression = section.get("compression")
    if compression not in (None, "gzip"):
        fail("compression", "the value must be gzip, or absent")
    return HttpConfig(
        address=address,
        timeout=_timeout(section),
        ca_file=_verify(section),
        gzip=compression == "gzip",
        headers=headers,
        retry=_retry(section),
    )


_KINDS: dict[str, Callable[[Section], TransportConfig]] = {"http": _http, "file": _file}


def _kinds() -> str:
    """Return the types of transports in words."""
    *first, last = _KINDS
    return f"{', '.join(first)} or {last}"


def _verify(section: Section) -> str | None:
    """Take ``true``, or a CA bundle's path, which the official client hands to its library too."""
    verify = section.get("verify", True)
    if verify is True:
        return None
    if not isinstance(verify, str) or not verify.strip() or "\0" in verify:
        fail("verify", "certificates are always verified", "set it to true or to a CA file")
    if verify.strip().lower() in ("false", "no", "off", "0", "true"):
        fail("verify", "the value is neither true nor the path of a CA file")
    return verify


def _timeout(section: Section) -> float:
    timeout = section.get("timeout", MAX_TIMEOUT)
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        fail("timeout", "the value must be a number of seconds")
    if not 0 < timeout <= MAX_TIMEOUT:
        fail("timeout", f"the value must be more than 0 and at most {MAX_TIMEOUT:g} seconds")
    return float(timeout)


def _authorization(section: Section) -> tuple[tuple[str, Secret], ...]:
    auth = mapping(section, "auth")
    if not auth:
        return ()
    if auth.get("type") != "api_key":
        fail("auth.type", "the only supported authentication is api_key")
    only(auth, "auth.", {"type", *API_KEY_NAMES})
    given = [name for name in API_KEY_NAMES if name in auth]
    if len(given) != 1:
        fail("auth.api_key", "the value must be given, and once")
    key = text(auth, given[0], "auth.")
    check_token(key, f"transport.auth.{given[0]}")
    return (("Authorization", Secret(f"Bearer {key}")),)


def _custom_headers(section: Section) -> tuple[tuple[str, Secret], ...]:
    headers = mapping(section, "custom_headers")
    found = []
    for name, value in sorted(headers.items()):
        place = f"transport.custom_headers.{one_line(str(name), 80)}"
        check_header_name(name, place)
        if not isinstance(value, str):
            fail(place.removeprefix("transport."), "the value must be text")
        check_header_value(value, place)
        found.append((name, Secret(value)))
    return tuple(found)


def _retry(section: Section) -> RetryConfig:
    retry = mapping(section, "retry")
    counts = ("total", "connect", "read")
    only(retry, "retry.", {*counts, "backoff_factor", "status_forcelist", "allowed_methods"})
    total, connect, read = (_count(retry, name) for name in counts)
    if total > MAX_RETRIES:
        fail("retry.total", f"at most {MAX_RETRIES} retry is supported")
    methods = retry.get("allowed_methods", ["POST"])
    if not isinstance(methods, list) or not all(isinstance(m, str) for m in methods):
        fail("retry.allowed_methods", "the value must be a list of names")
    may_repeat = any(method.upper() == "POST" for method in methods)
    statuses = retry.get("status_forcelist", sorted(RETRIED_STATUSES))
    if not isinstance(statuses, list) or not all(
        is_count(s) and s in range(400, 600) for s in statuses
    ):
        fail("retry.status_forcelist", "the value must be a list of numbers from 400 to 599")
    backoff = retry.get("backoff_factor", 0.3)
    if (
        isinstance(backoff, bool)
        or not isinstance(backoff, (int, float))
        or not 0 <= backoff <= MAX_TIMEOUT
    ):
        fail("retry.backoff_factor", f"the value must be a number from 0 to {MAX_TIMEOUT:g}")
    return RetryConfig(
        # A request that got no connection was not made: it may be repeated whatever its method.
        connect=min(total, connect),
        read=min(total, read) if may_repeat else 0,
        status=total if may_repeat else 0,
        backoff=float(backoff),
        statuses=frozenset(statuses),
    )


def _count(retry: Section, name: str) -> int:
    count = retry.get(name, MAX_RETRIES)
    if not is_count(count):
        fail(f"retry.{name}", "the value must be a whole number, 0 or more")
    return int(count)
