"""The names in the statements of a Flink SQL script."""

from __future__ import annotations

from typing import NamedTuple


class Table(NamedTuple):
    """A table that a ``CREATE TABLE`` declares; ``topic`` is its ``'topic'`` option, if any.

    ``generated``: its connector makes rows of its own (``datagen``) and so reads nothing.
    """

    name: str
    path: tuple[str, ...]
    topic: str | None
    generated: bool = False


class Script(NamedTuple):
    """The names in the statements of a script, each once, in the order of appearance.

    ``targets`` are the tables written (``INSERT INTO``, ``INSERT OVERWRITE``, ``CREATE TABLE AS
    SELECT``), ``reads`` the tables and views read (``FROM``, ``JOIN``, ``TABLE t`` as an
    argument), ``views`` what a ``CREATE VIEW`` names; all hold the last part of a qualified
    name. Common table expressions are none of them.
    """

    tables: tuple[Table, ...]
    targets: tuple[str, ...]
    reads: tuple[str, ...]
    views: tuple[str, ...] = ()
