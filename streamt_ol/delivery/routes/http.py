"""The route over HTTP: address, parameters, headers, certificates; nothing is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from streamt_ol.delivery.routes.options import DeliveryOptions, required, usage_error
from streamt_ol.delivery.routes.route import Route
from streamt_ol.problems import USAGE, Location, StreamtOlError
from streamt_ol.redaction import shown
from streamt_ol.transport.address import ALLOW_PLAIN_HTTP, check_encrypted, parse_address

if TYPE_CHECKING:
    from streamt_ol.delivery.receivers.receiver import Receiver
    from streamt_ol.transport.address import Address
    from streamt_ol.transport.credentials import Secret

_WORD = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,199}")


def http_route(
    receiver: Receiver, options: DeliveryOptions, environment: Mapping[str, str]
) -> Route:
    """Return the route over HTTP to ``receiver``. Raises ``StreamtOlError``."""
    from streamt_ol.delivery.senders.http import HttpSender, HttpTarget
    from streamt_ol.transport.credentials import Secret

    parameters = _parameters(receiver, options)
    url = options.url or _filled(receiver.url, parameters) or required(receiver, options, "url")
    endpoint = options.endpoint or _filled(receiver.endpoint, parameters)
    address = _address(url, endpoint)
    batch_address = None
    if options.batch:
        if receiver.batch is None:
            raise usage_error("batch", f"{receiver.name} has no batch form")
        batch_endpoint = receiver.batch.endpoint
        if options.endpoint:
            batch_endpoint = f"{endpoint.rstrip('/')}/batch"
        batch_address = _address(url, batch_endpoint)
    if options.gzip and not receiver.may_gzip:
        raise usage_error("gzip", f"{receiver.name} does not take compressed bodies")
    headers = _token_headers(receiver, options, environment)
    extra = tuple((n, Secret(_filled(v, parameters))) for n, v in receiver.headers)
    if headers and not options.allow_plain_http:
        with _as_usage():
            check_encrypted(address, Location(option="url"), ALLOW_PLAIN_HTTP)
    target = HttpTarget(
        address,
        batch_address,
        (*headers, *extra),
        _tls(address, options),
        parameters,
        options.gzip,
        options.timeout,
        options.deadline,
    )
    return Route(
        receiver,
        address.url,
        options.concurrency,
        lambda: HttpSender(receiver, target),
        address.is_unencrypted,
    )


def _parameters(receiver: Receiver, options: DeliveryOptions) -> dict[str, str]:
    """Return the value of each parameter of ``receiver``; one of its address may be left out.

    Raises E500 for one that is missing, not known, or not a word of a URL.
    """
    known = {parameter.name: parameter for parameter in receiver.parameters}
    for name in options.parameters:
        if name not in known:
            raise usage_error("parameters", f"{receiver.name} has no parameter {shown(name, 40)}")
    unused = {n for n in known if options.endpoint and f"{{{n}}}" in receiver.endpoint} | {
        n for n in known if options.url and f"{{{n}}}" in receiver.url
    }
    values = {}
    for name, parameter in known.items():
        value = options.parameters.get(name) or parameter.default
        if not value and name not in unused:
            example = f"--param {name}={'|'.join(parameter.choices) or 'VALUE'}"
            raise usage_error("parameters", f"{receiver.name} needs {name}", example)
        if parameter.choices and value and value not in parameter.choices:
            known_values = ", ".join(parameter.choices)
            raise usage_error("parameters", f"{name} must be one of {known_values}")
        if value and not _WORD.fullmatch(value):
            raise usage_error("parameters", f"the value of {name} is not a word of a URL")
        values[name] = value
    return values


def _filled(template: str, parameters: Mapping[str, str]) -> str:
    """Return a template with its parameters."""
    for name, value in parameters.items():
        template = template.replace(f"{{{name}}}", value)
    return template


def _address(url: str, endpoint: str) -> Address:
    with _as_usage():
        return parse_address(
            url,
            endpoint,
            url_field=Location(option="url"),
            endpoint_field=Location(option="endpoint"),
            key_field="--token-env",
        )


@contextmanager
def _as_usage() -> Iterator[None]:
    """Raise what is wrong with an address as an error of the command line (E500)."""
    try:
        yield
    except StreamtOlError as error:
        error.code = USAGE
        raise


def _tls(address: Address, options: DeliveryOptions) -> Any:
    if address.scheme != "https":
        if options.ca_file:
            raise usage_error("ca_file", "the option does not apply to plain http")
        return None
    from streamt_ol.transport.sockets import tls_context

    return tls_context(options.ca_file, Location(option="ca_file"))


def _token_headers(
    receiver: Receiver, options: DeliveryOptions, environment: Mapping[str, str]
) -> tuple[tuple[str, Secret], ...]:
    if options.token_env is None:
        if options.token_header:
            raise usage_error("token_header", "there is no token without --token-env")
        return ()
    if not receiver.tokens:
        raise usage_error("token_env", f"{receiver.name} takes no token")
    from streamt_ol.transport.credentials import Secret, token_from

    header = options.token_header or receiver.tokens[0]
    if header not in receiver.tokens:
        known = " or ".join(receiver.tokens)
        raise usage_error("token_header", f"{receiver.name} takes its token as {known}")
    token = token_from(environment, options.token_env)
    if header == "bearer":
        return (("Authorization", Secret(f"Bearer {token.reveal()}")),)
    return (("X-Token", token),)
