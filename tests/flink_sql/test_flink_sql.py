"""The reader of compiled Flink SQL: tables, topics, targets and reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamt_ol.flink_sql import Script, Table, read_script, read_tokens
from streamt_ol.problems import INVALID, StreamtOlError

STREAMT_SCRIPT = """CREATE TABLE IF NOT EXISTS orders (
    `id` BIGINT,
    `at` TIMESTAMP(3),
    WATERMARK FOR `at` AS `at` - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'orders.v1',
    'properties.bootstrap.servers' = 'internal:9092',
    'properties.sasl.jaas.config' = 'Login required password="p4ss";'
);

CREATE TEMPORARY TABLE clean_sink (
    `id` BIGINT,
    PRIMARY KEY (`id`) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'orders.clean',
    'key.format' = 'json'
);

INSERT INTO clean_sink
SELECT id, COUNT(*) AS n FROM orders GROUP BY id;"""


def refusal(sql: str) -> str | None:
    """Return the code with which ``sql`` is refused, or None if it is read."""
    try:
        read_script(sql)
    except StreamtOlError as error:
        return error.code
    return None


def reads(sql: str) -> tuple[str, ...]:
    return read_script(sql).reads


class TestTables:
    def test_reads_what_streamt_writes(self) -> None:
        assert read_script(STREAMT_SCRIPT) == Script(
            tables=(
                Table("orders", ("orders",), "orders.v1"),
                Table("clean_sink", ("clean_sink",), "orders.clean"),
            ),
            targets=("clean_sink",),
            reads=("orders",),
        )

    def test_keeps_no_option_value_but_the_topic(self) -> None:
        kept = repr(read_script(STREAMT_SCRIPT))
        assert "p4ss" not in kept
        assert "internal" not in kept
        assert "kafka" not in kept

    @pytest.mark.parametrize(
        ("sql", "table"),
        [
            ("create table t (a INT) with ('topic'='x')", Table("t", ("t",), "x")),
            ("CREATE TABLE c.d.t (a INT) WITH ('topic'='x')", Table("t", ("c", "d", "t"), "x")),
            ("CREATE TABLE `a``b` (a INT) WITH ('topic'='x')", Table("a`b", ("a`b",), "x")),
            ("CREATE TABLE `c.d`.`t` (a INT)", Table("t", ("c.d", "t"), None)),
            ("CREATE TABLE t (a INT) WITH ('connector'='datagen')", Table("t", ("t",), None, True)),
            ("CREATE TABLE t (a INT) WITH ('topic'='it''s')", Table("t", ("t",), "it's")),
            ("CREATE TABLE t (a INT) WITH ('topic'='a;b -- c')", Table("t", ("t",), "a;b -- c")),
            (r"CREATE TABLE t (a INT) WITH ('p'='C:\', 'topic'='x')", Table("t", ("t",), "x")),
            (
                "CREATE TABLE t (a INT) WITH ('p'='''topic''=', 'topic'='x')",
                Table("t", ("t",), "x"),
            ),
            ("CREATE TABLE t (a INT) WITH ('topic'='x', 'topic' = 'x')", Table("t", ("t",), "x")),
            ("CREATE TABLE t (a INT) WITH ('topic' /* ; */ = -- '\n 'x')", Table("t", ("t",), "x")),
            (
                "CREATE TABLE t (a INT) COMMENT 'WITH (''topic''=''y'')' PARTITIONED BY (a) "
                "WITH ('topic'='x')",
                Table("t", ("t",), "x"),
            ),
            ("CREATE TABLE $$t$$ (a INT) WITH ('topic'='$$x')", Table("$$t$$", ("$$t$$",), "$$x")),
            ("CREATE OR REPLACE TABLE t (a INT) WITH ('topic'='x')", Table("t", ("t",), "x")),
            ("CREATE TABLE größe (a INT) WITH ('topic'='ß')", Table("größe", ("größe",), "ß")),
        ],
    )
    def test_names_and_topics(self, sql: str, table: Table) -> None:
        assert read_script(sql).tables == (table,)

    @pytest.mark.parametrize(
        "sql",
        [
            "CREATE VIEW v AS SELECT 1",
            "CREATE CATALOG c WITH ('topic'='x')",
            "-- CREATE TABLE t (a INT) WITH ('topic'='x')",
            "/* CREATE TABLE t (a INT) */ SELECT 'CREATE TABLE t (a INT)' FROM x",
            "SELECT `CREATE TABLE t` FROM x",
            "DROP TABLE t",
            "",
            ";;",
        ],
    )
    def test_what_declares_no_table(self, sql: str) -> None:
        assert read_script(sql).tables == ()

    @pytest.mark.parametrize(
        ("options", "generated"),
        [
            ("'connector' = 'datagen'", True),
            ("'rows-per-second' = '5', 'connector'='datagen'", True),
            ("'connector' = 'kafka'", False),
            ("'connector' = 'Datagen'", False),
            ("'format' = 'datagen'", False),
            ("connector = 'datagen'", False),
        ],
    )
    def test_a_generator_of_rows(self, options: str, generated: bool) -> None:
        [table] = read_script(f"CREATE TABLE g (id INT) WITH ({options})").tables
        assert table == Table("g", ("g",), None, generated=generated)

    def test_two_different_topics_are_an_error(self) -> None:
        sql = "CREATE TABLE t (a INT) WITH ('topic'='secret1', 'topic'='secret2')"
        with pytest.raises(StreamtOlError) as caught:
            read_script(sql, "/artifacts/flink_jobs/0/sql")
        assert caught.value.code == INVALID
        assert caught.value.location == "/artifacts/flink_jobs/0/sql"
        assert "secret" not in str(caught.value)


class TestTargetsAndReads:
    @pytest.mark.parametrize(
        ("sql", "targets"),
        [
            ("INSERT INTO t SELECT 1", ("t",)),
            ("insert overwrite `a`.`b` (x, y) SELECT 1", ("b",)),
            ("INSERT INTO t PARTITION (d='x') SELECT 1", ("t",)),
            ("INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; INSERT INTO a SELECT 3", ("a", "b")),
            (
                "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END",
                "ab",
            ),
            ("CREATE TABLE t WITH ('topic'='x') AS SELECT 1", ("t",)),
            ("SELECT 'INSERT INTO t' -- INSERT INTO t", ()),
        ],
    )
    def test_targets(self, sql: str, targets: tuple[str, ...]) -> None:
        assert read_script(sql).targets == tuple(targets)

    @pytest.mark.parametrize(
        ("sql", "expected"),
        [
            ("SELECT * FROM a", "a"),
            ("SELECT * FROM a AS x, b y, c.d.`e` WHERE p IN (q, r)", "abe"),
            ("SELECT * FROM a LEFT JOIN b ON a.i = b.i, c", "abc"),
            ("SELECT * FROM a JOIN (b CROSS JOIN c) ON TRUE", "abc"),
            ("SELECT x, y FROM (SELECT p, q FROM a, b) AS t (x, y), c", "abc"),
            ("SELECT (SELECT MAX(x) FROM a), y FROM b", "ab"),
            ("SELECT * FROM a UNION ALL SELECT i, j FROM b ORDER BY k, l", "ab"),
            ("SELECT * FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(t), INTERVAL '1' HOUR))", "a"),
            ("SELECT * FROM HOP(DATA => TABLE a, SIZE => INTERVAL '1' HOUR)", "a"),
            ("SELECT * FROM a, LATERAL TABLE(split(x)) AS t(w), UNNEST(a.l) AS u(v)", "a"),
            ("SELECT * FROM a JOIN b FOR SYSTEM_TIME AS OF a.t ON a.i = b.i", "ab"),
            ("SELECT EXTRACT(YEAR FROM z), TRIM(BOTH 'x' FROM y) FROM a", "a"),
            ("SELECT x IS DISTINCT FROM y, x IS NOT DISTINCT FROM w FROM a", "a"),
            ("SELECT * FROM (VALUES (1, 'x'), (2, 'y')) AS t (i, n), a", "a"),
            ("WITH c AS (SELECT * FROM a), d (x) AS (SELECT 1 FROM c) SELECT * FROM c, d, b", "ab"),
            ("WITH a AS (SELECT * FROM a) SELECT * FROM a", "a"),
            ("WITH c AS (SELECT 1) SELECT * FROM c; SELECT * FROM c", "c"),
            ("SELECT * FROM a MATCH_RECOGNIZE (PARTITION BY p, q ORDER BY r) AS m, b", "ab"),
            ("SELECT * FROM a /*+ OPTIONS('scan.startup.mode'='x') */ AS x, b", "ab"),
            ("SELECT 'FROM z', `FROM y` FROM a -- FROM x", "a"),
            ("CREATE TABLE t (k STRING METADATA FROM 'key', b INT) WITH ('topic'='x')", ""),
            ("SELECT 1) FROM a", "a"),
        ],
    )
    def test_reads(self, sql: str, expected: str) -> None:
        assert reads(sql) == tuple(expected)


class TestText:
    @pytest.mark.parametrize(
        ("sql", "what"),
        [
            ("SELECT\n'hidden", "line 2 of the SQL opens a string"),
            ("SELECT 'hidden''", "line 1 of the SQL opens a string"),
            ("SELECT `hidden", "line 1 of the SQL opens a quoted identifier"),
            ("SELECT /* hidden", "line 1 of the SQL opens a comment"),
            ("SELECT /*/ hidden", "line 1 of the SQL opens a comment"),
        ],
    )
    def test_what_is_not_closed_is_an_error_that_quotes_nothing(self, sql: str, what: str) -> None:
        with pytest.raises(StreamtOlError, match=what) as caught:
            read_script(sql)
        assert caught.value.code == INVALID
        assert "hidden" not in caught.value.message

    @given(st.text(alphabet="ab'`\"-/*;()$ \n", max_size=40))
    def test_any_text_is_read_or_refused(self, sql: str) -> None:
        assert refusal(sql) in (None, INVALID)

    @given(st.text(), st.text())
    def test_a_string_is_one_token_whatever_it_holds(self, held: str, other: str) -> None:
        quoted = "'" + held.replace("'", "''") + "'"
        name = "`" + other.replace("`", "``") + "`"
        assert [token.text for token in read_tokens(f"{quoted} {name}")] == [held, other]

    @given(st.text())
    def test_a_topic_is_read_exactly(self, topic: str) -> None:
        escaped = topic.replace("'", "''")
        sql = f"CREATE TABLE t (a INT) WITH ('x' = 'topic', 'topic' = '{escaped}')"
        assert read_script(sql).tables == (Table("t", ("t",), topic),)

    @pytest.mark.parametrize(
        "piece", ["(", "'a'''", "/*", "-", "$$ ", "SELECT * FROM (", "1", "* "]
    )
    def test_much_of_anything_is_read_without_recursion(self, piece: str) -> None:
        assert refusal("SELECT " + piece * (300_000 // len(piece))) in (None, INVALID)
