"""Variables of a project: who wins, what is missing, and that values stay out of messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamt_ol.codes import GENERIC_WARNING
from streamt_ol.problems import ENV_VAR, StreamtOlError
from streamt_ol.project.variables import Variables


def variables(**environ: str) -> Variables:
    return Variables(environ)


class TestPrecedence:
    def test_the_environment_wins_then_the_file_added_last(self) -> None:
        known = variables(A="process")
        known.add_file("A=general\nB=general\nC=general", ".env")
        known.add_file("A=special\nB=special", ".env.prod")
        assert [known.get(name) for name in "ABCD"] == ["process", "special", "general", None]

    def test_an_empty_variable_is_set(self) -> None:
        known = variables(A="")
        known.add_file("A=file", ".env")
        assert known.get("A") == ""


class TestFiles:
    def test_quotes_comments_and_exports(self) -> None:
        known = variables()
        text = "# c\nexport A=1\nB='x # y'\nC=\"two\\nlines\"\nD=plain # comment\nE=\n\nF = 6\n"
        assert known.add_file(text, ".env") == []
        assert [known.get(name) for name in "ABCDEF"] == [
            "1", "x # y", "two\nlines", "plain", "", "6",
        ]  # fmt: skip

    def test_what_is_no_setting_is_a_warning_that_quotes_nothing(self) -> None:
        known = variables()
        warnings = known.add_file("A=1\nhunter2\n'hunter2\nB=2", ".env")
        assert {w["code"] for w in warnings} == {GENERIC_WARNING}
        assert warnings[0]["location"] == ".env:2"
        assert "hunter2" not in str(warnings)

    def test_values_may_refer_to_each_other(self) -> None:
        known = variables(HOST="h")
        known.add_file("A=${B}:1\nB=${HOST}.example", ".env")
        assert known.get("A") == "h.example:1"


class TestExpansion:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("${A}", "a"),
            ("x${A}y${A}", "xaya"),
            ("${MISSING:-d e}", "d e"),
            ("${MISSING:-}", ""),
            ("${EMPTY:-default}", "default"),
            ("${EMPTY}", ""),
            ("${A:-default}", "a"),
            ("$A $${A} {A}", "$A $a {A}"),
            ("${A:-$B {c} $}", "a $}"),
            ("$ {A} { ${A:-$}", "$ {A} { a"),
            ("${NESTED}", "${A}"),
        ],
    )
    def test_references(self, text: str, expected: str) -> None:
        known = variables(A="a", EMPTY="", NESTED="${A}")
        assert known.expand(text, "f:1") == expected

    @pytest.mark.parametrize(
        "text",
        [
            "${}", "${1A}", "${A", "${", "x ${A} ${", "${ A}", "${A }", "${A-x}", "${A:x}",
            "${KB-x}", "${KB", "${password=hunter2}", "${hunter2 }", "$${", "${A:-${B}}",
            "${A:-hunter2", "${A:-${", "${A.b}", "${\u00c4}", "${A\n}",
        ],
    )  # fmt: skip
    def test_what_opens_no_reference_is_an_error_that_quotes_nothing(self, text: str) -> None:
        with pytest.raises(StreamtOlError, match="does not open a reference") as caught:
            variables(A="a").expand(text, "models/m.yml:3")
        error = caught.value
        assert (error.code, error.location) == (ENV_VAR, "models/m.yml:3")
        assert "hunter2" not in f"{error}{error.suggestion}"

    def test_a_value_is_never_expanded_again(self) -> None:
        assert variables(A="${", B="${A").expand("${A}${B}", "f:1") == "${${A"

    def test_long_texts_take_no_long_time(self) -> None:
        text = "${A:-" + "$" * 1_000_000
        with pytest.raises(StreamtOlError, match="does not open a reference"):
            variables().expand(text, "f:1")

    def test_a_missing_variable_has_its_name_and_place_and_no_neighbours(self) -> None:
        with pytest.raises(StreamtOlError) as caught:
            variables(A="hunter2").expand("hunter2 ${A} ${MISSING_ONE}", "models/m.yml:3")
        error = caught.value
        assert (error.code, error.location) == (ENV_VAR, "models/m.yml:3")
        assert error.message == "the environment variable MISSING_ONE is not set"
        assert "hunter2" not in f"{error}{error.suggestion}"

    @pytest.mark.parametrize("text", ["A=${A}", "A=${B}\nB=${C}\nC=${A}"])
    def test_a_circle_is_an_error(self, text: str) -> None:
        known = variables()
        known.add_file(text, ".env")
        with pytest.raises(StreamtOlError, match="refers to itself") as caught:
            known.get("A")
        assert caught.value.code == ENV_VAR

    def test_a_long_chain_of_references_is_an_error(self) -> None:
        known = variables()
        known.add_file("".join(f"A{n}=${{A{n + 1}}}\n" for n in range(5000)), ".env")
        with pytest.raises(
            StreamtOlError, match="A50 refers to others more than 50 deep"
        ) as caught:
            known.get("A0")
        assert (caught.value.code, caught.value.location) == (ENV_VAR, ".env:51")

    @pytest.mark.parametrize("last", ["", "x"])
    def test_references_that_double_cost_nothing(self, last: str) -> None:
        """The last but 17 stands for 131,072 characters, where it stands for any."""
        known = variables()
        text = "".join(f"A{n}=${{A{n + 1}}}${{A{n + 1}}}\n" for n in range(40)) + f"A40={last}\n"
        known.add_file(text, ".env")
        if not last:
            assert known.get("A0") == ""
            return
        assert known.get("A24") == "x" * 65_536
        with pytest.raises(StreamtOlError, match="stand for over 100,000 characters") as caught:
            known.get("A0")
        assert (caught.value.code, caught.value.location) == (ENV_VAR, ".env:24")

    def test_a_file_read_later_changes_what_was_asked_for_before(self) -> None:
        known = variables()
        known.add_file("A=${B}\nB=old", ".env")
        assert known.get("A") == "old"
        known.add_file("B=new", ".env.prod")
        assert known.get("A") == "new"

    @given(st.text())
    def test_text_without_references_is_kept(self, text: str) -> None:
        if "${" not in text:
            assert variables().expand(text, "f:1") == text
