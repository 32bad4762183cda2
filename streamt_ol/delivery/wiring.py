"""From the options of a command to what carries the events: everything is checked, nothing sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from streamt_ol.delivery.receivers import RECEIVERS
from streamt_ol.problems import INVALID, USAGE, StreamtOlError
from streamt_ol.redaction import place, shown
from streamt_ol.transport.address import is_loopback_host, parse_address

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from streamt_ol.delivery.receivers import Receiver
    from streamt_ol.delivery.senders import Sender
    from streamt_ol.transport.address import Address
    from streamt_ol.transport.deadline import Deadline
    from streamt_ol.transport.secret import Secret


@dataclass(frozen=True)
class Wanted:
    """What the options of a delivery say; None where one was not given.

    ``deadline``, running already, bounds every attempt.
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
    timeout: float = 10.0
    retries: int = 4
    concurrency: int = 4
    deadline: Deadline | None = None


class Route(NamedTuple):
    """A way to a receiver. ``target`` names it, safe to show; ``workers``: senders to ``make``."""

    receiver: Receiver
    target: str
    workers: int
    make: Callable[[], Sender]


# Which options belong to which kind of route, besides those of every delivery.
_OPTIONS = {
    "http": ("url", "endpoint", "token_env", "token_header", "ca_file", "gzip", "batch"),
    "kafka": ("bootstrap", "topic", "kafka_config"),
    "file": ("path",),
    "config": (),
}


def route_for(wanted: Wanted, environment: Mapping[str, str]) -> Route:
    """Return the route that is wanted.

    Raises ``StreamtOlError``: E500 for an option that is missing, wrong, or does not apply; E506
    for a file, certificate or configuration that cannot be used.
    """
    receiver = RECEIVERS.get(wanted.to)
    if receiver is None:
        raise _usage("--to", f"there is no receiver {shown(wanted.to, 40)}", _names())
    for kind, options in _OPTIONS.items():
        for option in options if kind != receiver.route else ():
            if getattr(wanted, option):
                raise _usage(_flag(option), f"it does not apply to {receiver.name}")
    return _ROUTES[receiver.route](receiver, wanted, environment)


def _http(receiver: Receiver, wanted: Wanted, environment: Mapping[str, str]) -> Route:
    from streamt_ol.delivery.senders import HttpSender, HttpTarget

    url = _required(receiver, wanted, "url")
    endpoint = wanted.endpoint or receiver.endpoint
    address = _address(url, endpoint)
    batch_address = None
    if wanted.batch:
        if receiver.batch is None:
            raise _usage("--batch", f"{receiver.name} has no batch form")
        batch_endpoint = receiver.batch.endpoint
        if wanted.endpoint:
            batch_endpoint = f"{endpoint.rstrip('/')}/batch"
        batch_address = _address(url, batch_endpoint)
    if wanted.gzip and not receiver.may_gzip:
        raise _usage("--gzip", f"{receiver.name} does not take compressed bodies")
    target = HttpTarget(
        address,
        batch_address,
        _token_headers(receiver, wanted, environment),
        _tls(address, wanted),
        wanted.gzip,
        wanted.timeout,
        wanted.deadline,
    )
    return Route(receiver, address.url, wanted.concurrency, lambda: HttpSender(receiver, target))


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


def _tls(address: Address, wanted: Wanted) -> Any:
    if address.scheme != "https":
        if wanted.ca_file:
            raise _usage("--ca-file", "it does not apply to plain http")
        return None
    from streamt_ol.transport.sockets import tls_context

    return tls_context(wanted.ca_file, "--ca-file")


def _token_headers(
    receiver: Receiver, wanted: Wanted, environment: Mapping[str, str]
) -> tuple[tuple[str, Secret], ...]:
    if wanted.token_env is None:
        if wanted.token_header:
            raise _usage("--token-header", "there is no token without --token-env")
        return ()
    if not receiver.tokens:
        raise _usage("--token-env", f"{receiver.name} takes no token")
    from streamt_ol.transport.secret import Secret
    from streamt_ol.transport.tokens import token_from

    header = wanted.token_header or receiver.tokens[0]
    if header not in receiver.tokens:
        known = " or ".join(receiver.tokens)
        raise _usage("--token-header", f"{receiver.name} takes its token as {known}")
    token = token_from(environment, wanted.token_env)
    if header == "bearer":
        return (("Authorization", Secret(f"Bearer {token.reveal()}")),)
    return (("X-Token", token),)


def _kafka(receiver: Receiver, wanted: Wanted, _: Mapping[str, str]) -> Route:
    from streamt_ol.delivery.kafka import KafkaSender

    topic = _required(receiver, wanted, "topic")
    settings = kafka_settings(_required(receiver, wanted, "bootstrap"), wanted.kafka_config)
    seconds = wanted.timeout * (wanted.retries + 1)
    target = f"kafka://{place(wanted.bootstrap or '')}/{place(topic)}"
    return Route(
        receiver, target, 1, lambda: KafkaSender(settings, topic, seconds, wanted.deadline)
    )


def kafka_settings(bootstrap: str, config_file: str | None) -> dict[str, Any]:
    """Return the client settings: the brokers, and what ``--kafka-config`` (YAML) adds to them.

    Refused: what delivery at least once depends on, turning certificate checks off, and
    credentials over an unencrypted connection to another machine.
    """
    from streamt_ol.delivery.kafka import is_reserved

    brokers = [broker.strip() for broker in bootstrap.split(",")]
    if not all(brokers) or "@" in bootstrap or "://" in bootstrap:
        raise _usage("--bootstrap", "it must be HOST:PORT, several separated by commas")
    settings = _kafka_file(config_file) if config_file else {}
    for name, value in settings.items():
        if is_reserved(name):
            raise _refused(name, "it is set by streamt-ol, or may not be changed")
        if not isinstance(value, (str, int, float)):
            raise _refused(name, "its value must be text, a number, or true or false")
    is_encrypted = str(settings.get("security.protocol", "")).upper() in ("SSL", "SASL_SSL")
    has_key = any(name.startswith("sasl.") for name in settings)
    hosts = [broker.rpartition(":")[0].strip("[]") or broker for broker in brokers]
    if has_key and not is_encrypted and not all(is_loopback_host(host) for host in hosts):
        raise _refused("security.protocol", "credentials need SASL_SSL")
    return {**settings, "bootstrap.servers": ",".join(brokers)}


def _kafka_file(path: str) -> dict[str, Any]:
    from streamt_ol.transport.strict_yaml import read_yaml_file

    settings = read_yaml_file(path, "--kafka-config")
    if not isinstance(settings, dict):
        raise StreamtOlError(INVALID, "the file must hold a mapping", location="--kafka-config")
    return settings


def _refused(name: str, reason: str) -> StreamtOlError:
    return StreamtOlError(INVALID, reason, location=f"--kafka-config: {place(name)}")


def _file(receiver: Receiver, wanted: Wanted, _: Mapping[str, str]) -> Route:
    from streamt_ol.delivery.senders import FileSender
    from streamt_ol.transport.config import FileConfig
    from streamt_ol.transport.file import FileTransport

    path = _required(receiver, wanted, "path")
    return Route(
        receiver,
        f"file {place(path)}",
        1,
        lambda: FileSender(FileTransport(FileConfig(path), "--path")),
    )


def _config(receiver: Receiver, wanted: Wanted, environment: Mapping[str, str]) -> Route:
    from streamt_ol.delivery.senders import TransportSender
    from streamt_ol.transport.build import open_transport
    from streamt_ol.transport.config import FileConfig, read_transport_config

    config = read_transport_config(environment)
    is_file = isinstance(config, FileConfig)
    target = f"file {place(config.path)}" if isinstance(config, FileConfig) else config.address.url
    workers = 1 if is_file else wanted.concurrency
    return Route(
        receiver, target, workers, lambda: TransportSender(open_transport(config, wanted.deadline))
    )


_ROUTES: dict[str, Callable[[Receiver, Wanted, Mapping[str, str]], Route]] = {
    "http": _http,
    "kafka": _kafka,
    "file": _file,
    "config": _config,
}


def _required(receiver: Receiver, wanted: Wanted, option: str) -> str:
    value: str | None = getattr(wanted, option)
    if not value:
        raise _usage(_flag(option), f"{receiver.name} needs it")
    return value


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _names() -> str:
    return f"choose one of: {', '.join(RECEIVERS)}"


def _usage(option: str, message: str, suggestion: str | None = None) -> StreamtOlError:
    return StreamtOlError(USAGE, message, location=option, suggestion=suggestion)
