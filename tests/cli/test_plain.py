"""A line that is read without typer means what typer reads; typer is loaded for nothing else."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from support.commands import run_without_override
from support.manifests import FIXTURES

from streamt_ol.cli import plain, typer_app
from streamt_ol.cli.app import before_the_command
from streamt_ol.cli.commands import COMMANDS, load
from streamt_ol.cli.output import Output
from streamt_ol.cli.parameters import Declaration, Parsing, declared
from streamt_ol.problems import StreamtOlError

DEMO = FIXTURES / "manifests" / "demo.json"
WORDS = [
    "",
    "-",
    "--",
    "a",
    "b c",
    "é",
    "\udc80",
    "-x",
    "-qf",
    "--nope",
    "--nope=1",
    "--help=1",
    "-1",
    "1",
    "0",
    "007",
    "3000",
    "\u00b2",
    "10000000000",
    "=",
]


def read_plainly(command: str, words: list[str]) -> dict[str, Any] | None:
    function, parsing = load(command)
    return plain.read(declared(function), parsing, words)


@functools.cache
def typers_own(command: str) -> tuple[Any, list[dict[str, Any]]]:
    """Return the application with one command, and the list that gets what it is called with."""
    called: list[dict[str, Any]] = []
    typed = typer_app._typed

    def recording(function: Any) -> Any:
        def record(context: typer.Context, **values: Any) -> None:
            called.append(values)

        return functools.wraps(typed(function))(record)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer_app, "_typed", recording)
        return typer.main.get_command(typer_app.build(command)), called


def read_by_typer(command: str, words: list[str]) -> dict[str, Any]:
    """Return what typer calls ``command`` with. Raises what it raises."""
    application, called = typers_own(command)
    called.clear()
    application.main(args=[command, *words], standalone_mode=False, obj=Output())
    [values] = called
    return values


def with_defaults(command: str, values: dict[str, Any]) -> dict[str, Any]:
    function, _ = load(command)
    defaults = function.__defaults__ or ()
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return {**dict(zip(names[len(names) - len(defaults) :], defaults, strict=True)), **values}


@st.composite
def lines(draw: st.DrawFn, command: str) -> list[str]:
    """Draw lines of options with values, of options in odd places, and of other words."""
    parameters = declared(load(command)[0])
    flags = [flag for one in parameters.values() for flag in one.flags]
    word = st.sampled_from(WORDS)
    needed = [
        [*one.flags[:1], draw(word)]
        for one in parameters.values()
        if one.required and draw(st.integers(0, 9))
    ]
    pieces = st.one_of(
        word.map(lambda one: [one]),
        *([
            st.sampled_from(flags).map(lambda flag: [flag]),
            st.tuples(st.sampled_from(flags), word).map(list),
            st.tuples(st.sampled_from(flags), word).map(lambda two: ["=".join(two)]),
        ] if flags else []),
    )  # fmt: skip
    drawn = draw(st.permutations([*needed, *draw(st.lists(pieces, max_size=5))]))
    return [one for piece in drawn for one in piece]


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_typer_reads_the_same(command: str) -> None:
    read = 0

    @settings(max_examples=150, deadline=None)
    @given(lines(command))
    def check(words: list[str]) -> None:
        nonlocal read
        try:
            values = read_plainly(command, words)
        except StreamtOlError as error:  # words of one option are missing
            with pytest.raises(StreamtOlError, match=str(error.message)):
                read_by_typer(command, words)
            return
        if values is not None:
            read += 1
            assert with_defaults(command, values) == read_by_typer(command, words)

    check()
    assert read


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("export m.json --quiet --event-time=now", {"manifest": "m.json", "quiet": True,
                                                    "event_time": "now"}),
        ("export - --output-file x --stage a=b:c --stage d=e:f",
         {"manifest": "-", "output_file": Path("x"), "stage": ["a=b:c", "d=e:f"]}),
        ("export -q -- --m", {"manifest": "--m", "quiet": True}),
        ("export --env= --env b", {"env": "b"}),
        ("run --job-name j --input ns n --input ns m dbt run --job-name k",
         {"job_name": "j", "input": ["ns\0n", "ns\0m"],
          "command": ["dbt", "run", "--job-name", "k"]}),
        ("run --job-name j -- -x", {"job_name": "j", "command": ["-x"]}),
        ("test --deploy -p d --output json -- --x",
         {"project_dir": "d", "more": ["--deploy", "--output", "json", "--x"]}),
        ("apply --emit-openlineage --env prod", {"emit_openlineage": True, "env": "prod"}),
        ("validate a b --strict", {"events": ["a", "b"], "strict": True}),
        ("validate a --jobs 2 --max-problems=0",
         {"events": ["a"], "jobs": 2, "max_problems": 0}),
        ("graph a -f html --direction=TB", {"source": "a", "format": "html", "direction": "TB"}),
        ("schemas", {}),
    ],
)  # fmt: skip
def test_usual_lines_need_no_typer(line: str, expected: dict[str, Any]) -> None:
    command, *words = line.split(" ")
    assert read_plainly(command, words) == expected


@pytest.mark.parametrize(
    "line",
    [
        "export --nope", "export -x", "export a b", "export --env", "export --quiet=yes",
        "export --help", "test --help", "test --help=1", "test -x", "run true", "send",
        "validate --jobs 0", "validate --jobs +2", "validate --jobs 1_0", "validate --jobs",
        "graph a --max-characters 1999",
        "graph --format nope", "export -qq",
    ],
)  # fmt: skip
def test_whatever_else_is_left_to_typer(line: str) -> None:
    command, *words = line.split(" ")
    assert read_plainly(command, words) is None


def test_an_option_whose_value_typer_changes_is_left_to_typer() -> None:
    for settings_, read in (({"min": 0, "help": "A number."}, {"n": 3}), ({"callback": abs}, None)):
        option = Declaration(int, ("--n",), settings_, (), required=False)
        assert plain.read({"n": option}, Parsing(), ["--n", "3"]) == read


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["--output", "json", "export", "m"], ["m"]),
        (["--output=text", "export", "--output", "x"], ["--output", "x"]),
        (["--output", "yaml", "export"], None),
        (["--version", "export"], None),
        (["--output"], None),
        ([], None),
    ],
)
def test_only_a_known_output_may_stand_before_the_command(
    line: list[str], words: list[str] | None
) -> None:
    assert before_the_command(line).words == words


def test_a_file_that_cannot_be_read_is_refused_as_typer_refuses_it(tmp_path: Path) -> None:
    earlier = tmp_path / "earlier.jsonl"
    earlier.write_bytes(b"")
    earlier.chmod(0)
    ran = run_without_override("export", DEMO, "--check", earlier)
    assert ran.returncode == 2
    assert ran.stderr.startswith(b"E500_USAGE_ERROR: Invalid value for '--check': ")
    assert b"is not readable" in ran.stderr
