"""Routes: from the options of a delivery to its senders. All is checked, nothing is sent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from streamt_ol.delivery.receivers import RECEIVERS
from streamt_ol.delivery.routes.http import http_route
from streamt_ol.delivery.routes.options import DeliveryOptions, required, usage_error
from streamt_ol.delivery.routes.route import Route
from streamt_ol.problems import Location
from streamt_ol.redaction import shown, shown_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamt_ol.delivery.receivers.receiver import Receiver


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
        raise usage_error("to", f"there is no receiver {shown(options.to, 40)}", _names())
    for option in dict.fromkeys(name for names in _OPTIONS.values() for name in names):
        if getattr(options, option) and option not in _OPTIONS[receiver.route]:
            raise usage_error(option, f"the option does not apply to {receiver.name}")
    if options.namespace_map and receiver.settings_option != "namespace_map":
        raise usage_error("namespace_map", f"the option does not apply to {receiver.name}")
    file = getattr(options, receiver.settings_option) if receiver.settings_option else None
    bound = receiver.with_settings(Path(file) if file else None)
    return _ROUTES[receiver.route](bound, options, environment)


def _kafka(receiver: Receiver, options: DeliveryOptions, _: Mapping[str, str]) -> Route:
    from streamt_ol.delivery.senders.kafka import KafkaSender
    from streamt_ol.delivery.senders.kafka_settings import kafka_settings

    topic = required(receiver, options, "topic")
    settings = kafka_settings(required(receiver, options, "bootstrap"), options.kafka_config)
    seconds = options.timeout * (options.retries + 1)
    target = f"kafka://{shown_path(options.bootstrap or '')}/{shown_path(topic)}"
    return Route(
        receiver, target, 1, lambda: KafkaSender(settings, topic, seconds, options.deadline)
    )


def _file(receiver: Receiver, options: DeliveryOptions, _: Mapping[str, str]) -> Route:
    from streamt_ol.delivery.senders.transport import FileSender
    from streamt_ol.transport.config import FileConfig
    from streamt_ol.transport.file import FileTransport

    config = FileConfig(required(receiver, options, "path"))
    return Route(
        receiver,
        config.target,
        1,
        lambda: FileSender(
            FileTransport(config.path, Location(option="path"), create_folders=True)
        ),
    )


def _config(receiver: Receiver, options: DeliveryOptions, environment: Mapping[str, str]) -> Route:
    from streamt_ol.delivery.senders.transport import TransportSender
    from streamt_ol.transport.address import ALLOW_PLAIN_HTTP
    from streamt_ol.transport.config import read_transport_config

    config = read_transport_config(
        environment,
        allows_plain_http=options.allow_plain_http,
        plain_http_hint=ALLOW_PLAIN_HTTP,
    )
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
    "http": http_route,
    "kafka": _kafka,
    "file": _file,
    "config": _config,
}


def _names() -> str:
    return f"choose one of: {', '.join(RECEIVERS)}"
