"""The reader of compiled Flink SQL: one pass over the tokens, linear in time, no recursion."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from streamt_ol.flink_sql.script import Script, Table
from streamt_ol.flink_sql.tokens import Token, read_tokens
from streamt_ol.problems import INVALID, StreamtOlError

if TYPE_CHECKING:
    from collections.abc import Callable


# fmt: off
_CLAUSES_AFTER_FROM = (
    "WHERE", "GROUP", "ORDER", "HAVING", "WINDOW", "LIMIT", "FETCH",
    "UNION", "INTERSECT", "EXCEPT", "MINUS", "VALUES",
)
# fmt: on
_NO_TABLE = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "LATERAL", "UNNEST", "SET", "AS"})
_GENERATOR = "datagen"
_QUERY_STARTS = frozenset({"SELECT", "WITH", "VALUES"})


def read_script(sql: str, location: str | None = None) -> Script:
    """Return the tables that compiled Flink SQL declares, writes and reads.

    Implements "macro dependencies resolve from compiled SQL" of the specification. Raises
    ``StreamtOlError`` (``INVALID``, at ``location``) for text that is not closed, for a table
    with two different ``'topic'`` options, and for what would make the declared topics untrue:
    a table altered later, a topic in a hint, a template that was not rendered.
    """
    return _Reader(read_tokens(sql, location), location).read()


_END = Token("mark", "", "")


class _Level:
    """The state inside one pair of parentheses of a statement."""

    __slots__ = ("defines", "expressions", "in_from", "opened_at", "selects")

    def __init__(self, opened_at: int, defines: str | None = None) -> None:
        self.opened_at = opened_at
        self.defines = defines  # the common table expression whose body this is
        self.expressions: list[str] = []  # those that end with this level
        self.selects = False
        self.in_from = False


class _Reader:
    def __init__(self, tokens: list[Token], location: str | None) -> None:
        self._tokens = tokens
        self._location = location
        self._tables: list[Table] = []
        self._targets: dict[str, None] = {}
        self._reads: dict[str, None] = {}
        self._views: dict[str, None] = {}
        self._start_statement()
        self._handlers: dict[str, Callable[[int], int]] = {
            "CREATE": self._create,
            "ALTER": self._alter,
            "{": self._brace,
            "INSERT": self._insert,
            "SELECT": self._select,
            "FROM": self._from,
            "JOIN": self._join,
            "TABLE": self._table_argument,
            "AS": self._as,
            ",": self._comma,
            "(": self._open,
            ")": self._close,
            ";": self._end_statement,
            "WITH": self._with,
            **dict.fromkeys(_CLAUSES_AFTER_FROM, self._clause),
        }

    def read(self) -> Script:
        """Go over every token once; a handler returns the index to go on from."""
        index = 0
        while index < len(self._tokens):
            handler = self._handlers.get(self._tokens[index].key)
            index = handler(index) if handler else index + 1
        return Script(
            tuple(self._tables), tuple(self._targets), tuple(self._reads), tuple(self._views)
        )

    def _start_statement(self) -> None:
        self._levels = [_Level(-1)]
        self._visible: Counter[str] = Counter()
        self._closed_at = -1  # where the parenthesis closed last was opened
        self._created: tuple[str, ...] | None = None

    def _at(self, index: int) -> Token:
        return self._tokens[index] if 0 <= index < len(self._tokens) else _END

    def _path(self, index: int) -> tuple[tuple[str, ...], int]:
        """Return the parts of the qualified name at ``index`` (none if there is no name)."""
        token = self._at(index)
        if token.kind not in ("word", "quoted") or token.key in _NO_TABLE:
            return (), index
        parts = [token.text]
        index += 1
        while self._at(index).key == "." and self._at(index + 1).kind in ("word", "quoted"):
            parts.append(self._at(index + 1).text)
            index += 2
        return tuple(parts), index

    def _skip(self, index: int, *keys: str) -> int:
        for key in keys:
            if self._at(index).key == key:
                index += 1
        return index

    def _create(self, index: int) -> int:
        index = self._skip(index + 1, "OR", "REPLACE", "TEMPORARY")
        if self._at(index).key == "VIEW":
            view, index = self._path(self._skip(index + 1, "IF", "NOT", "EXISTS"))
            self._views.update(dict.fromkeys(view[-1:]))
            return index
        if self._at(index).key != "TABLE":
            return index
        self._created, index = self._path(self._skip(index + 1, "IF", "NOT", "EXISTS"))
        if self._created:
            self._tables.append(Table(self._created[-1], self._created, None))
        return index

    def _alter(self, index: int) -> int:
        if self._at(index + 1).key == "TABLE" and self._at(index - 1).key in ("", ";"):
            raise self._untrue("the SQL alters a table, so what it declares is not what it reads")
        return index + 1

    def _brace(self, index: int) -> int:
        if self._at(index + 1).key in ("{", "%", "#"):
            raise self._untrue("the SQL has a template that was not rendered")
        return index + 1

    def _untrue(self, message: str) -> StreamtOlError:
        return StreamtOlError(INVALID, message, location=self._location)

    def _with(self, index: int) -> int:
        if not (self._created and len(self._levels) == 1 and self._at(index + 1).key == "("):
            return self._clause(index)
        (topics, connectors), index = self._options(index + 2, "topic", "connector")
        if len(topics) > 1:
            raise self._untrue("a table of the SQL has two different 'topic' options")
        generated = connectors == {_GENERATOR}
        topic = topics.pop() if topics else None
        self._tables[-1] = self._tables[-1]._replace(topic=topic, generated=generated)
        return index

    def _options(self, index: int, *names: str) -> tuple[list[set[str]], int]:
        """Return the values of the options ``names`` among those that start at ``index``."""
        found: dict[str, set[str]] = {name: set() for name in names}
        depth = 1
        while depth and index < len(self._tokens):
            token = self._tokens[index]
            depth += {"(": 1, ")": -1}.get(token.key, 0)
            value = self._at(index + 2)
            assigned = self._at(index + 1).key == "=" and value.kind == "string"
            if assigned and token.kind == "string" and token.text in found:
                found[token.text].add(value.text)
            index += 1
        return list(found.values()), index

    def _insert(self, index: int) -> int:
        if self._at(index + 1).key not in ("INTO", "OVERWRITE"):
            return index + 1
        path, index = self._path(self._skip(index + 2, "TABLE"))
        if path:
            self._targets[path[-1]] = None
        return index

    def _select(self, index: int) -> int:
        self._levels[-1].selects = True
        return self._clause(index)

    def _clause(self, index: int) -> int:
        self._levels[-1].in_from = False
        return index + 1

    def _from(self, index: int) -> int:
        # EXTRACT(YEAR FROM ts), METADATA FROM 'key', IS DISTINCT FROM x: no tables there.
        if not self._levels[-1].selects or self._at(index - 1).key == "DISTINCT":
            return index + 1
        return self._join(index)

    def _join(self, index: int) -> int:
        self._levels[-1].in_from = True
        return self._table_position(index + 1)

    def _comma(self, index: int) -> int:
        return self._table_position(index + 1) if self._levels[-1].in_from else index + 1

    def _table_position(self, index: int) -> int:
        index = self._skip(index, "LATERAL")
        while self._at(index).key == "(":
            index = self._open(index)
            self._levels[-1].in_from = True
        path, index = self._path(index)
        if path and self._at(index).key != "(":  # otherwise a table function
            self._read(path)
        return index

    def _read(self, path: tuple[str, ...]) -> None:
        if len(path) > 1 or not self._visible[path[-1]]:
            self._reads[path[-1]] = None

    def _table_argument(self, index: int) -> int:
        path, after = self._path(index + 1)
        if not path or len(self._levels) == 1 or self._at(index - 1).key not in ("(", ",", ">"):
            return index + 1
        self._read(path)
        return after

    def _as(self, index: int) -> int:
        following = self._at(index + 1).key
        if following == "SELECT" and self._created and len(self._levels) == 1:
            self._targets[self._created[-1]] = None
        if following != "(" or self._at(index + 2).key not in _QUERY_STARTS:
            return index + 1
        before = index - 1
        if self._at(before).key == ")":
            before = self._closed_at - 1
        self._levels.append(_Level(index + 1, self._at(before).text))
        return index + 2

    def _open(self, index: int) -> int:
        self._levels.append(_Level(index))
        return index + 1

    def _close(self, index: int) -> int:
        if len(self._levels) > 1:
            level = self._levels.pop()
            self._closed_at = level.opened_at
            self._visible.subtract(level.expressions)
            if level.defines is not None:
                self._levels[-1].expressions.append(level.defines)
                self._visible[level.defines] += 1
        return index + 1

    def _end_statement(self, index: int) -> int:
        self._start_statement()
        return index + 1
