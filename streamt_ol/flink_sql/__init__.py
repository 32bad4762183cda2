"""What Flink SQL declares, writes and reads: table names and topics, and nothing else of it.

No option value but ``'topic'`` is ever kept, and of ``'connector'`` whether it makes its own rows,
since a WITH clause may hold credentials ("Secret
and sensitive-data boundary" of the specification).
"""

from streamt_ol.flink_sql.reader import Script, Table, read_script
from streamt_ol.flink_sql.tokens import Token, read_tokens

__all__ = ["Script", "Table", "Token", "read_script", "read_tokens"]
