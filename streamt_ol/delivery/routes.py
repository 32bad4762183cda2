"""Routes: from the options of a delivery to its senders. All is checked, nothing is sent."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from streamt_ol.delivery.receivers import RECEIVERS
from streamt_ol.problems import UNENCRYPTED, USAGE, StreamtOlError, WarningRecord, warning
from streamt_ol.redaction import place, shown
from streamt_ol.transport.address import check_encrypted, parse_address
from streamt_ol.transport.config import UNENCRYPTED_MESSAGE

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamt_ol.delivery.receivers.receiver import Receiver
    from streamt_ol.delivery.senders.sender import Sender
    from streamt_ol.transport.address import Address
    from streamt_ol.transport.base import Deadline
    from streamt_ol.transport.credentials import Secret


@dataclass(frozen=True)
class DeliveryOptions:
    """The options of a delivery; None where one is not given.

    ``namespace_map`` is a file of OpenMetadata's settings. ``deadline``, running already, bounds
    every attempt.
    """

    to: str
    url: str | None = None
    endpoint: str | None = None
    token_env: str | None = None
    token_header: str | None = None
    ca_file: str | None = None
    gzip: bool = False
    batch: bool = False
    bootstrap: str | None = None
    topic: str | None = None
    kafka_config: str | None = None
    path: str | None = None
    namespace_map: Path | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    allow_plain_http: bool = False
    timeout: float = 10.0
    retries: int = 4
    concurrency: int = 4
    deadline: Deadline | None = None


class Route(NamedTuple):
    """A way to a receiver: ``make`` returns one of at most ``workers`` senders.

    ``target`` names it, safe to show. ``configured`` is the address of a transport's
    configuration, which is never shown.
    """

    receiver: Receiver
    target: str
    workers: int
    make: Callable[[], Sender]
    is_unencrypted: bool = False
    configured: str = ""

    @property
    def identity(self) -> str:
        """The key of this way in a checkpoint; a configured address stays unsaid."""
        if not self.configured:
            return f"{self.receiver.name} {self.target}"
        digest = hashlib.blake2b(self.configured.encode(errors="replace"), digest_size=16)
        return f"{self.receiver.name} {digest.hexdigest()}"

    def warnings(self) -> list[WarningRecord]:
        """Return what is to be known of this way before anything is sent."""
        if not self.is_unencrypted:
            return []
        return [warning(UNENCRYPTED, UNENCRYPTED_MESSAGE)]


_WORD = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,199}")
# Which options belong to which kind of route, besides those of every delivery.
_OPTIONS = {
    "http": (
        "url",
        "endpoint",
        "token_env",
        "token_header",
        "ca_file",
        "gzip",
        "batch",
        "parameters",
        "allow_plain_http",
    ),
    "kafka": ("bootstrap", "topic", "kafka_config"),
    "file": ("path",),
    "config": ("allow_plain_http",),
}  # fmt: skip


def route_for(options: DeliveryOptions, environment: Mapping[str, str]) -> Route:
    """Return the route to the receiver that ``options`` name.

    Raises ``StreamtOlError``: E500 for an option that is missing, wrong, or does not apply; E506
    for a file, certificate or configuration that cannot be used.
    """
    receiver = RECEIVERS.get(options.to)
    if receiver is None:
        raise _usage("--to", f"there is no receiver {shown(options.to, 40)}", _names())
    for option in dict.fromkeys(name for names in _OPTIONS.values() for name in names):
        if getattr(options, option) and option not in _OPTIONS[receiver.route]:
            raise _usage(_flag(option), f"it does not apply to {receiver.name}")
    if options.namespace_map and receiver.settings_option != "namespace_map":
        raise _usage("--namespace-map", f"it does not apply to {receiver.name}")
    file = getattr(options, receiver.settings_option) if receiver.settings_option else None
    bound = receiver.with_settings(Path(file) if file else None)
    return _ROUTES[receiver.route](bound, options, environment)


def _http(receiver: Receiver, options: DeliveryOptions, environment: Mapping[str, str]) -> Route:
    from streamt_ol.delivery.senders.http import HttpSender, HttpTarget
    from streamt_ol.transport.credentials import Secret

    parameters = _parameters(receiver, options)
    url = options.url or _filled(receiver.url, parameters) or _required(receiver, options, "url")
    endpoint = options.endpoint or _filled(receiver.endpoint, parameters)
    address = _address(url, endpoint)
    batch_address = None
    if options.batch:
        if receiver.batch is None:
            raise _usage("--batch", f"{receiver.name} has no batch form")
        batch_endpoint = receiver.batch.endpoint
        if options.endpoint:
            batch_endpoint = f"{endpoint.rstrip('/')}/batch"
        batch_address = _address(url, batch_endpoint)
    if options.gzip and not receiver.may_gzip:
        raise _usage("--gzip", f"{receiver.name} does not take compressed bodies")
    headers = _token_headers(receiver, options, environment)
    extra = tuple((n, Secret(_filled(v, parameters))) for n, v in receiver.headers)
    if headers and not options.allow_plain_http:
        try:
            check_encrypted(address, "--url", "use https, or allow it with --allow-plain-http")
        except StreamtOlError as error:
            raise _usage("--url", error.message, error.suggestion) from None
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
            raise _usage("--param", f"{receiver.name} has no parameter {shown(name, 40)}")
    unused = {n for n in known if options.endpoint and f"{{{n}}}" in receiver.endpoint} | {
        n for n in known if options.url and f"{{{n}}}" in receiver.url
    }
    values = {}
    for name, parameter in known.items():
        value = options.parameters.get(name) or parameter.default
        if not value and name not in unused:
            example = f"--param {name}={'|'.join(parameter.choices) or 'VALUE'}"
            raise _usage("--param", f"{receiver.name} needs {name}", example)
        if parameter.choices and value and value not in parameter.choices:
            known_values = ", ".join(parameter.choices)
            raise _usage("--param", f"{name} must be one of {known_values}")
        if value and not _WORD.fullmatch(value):
            raise _usage("--param", f"the value of {name} is not a word of a URL")
        values[name] = value
    return values


def _filled(template: str, parameters: Mapping[str, str]) -> str:
    """Return a template with its parameters."""
    for name, value in parameters.items():
        template = template.replace(f"{{{name}}}", value)
    return template


def _address(url: str, endpoint: str) -> Address:
    try:
        return parse_address(
            url,
            endpoint,
            url_field="--url",
            endpoint_field="--endpoint",
            key_field="--token-env",
        )
    except StreamtOlError as error:
        raise _usage(error.location or "--url", error.message, error.suggestion) from None


def _tls(address: Address, options: DeliveryOptions) -> Any:
    if address.scheme != "https":
        if options.ca_file:
            raise _usage("--ca-file", "it does not apply to plain http")
        return None
    from streamt_ol.transport.sockets import tls_context

    return tls_context(options.ca_file, "--ca-file")


def _token_headers(
    receiver: Receiver, options: DeliveryOptions, environment: Mapping[str, str]
) -> tuple[tuple[str, Secret], ...]:
    if options.token_env is None:
        if options.token_header:
            raise _usage("--token-header", "there is no token without --token-env")
        return ()
    if not receiver.tokens:
        raise _usage("--token-env", f"{receiver.name} takes no token")
    from streamt_ol.transport.credentials import Secret, token_from

    header = options.token_header or receiver.tokens[0]
    if header not in receiver.tokens:
        known = " or ".join(receiver.tokens)
        raise _usage("--token-header", f"{receiver.name} takes its token as {known}")
    token = token_from(environment, options.token_env)
    if header == "bearer":
        return (("Authorization", Secret(f"Bearer {token.reveal()}")),)
    return (("X-Token", token),)


def _kafka(receiver: Receiver, options: DeliveryOptions, _: Mapping[str, str]) -> Route:
    from streamt_ol.delivery.senders.kafka import KafkaSender
    from streamt_ol.delivery.senders.kafka_settings import kafka_settings

    topic = _required(receiver, options, "topic")
    settings = kafka_settings(_required(receiver, options, "bootstrap"), options.kafka_config)
    seconds = options.timeout * (options.retries + 1)
    target = f"kafka://{place(options.bootstrap or '')}/{place(topic)}"
    return Route(
        receiver, target, 1, lambda: KafkaSender(settings, topic, seconds, options.deadline)
    )


def _file(receiver: Receiver, options: DeliveryOptions, _: Mapping[str, str]) -> Route:
    from streamt_ol.delivery.senders.transport import FileSender
    from streamt_ol.transport.config import FileConfig
    from streamt_ol.transport.file import FileTransport

    config = FileConfig(_required(receiver, options, "path"))
    return Route(
        receiver,
        config.target,
        1,
        lambda: FileSender(FileTransport(config, "--path", create_folders=True)),
    )


def _config(receiver: Receiver, options: DeliveryOptions, environment: Mapping[str, str]) -> Route:
    from streamt_ol.delivery.senders.transport import TransportSender
    from streamt_ol.transport.config import read_transport_config

    config = read_transport_config(environment, allows_plain_http=options.allow_plain_http)
    # "Transport configuration never appears in a structured result or normal diagnostic."
    return Route(
        receiver,
        "the configured transport",
        config.workers(options.concurrency),
        lambda: TransportSender(config.open(options.deadline)),
        config.is_unencrypted,
        config.target,
    )


_ROUTES: dict[str, Callable[[Receiver, DeliveryOptions, Mapping[str, str]], Route]] = {
    "http": _http,
    "kafka": _kafka,
    "file": _file,
    "config": _config,
}


def _required(receiver: Receiver, options: DeliveryOptions, option: str) -> str:
    value: str | None = getattr(options, option)
    if not value:
        raise _usage(_flag(option), f"{receiver.name} needs it")
    return value


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _names() -> str:
    return f"choose one of: {', '.join(RECEIVERS)}"


def _usage(option: str, message: str, suggestion: str | None = None) -> StreamtOlError:
    return StreamtOlError(USAGE, message, location=option, suggestion=suggestion)
