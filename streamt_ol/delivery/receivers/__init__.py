"""The receivers: one row each, from which the commands, their help and `check` are made.

A module holds the row of one receiver, or of several that share their rules, and those rules.
"""

from __future__ import annotations

from streamt_ol.delivery.receivers import (
    clouds,
    datadog,
    datahub,
    dataplex,
    datazone,
    marquez,
    snowflake,
    standard,
    truewatch,
)
from streamt_ol.delivery.receivers.openmetadata import connector, endpoint
from streamt_ol.delivery.receivers.receiver import Receiver

RECEIVERS: dict[str, Receiver] = {
    receiver.name: receiver
    for receiver in (
        standard.OPENLINEAGE,
        marquez.MARQUEZ,
        connector.OPENMETADATA_KAFKA,
        endpoint.OPENMETADATA,
        datahub.DATAHUB,
        dataplex.DATAPLEX,
        datadog.DATADOG,
        snowflake.SNOWFLAKE,
        clouds.ALATION,
        datazone.DATAZONE,
        clouds.ATLAN,
        clouds.GRAVITINO,
        truewatch.TRUEWATCH,
        truewatch.DATAKIT,
        standard.KAFKA,
        standard.FILE,
        standard.CONFIG,
    )
}
CHECKED = tuple(name for name, receiver in RECEIVERS.items() if receiver.route != "config")
