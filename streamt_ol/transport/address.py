"""The addresses an HTTP transport may connect to: https, and plain http without a credential.

Implements "the base URL and endpoint are explicit configuration, never generated" and "user
information in a URL is rejected" of the specification's "Transport boundary".
"""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from streamt_ol.redaction import shown
from streamt_ol.transport.base import refuse

_URL_TEXT = re.compile(r"[\x21-\x7e]+")
_NAME = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*\.?")
USE_HTTPS = "use https"
ALLOW_PLAIN_HTTP = "use https, or allow it with --allow-plain-http"
DEFAULT_PORTS = {"https": 443, "http": 80}


class Address(NamedTuple):
    """One endpoint: ``scheme`` (https or http), bare ``host``, ``port``, ``target`` (the path)."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def is_loopback(self) -> bool:
        """Whether the host is this machine by its literal address, or is ``localhost``."""
        return is_loopback_host(self.host)

    @property
    def is_unencrypted(self) -> bool:
        """Whether what is sent can be read on its way to another machine."""
        return self.scheme == "http" and not self.is_loopback

    @property
    def authority(self) -> str:
        """The ``Host`` header: brackets around IPv6, the port where it is not the default."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole URL, for a person to read."""
        return f"{self.scheme}://{self.authority}{self.target}"


def is_loopback_host(host: str) -> bool:
    """Return whether ``host`` is ``localhost`` or an address of the loopback network."""
    if host.lower().removesuffix(".") == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    # ::ffff:127.0.0.1 is loopback to every system, to Python before 3.13 it is not.
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def parse_address(
    url: str,
    endpoint: str,
    *,
    url_field: str,
    endpoint_field: str,
    key_field: str = "auth.api_key",
) -> Address:
    """Return where ``endpoint`` of the server at ``url`` is, joined as the official client does.

    Refused, with the field's name: another scheme, no host, user information, a query or
    fragment, an endpoint that leads to another host, and a path of the base URL that the joining
    would silently drop. Raises ``StreamtOlError``.
    ``key_field`` is where a key is given, instead of in the URL.
    """
    base = _base(url, url_field, key_field)
    _check_endpoint(endpoint, endpoint_field)
    parts = urlsplit(base)
    if parts.path not in ("", "/") and (endpoint.startswith("/") or not parts.path.endswith("/")):
        refuse(
            url_field,
            "the path would be dropped when the endpoint is joined to it",
            "end the URL in / and the endpoint without one at its start, or move the whole path"
            " to the endpoint",
        )
    target = urlsplit(urljoin(base, endpoint)).path or "/"
    host, port = _host_and_port(base, url_field)
    return Address(parts.scheme, host, port, target)


def check_encrypted(address: Address, field: str, suggestion: str = USE_HTTPS) -> None:
    """Raise ``StreamtOlError`` where a credential would go to another machine over plain http."""
    if address.is_unencrypted:
        refuse(field, "a credential is not sent over plain http to another machine", suggestion)


def _base(url: str, field: str, key_field: str) -> str:
    if not _URL_TEXT.fullmatch(url):
        refuse(field, "the value is not a URL of printable ASCII characters")
    try:
        parts = urlsplit(url)
    except ValueError:
        refuse(field, "the value is not a URL")
    if parts.scheme not in DEFAULT_PORTS:
        refuse(field, f"the URL must begin with https:// or http://, found {shown(parts.scheme)}")
    if "@" in parts.netloc:
        refuse(field, "user information in a URL is refused", f"give a key by {key_field}")
    if "?" in url or "#" in url:
        refuse(field, "a query or fragment in a URL is refused")
    if "\\" in url:
        refuse(field, "a backslash in a URL is refused")
    return url


def _host_and_port(base: str, field: str) -> tuple[str, int]:
    parts = urlsplit(base)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        refuse(field, "the port is not a number from 1 to 65535")
    if not host or port == 0 or parts.netloc.endswith(":"):
        refuse(field, "the URL names no host, or no valid port")
    bracketed = parts.netloc.startswith("[")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        address = None
    is_valid = isinstance(address, ipaddress.IPv6Address) if bracketed else _NAME.fullmatch(host)
    if not is_valid:
        refuse(field, f"the host is not a name or an address: {shown(host)}")
    return host, port or DEFAULT_PORTS[parts.scheme]


def _check_endpoint(endpoint: str, field: str) -> None:
    if not _URL_TEXT.fullmatch(endpoint):
        refuse(field, "the value is not a path of printable ASCII characters")
    if any(mark in endpoint for mark in ("?", "#", "\\")):
        refuse(field, "a query, fragment or backslash is refused")
    if endpoint.startswith("//") or ":" in endpoint.split("/", 1)[0]:
        refuse(field, "the value must be a path, not a URL")
    if any(step in (".", "..") for step in endpoint.split("/")):
        refuse(field, "a path with . or .. is refused")
