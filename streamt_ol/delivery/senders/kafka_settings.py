"""The settings of a Kafka client: the brokers, and what a file may add to them."""

from __future__ import annotations

import re
from typing import Any

from streamt_ol.problems import INVALID, USAGE, Location, StreamtOlError
from streamt_ol.redaction import shown_path
from streamt_ol.transport.address import is_loopback_host

CONFIG = Location(option="kafka_config")
BROKERS = "bootstrap.servers"
# What delivery at least once depends on, and what would turn certificate checks off; beside each
# the values that say what is done anyway.
RESERVED: dict[str, tuple[str, ...]] = {
    "acks": ("all", "-1"),
    "request.required.acks": ("all", "-1"),
    "enable.idempotence": ("true",),
    "enable.ssl.certificate.verification": ("true",),
    "ssl.endpoint.identification.algorithm": ("https",),
    "enable.auto.commit": ("false",),
    "auto.commit.enable": ("false",),
    "enable.auto.offset.store": ("false",),
    "enable.partition.eof": ("true",),
    "queuing.strategy": ("fifo",),
    "bootstrap.servers": (),
    "metadata.broker.list": (),
    "group.id": (),
    "transactional.id": (),
    "message.timeout.ms": (),
    "delivery.timeout.ms": (),
    "debug": (),
    "log_level": (),
    "logger": (),
    "on_delivery": (),
    "on_commit": (),
}
# No setting of a file: functions, and librdkafka's own tests (clusters that do not exist).
_RESERVED_PARTS = re.compile(r"test\..*|.*_cb")


def says_what_is_done(name: str, value: object, where: Location = CONFIG) -> bool:
    """Return whether a setting may be left out, since it is set so already.

    Raises ``StreamtOlError`` for one that may not be given in ``where``.
    """
    if name not in RESERVED and not _RESERVED_PARTS.fullmatch(name):
        return False
    if str(value).strip().lower() not in RESERVED.get(name, ()):
        raise _refused(name, "the setting is made by streamt-ol, or may not be changed", where)
    return True


def kafka_settings(bootstrap: str, config_file: str | None) -> dict[str, Any]:
    """Return the client settings: the brokers, and what ``--kafka-config`` (YAML) adds to them.

    Refused: what delivery at least once depends on, turning certificate checks off, and
    credentials over an unencrypted connection to another machine.
    """
    given = kafka_file(config_file) if config_file else {}
    return checked_settings(bootstrap, given, (Location(option="bootstrap"), CONFIG))


def checked_settings(
    bootstrap: str, given: dict[str, Any], locations: tuple[Location, Location]
) -> dict[str, Any]:
    """Return the client settings of brokers and of other settings ``given`` with them.

    ``locations``: of the brokers, and of the settings. Raises ``StreamtOlError`` as
    ``kafka_settings`` does.
    """
    of_brokers, where = locations
    brokers = [broker.strip() for broker in bootstrap.split(",")]
    if not all(brokers) or "@" in bootstrap or "://" in bootstrap:
        raise StreamtOlError(
            USAGE if of_brokers.option else INVALID,
            "the brokers must be HOST:PORT, several separated by commas",
            location=of_brokers,
        )
    same = str(given.get(BROKERS, "")).strip() == bootstrap.strip()
    settings = {
        name: value
        for name, value in given.items()
        if not (name == BROKERS and same) and not says_what_is_done(name, value, where)
    }
    for name, value in settings.items():
        if not isinstance(value, (str, int, float)):
            raise _refused(name, "the value must be text, a number, or true or false", where)
    is_encrypted = str(settings.get("security.protocol", "")).upper() in ("SSL", "SASL_SSL")
    has_key = any(name.startswith("sasl.") for name in settings)
    hosts = [broker.rpartition(":")[0].strip("[]") or broker for broker in brokers]
    if has_key and not is_encrypted and not all(is_loopback_host(host) for host in hosts):
        raise _refused("security.protocol", "credentials need SASL_SSL", where)
    return {**settings, BROKERS: ",".join(brokers)}


def kafka_file(path: str) -> dict[str, Any]:
    """Return the mapping in a file of settings. Raises ``StreamtOlError``."""
    from streamt_ol.reading.files import read_configuration

    settings = read_configuration(path, CONFIG)
    if not isinstance(settings, dict):
        raise StreamtOlError(INVALID, "the file must hold a mapping", location=CONFIG)
    return settings


def at_setting(where: Location, name: str) -> Location:
    """Return the location of the setting ``name`` among those at ``where``."""
    if where.option:
        return where.replaced(field=shown_path(name))
    return Location(field=f"{where}: {shown_path(name)}")


def _refused(name: str, reason: str, where: Location) -> StreamtOlError:
    return StreamtOlError(INVALID, reason, location=at_setting(where, name))
