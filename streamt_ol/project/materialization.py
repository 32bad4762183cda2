"""The kind of a model, as streamt decides it.

What is declared comes first; else the text of the SQL decides, upper-cased and otherwise as it
is: words in comments, strings and quoted identifiers count, too, since effective
materializations must "match deployment behavior".
"""

from __future__ import annotations

import re
from typing import NamedTuple

TOPIC, FLINK, GATEWAY, SINK = "topic", "flink", "virtual_topic", "sink"
MATERIALIZATIONS = (TOPIC, FLINK, GATEWAY, SINK)
KAFKA_STREAMS = "kafka_streams"
# What each executor may be declared with, besides no materialization at all.
EXECUTORS = {KAFKA_STREAMS: (TOPIC,), FLINK: (TOPIC, FLINK)}
_FUNCTIONS = (
    "TUMBLE|HOP|SESSION|CUMULATE"
    "|ROW_NUMBER|LAG|LEAD|RANK|DENSE_RANK|FIRST_VALUE|LAST_VALUE|NTH_VALUE"
    "|COUNT|SUM|AVG|MIN|MAX|COLLECT|LISTAGG"
    "|ML_PREDICT|ML_EVALUATE"
)
_STATEFUL = re.compile(
    rf"\b(?:{_FUNCTIONS})\s*\(|\b(?:GROUP|ORDER)\s+BY\b|\bSELECT\s+DISTINCT\b|\sJOIN\s"
)
_BARE_SELECT = re.compile(r"\s*SELECT\s+\*\s+FROM\b")
_FILTERS = re.compile(r"\b(?:WHERE|LIMIT)\b")


class ModelDeclaration(NamedTuple):
    """The part of a model that its kind depends on.

    ``sql`` is its own SQL as written, or what its macro renders, and None where it has neither;
    ``virtual_topic`` is whether it has a ``gateway.virtual_topic`` of its own.
    """

    materialized: str | None = None
    executor: str | None = None
    sql: str | None = None
    has_from: bool = False
    virtual_topic: bool = False


def effective(declared: ModelDeclaration, *, gateway: bool) -> str:
    """Return the materialization; ``gateway`` is whether the runtime has a Gateway.

    Without one, a virtual topic that is not declared in full is compiled as a Flink job.
    """
    kind = _kind(declared)
    return FLINK if kind == GATEWAY and not (gateway or declared.virtual_topic) else kind


def _kind(declared: ModelDeclaration) -> str:
    if declared.executor == KAFKA_STREAMS:
        return TOPIC
    if declared.executor == FLINK and declared.materialized is None:
        return FLINK
    if declared.materialized is not None:
        return declared.materialized
    if declared.sql is None and declared.has_from:
        return SINK
    if declared.virtual_topic:
        return GATEWAY
    return TOPIC if declared.sql is None else of_sql(declared.sql)


def of_sql(sql: str) -> str:
    """Return what SQL without any declaration is: a Flink job, a topic or a virtual topic."""
    text = sql.upper()
    if _STATEFUL.search(text):
        return FLINK
    if _BARE_SELECT.match(text) and not _FILTERS.search(text):
        return TOPIC
    return GATEWAY
