"""The kind of a model, as streamt decides it: from what is declared, else from its SQL's text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamt_ol.project.materialization import (
    FLINK,
    GATEWAY,
    SINK,
    TOPIC,
    ModelDeclaration,
    effective,
    of_sql,
)

# fmt: off
FUNCTIONS = (
    "TUMBLE", "HOP", "SESSION", "CUMULATE",
    "ROW_NUMBER", "LAG", "LEAD", "RANK", "DENSE_RANK", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE",
    "COUNT", "SUM", "AVG", "MIN", "MAX", "COLLECT", "LISTAGG", "ML_PREDICT", "ML_EVALUATE",
)
# fmt: on
PAIRS = (("GROUP", "BY"), ("ORDER", "BY"), ("SELECT", "DISTINCT"))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_call_of_these_functions_is_a_flink_job(name: str) -> None:
    for call in (
        f"{name}(x)",
        f"{name.lower()} \n\t(x)",
        f"a+{name}(x)",
        f"'{name}('",
        f"`{name}(`",
    ):
        assert of_sql(f"SELECT {call} FROM t") == FLINK, call
    for none in (
        name,
        f"{name}.(x)",
        f"MY_{name}(x)",
        f"{name}_OF(x)",
        f"{name}2(x)",
        f"é{name}(x)",
    ):
        assert of_sql(f"SELECT {none} FROM t") == GATEWAY, none


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a FROM t GROUP BY a",
        "SELECT a FROM t group\n  by a",
        "SELECT a FROM t ORDER BY a",
        "SELECT DISTINCT a FROM t",
        "select\tdistinct a FROM t",
        "SELECT a FROM t JOIN u ON true",
        "SELECT a FROM t LEFT\nJOIN\nu ON true",
        "SELECT 'GROUP BY x' FROM t",
        "SELECT a FROM t -- ORDER BY later",
        "SELECT a /* to JOIN with u */ FROM t",
        "SELECT `count(`, a FROM t",
        "{# GROUP BY #} SELECT a FROM t",
        "SELECT * FROM t GROUP BY a",
    ],
)
def test_these_words_are_a_flink_job_wherever_they_stand(sql: str) -> None:
    assert of_sql(sql) == FLINK


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM t",
        " \n select *\nfrom t",
        "SELECT * FROM t -- nothing more",
        "SELECT * FROM t;",
        "SELECT * FROM (SELECT id FROM t)",
        "SELECT * FROM t UNION ALL SELECT a FROM u",
        "SELECT * FROM a, b",
        "SELECT * FROM (VALUES (1))",
        "SELECT * FROM t HAVING a > 1",
        "SELECT * FROM elsewhere",
        "SELECT * FROM t WHEREVER",
    ],
)
def test_what_begins_as_a_bare_select_is_a_topic(sql: str) -> None:
    assert of_sql(sql) == TOPIC


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM t WHERE a > 1",
        "SELECT * FROM t LIMIT 3",
        "SELECT * FROM t -- where",
        "SELECT * FROM t /* no limit */",
        "SELECT *, a FROM t",
        "SELECT * FROMAGE t",
        "SELECT*FROM t",
        "-- all\nSELECT * FROM t",
        "WITH x AS (SELECT a FROM t) SELECT * FROM x",
        "SELECT a FROM t",
        "SELECT a FROM t, u",
        "SELECT a FROM t HAVING a > 1",
        "SELECT SUM OVER, STDDEV(x), JSON_OBJECTAGG(x) FROM t",
        "SELECT a FROM t UNION SELECT b FROM t INTERSECT SELECT c FROM t",
        "SELECT a FROM t WHERE EXISTS (SELECT 1)",
        "SELECT a FROM t, LATERAL TABLE(f(x))",
        "SELECT a FROM t (JOIN)",
        "SELECT a FROM t, JOINED",
        "SELECT a AS GROUPBY FROM t",
        "SELECT ALL DISTINCT a FROM t",
        "-- todo",
        ";",
    ],
)
def test_other_sql_is_a_virtual_topic(sql: str) -> None:
    assert of_sql(sql) == GATEWAY


class TestOrder:
    """The declarations that decide, in this order, each before all that follow."""

    GROUPED = "SELECT COUNT(*) FROM t"

    @pytest.mark.parametrize(
        ("declared", "kind"),
        [
            (ModelDeclaration(executor="kafka_streams", sql=GROUPED, virtual_topic=True), TOPIC),
            (ModelDeclaration(executor="flink", sql="SELECT a FROM t"), FLINK),
            (ModelDeclaration(executor="flink", materialized=TOPIC, sql=GROUPED), TOPIC),
            (ModelDeclaration(materialized=SINK, sql=GROUPED, virtual_topic=True), SINK),
            (ModelDeclaration(materialized=GATEWAY, has_from=True), GATEWAY),
            (ModelDeclaration(has_from=True, virtual_topic=True), SINK),
            (ModelDeclaration(has_from=True, sql=GROUPED), FLINK),
            (ModelDeclaration(virtual_topic=True, sql=GROUPED), GATEWAY),
            (ModelDeclaration(virtual_topic=True), GATEWAY),
            (ModelDeclaration(sql="SELECT * FROM t"), TOPIC),
            (ModelDeclaration(sql="SELECT a FROM t"), GATEWAY),
            (ModelDeclaration(), TOPIC),
        ],
    )
    def test_with_a_gateway(self, declared: ModelDeclaration, kind: str) -> None:
        assert effective(declared, gateway=True) == kind

    @pytest.mark.parametrize(
        ("declared", "kind"),
        [
            (ModelDeclaration(sql="SELECT a FROM t"), FLINK),
            (ModelDeclaration(materialized=GATEWAY, sql="SELECT a FROM t"), FLINK),
            (ModelDeclaration(virtual_topic=True, sql="SELECT a FROM t"), GATEWAY),
            (ModelDeclaration(materialized=GATEWAY, virtual_topic=True), GATEWAY),
            (ModelDeclaration(sql="SELECT * FROM t"), TOPIC),
            (ModelDeclaration(has_from=True), SINK),
        ],
    )
    def test_without_one_a_virtual_topic_is_a_flink_job(
        self, declared: ModelDeclaration, kind: str
    ) -> None:
        assert effective(declared, gateway=False) == kind


def words_of(text: str) -> list[tuple[int, int]]:
    """Return where each run of letters, digits and underscores begins and ends."""
    words: list[tuple[int, int]] = []
    for at, character in enumerate(text):
        if not (character.isalnum() or character == "_"):
            continue
        if words and words[-1][1] == at:
            words[-1] = words[-1][0], at + 1
        else:
            words.append((at, at + 1))
    return words


def calls_or_joins(text: str, start: int, end: int) -> bool:
    if text[start:end] in FUNCTIONS and text[end:].lstrip().startswith("("):
        return True
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    return text[start:end] == "JOIN" and before.isspace() and after.isspace()


def begins_as_a_bare_select(text: str) -> bool:
    for word in ("SELECT", "*", "FROM"):
        text = text.lstrip()
        if not text.startswith(word):
            return False
        text = text[len(word) :]
        if word != "FROM" and not text[:1].isspace():
            return False
    return not (text[:1].isalnum() or text[:1] == "_")


def second_writing(sql: str) -> str:
    """The rule written again, over words and what stands between them, without expressions."""
    text = sql.upper()
    words = words_of(text)
    if any(calls_or_joins(text, *word) for word in words):
        return FLINK
    for first, second in pairwise(words):
        pair = text[slice(*first)], text[slice(*second)]
        if pair in PAIRS and text[first[1] : second[0]].isspace():
            return FLINK
    filtered = not {"WHERE", "LIMIT"}.isdisjoint(text[slice(*word)] for word in words)
    return TOPIC if begins_as_a_bare_select(text) and not filtered else GATEWAY


PIECES = st.sampled_from(
    [
        *FUNCTIONS, "SELECT", "DISTINCT", "*", "FROM", "GROUP", "ORDER", "BY", "JOIN", "WHERE",
        "LIMIT", "(", ")", " ", "\n", "\t", "\u00a0", "_", "é", "ß", "1", "'", "`", "--", "/*", ",",
        "select", "join", "count", "jo\u0131n", "t", ";", "SELECT * FROM t", "{{ source('a') }}",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=12).map("".join) | st.lists(PIECES, max_size=12).map(" ".join))
@example("")
@example("select * from")
@example("SELECT * FROM\u00a0t join ")
def test_an_independent_writing_of_the_rule_agrees(sql: str) -> None:
    assert of_sql(sql) == second_writing(sql)
