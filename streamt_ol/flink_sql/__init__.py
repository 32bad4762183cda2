"""The tables that Flink SQL declares, writes and reads: names and topics, and nothing else of it.

No option value but ``'topic'`` is ever kept, and of ``'connector'`` whether it makes its own rows,
since a WITH clause may hold credentials (the specification's "Secret and sensitive-data boundary").
"""

from streamt_ol.flink_sql.reader import read_script
from streamt_ol.flink_sql.script import Script, Table
from streamt_ol.flink_sql.tokens import Token, read_tokens

__all__ = ["Script", "Table", "Token", "read_script", "read_tokens"]
