"""YAML with places: as PyYAML's safe loader reads it, minus what nobody should accept."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from streamt_ol.problems import PARSE, StreamtOlError
from streamt_ol.reading.strict_yaml import parse_yaml
from streamt_ol.reading.yaml_values import YamlList, YamlMap

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
PRINTABLE = st.text(st.characters(exclude_categories=["Cs", "Cc", "Co", "Cn"]), max_size=12)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False)
    | PRINTABLE
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PRINTABLE, inner, max_size=4),
    max_leaves=20,
)


def fault(text: str) -> tuple[str, str]:
    with pytest.raises(StreamtOlError) as caught:
        parse_yaml(text, "m.yml")
    assert caught.value.code == PARSE
    return str(caught.value.location), caught.value.message


class TestValues:
    @given(VALUES, st.booleans())
    def test_agree_with_the_safe_loader(self, value: Any, flow: bool) -> None:
        text = yaml.safe_dump(value, default_flow_style=flow, allow_unicode=True, width=1000)
        assert parse_yaml(text, "m.yml") == yaml.safe_load(text) == value

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "# nothing",
            "a: yes\nb: 0x1F\nc: 1_000\nd: 2026-01-31\ne: 2026-01-31T10:00:00Z\nf: ~\ng: 1e3",
            "a: 'yes'\nb: \"0x1F\"\nc: |\n  text\nd: >-\n  more\n  text",
            "a: &x {k: 1}\nb: *x\nc: {<<: *x, k: 2, l: 3}\nd: {k: 3, <<: [*x, {m: 4}]}",
            "- <<\n- [=]\n- '<<'",
            "? a\n: b",
            "1: one\n2.5: two\nfalse: three",
        ],
    )
    def test_agree_on_what_yaml_has_of_its_own(self, text: str) -> None:
        if "<<\n" in text:  # outside a mapping it is a text like any other
            assert parse_yaml(text, "m.yml") == ["<<", ["="], "<<"]
        else:
            assert parse_yaml(text, "m.yml") == yaml.safe_load(text)

    @given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), SCALARS, min_size=1))
    def test_lines_are_those_of_the_keys(self, value: dict[str, Any]) -> None:
        text = "# first\n" + yaml.safe_dump(value, width=10_000)
        parsed = parse_yaml(text, "m.yml")
        lines = text.split("\n")
        assert isinstance(parsed, YamlMap)
        for key in value:
            start = lines[parsed.lines[key] - 1].strip("'\"? ")
            assert start.startswith(key)

    def test_a_merge_key_is_a_text_where_it_is_no_key(self) -> None:
        assert parse_yaml("<<", "m.yml") == "<<"
        assert parse_yaml("a: <<", "m.yml") == {"a": "<<"}

    def test_items_have_lines(self) -> None:
        parsed = parse_yaml("a:\n  - 1\n\n  - {b: 2}\n", "m.yml")["a"]
        assert isinstance(parsed, YamlList)
        assert (parsed.file, parsed.lines, parsed[1].line) == ("m.yml", [2, 4], 4)

    def test_merged_keys_keep_their_lines(self) -> None:
        parsed = parse_yaml("a: &a\n  k: 1\nb:\n  <<: *a\n  l: 2\n", "m.yml")["b"]
        assert parsed == {"k": 1, "l": 2}
        assert parsed.lines == {"k": 2, "l": 5}

    def test_keys_have_the_text_that_the_file_has(self) -> None:
        text = "a: &a {on: 1, Off: 2, ~: 3, 0x10: 4, 'yes': 5}\nb: {<<: *a, &k no: 6}\n? *k\n: 7\n"
        parsed = parse_yaml(text, "m.yml")
        written = {"on": True, "Off": False, "~": None, "0x10": 16, "yes": "yes"}
        assert {parsed["a"].key_text(key): key for key in parsed["a"]} == written
        merged = [parsed["b"].key_text(key) for key in parsed["b"]]
        assert sorted(merged) == ["0x10", "no", "on", "yes", "~"]
        assert parsed[False] == 7


class TestFaults:
    @pytest.mark.parametrize(
        ("text", "location", "says"),
        [
            ("a: 1\nb: 2\na: 3", "m.yml:3", "the key 'a' is already there, at line 1"),
            ("{a: 1, 'a': 2}", "m.yml:1", "already there"),
            ("on: 1\nyes: 2", "m.yml:2", "the key 'on' is already there, at line 1"),
            ("a: 1\nb: [", "m.yml:2", "not valid YAML"),
            ("a: 1\n\tb: 2", "m.yml:2", "not valid YAML"),
            ("a: !x 1", "m.yml:1", "tags are not allowed"),
            ("a: !!str 1", "m.yml:1", "tags are not allowed"),
            ("a: 1\n--- \nb: 2", "m.yml:2", "second YAML document"),
            ("a: *b", "m.yml:1", "the alias 'b' has no anchor before it"),
            ("a: &a {b: *a}", "m.yml:1", "the anchor 'a' holds itself"),
            ("? [a]\n: b", "m.yml:1", "a key must be a plain value"),
            ("a: {<<: 1}", "m.yml:1", "only mappings can be merged"),
            ("a: 1\nb: 2026-13-41", "m.yml:2", "out of range"),
            ("a: " + "9" * 5000, "m.yml:1", "out of range"),
            ("a: \x07", "m.yml:1", "a character is not allowed"),
            ("a: 1\nb: \x00", "m.yml:2", "a character is not allowed"),
            ("[" * 100_000, "m.yml:1", "nest"),
            ("- " * 1000 + "x", "m.yml:1", "nested deeper than"),
            ("{a: " * 70, "m.yml:1", "nested deeper than"),
        ],
    )
    def test_have_a_line(self, text: str, location: str, says: str) -> None:
        where, message = fault(text)
        assert where == location
        assert says in message

    def test_aliases_count_with_what_they_stand_for(self) -> None:
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 40)]
        where, message = fault("\n".join(lines))
        assert message == "aliases stand for too many values"
        assert int(where.removeprefix("m.yml:")) < 12

    def test_aliases_do_not_nest_deeper_than_anything_else(self) -> None:
        lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 100))]
        assert fault("\n".join(lines)) == ("m.yml:64", "nested deeper than 64 levels")

    def test_ordinary_aliases_are_many(self) -> None:
        columns = "c: &c [" + ", ".join(f"{{name: c{n}}}" for n in range(20)) + "]\n"
        models = "models:\n" + "".join(f"  - {{name: m{n}, columns: *c}}\n" for n in range(10_000))
        assert len(parse_yaml(columns + models, "m.yml")["models"]) == 10_000

    @given(st.text(alphabet="ab:-[]{}&*!>|'\"#,? \n\t", max_size=40))
    def test_noise_is_read_as_the_safe_loader_does_or_refused(self, noise: str) -> None:
        try:
            parsed = parse_yaml(noise, "m.yml")
        except StreamtOlError as error:
            refusal = f"{error.code} {error.location}"
            assert refusal.startswith(f"{PARSE} m.yml:")
        else:
            assert parsed == yaml.load(noise, Loader=LOADER)
