"""A change touches few files: each is made to a copy of the program, which then has it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from support.commands import clean_environment
from support.openlineage_events import Event, dataset_event, facet, job_event, run_event, topic

ROOT = Path(__file__).parents[1]
# What docs and tests are not counted among.
MOST_FILES = 3


class Edit(NamedTuple):
    """Text that is put behind an anchor, the only one of its kind in a file; at its end without."""

    text: str
    after: str = ""


Edits = dict[str, list[Edit]]


class Program:
    """A copy of the program with edits."""

    def __init__(self, folder: Path, edits: Edits) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "streamt_ol", folder / "streamt_ol")
        for name, changes in edits.items():
            path = folder / name
            text = path.read_text("utf-8") if path.exists() else ""
            for edit in changes:
                if edit.after:
                    assert text.count(edit.after) == 1, (name, edit.after)
                    text = text.replace(edit.after, edit.after + edit.text)
                else:
                    text += edit.text
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")

    def __call__(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "streamt_ol", *map(str, arguments)],
            cwd=self.folder,
            env=clean_environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


def write(path: Path, events: list[Event]) -> Path:
    path.write_text("".join(json.dumps(event) + "\n" for event in events), "utf-8")
    return path


def foreign(event: Event) -> Event:
    return {**event, "producer": "https://example.com/p"}


def found(program: Program, path: Path) -> list[tuple[int, str, str, str]]:
    result = program("validate", path, "--format", "json", "--jobs", "1")
    problems = json.loads(result.stdout)["data"]["problems"]
    return [(one["line"], one["rule"], one["pointer"], one["message"]) for one in problems]


def rule_row(title: str) -> Edit:
    row = f'    "OL-R099": Rule(ERROR, "{title}", "invented"),\n'
    return Edit(row, after="RULES: dict[str, Rule] = {\n")


RULE_ABOUT_AN_EVENT: Edits = {
    "streamt_ol/validation/rules.py": [rule_row("a job has less than three inputs")],
    "streamt_ol/validation/accept/local.py": [
        Edit("""

@registered(EVENT_RULES, "OL-R099")
def few_inputs(kind: str, event: Any) -> bool:
    return len(event.get("inputs", ())) < 3
""")
    ],
    "streamt_ol/validation/explain/local.py": [
        Edit("""

@registered(RULES, "OL-R099")
def few_inputs(kind: str, event: walk.Object) -> Iterator[Finding]:
    if len([*walk.listed(walk.of_kind(kind, event), "inputs")]) >= 3:
        yield finding("OL-R099", "/inputs", "three or more inputs")
""")
    ],
}


def has_rule_about_an_event(program: Program, folder: Path) -> None:
    """Some hundred events, so that the fast path takes part; streamt's own events, too."""
    three = [topic("a"), topic("b"), topic("c")]
    events = [foreign(run_event("RUNNING", inputs=[topic("a")]))] * 200
    events[7] = foreign(run_event("RUNNING", inputs=three))
    events[150] = job_event(inputs=three)
    events[199] = foreign(job_event(inputs=three))
    expected = [(line, "OL-R099", "/inputs", "three or more inputs") for line in (8, 151, 200)]
    said = found(program, write(folder / "events.jsonl", events))
    assert [one for one in said if one[1] == "OL-R099"] == expected


RULE_ABOUT_FACETS: Edits = {
    "streamt_ol/validation/rules.py": [rule_row("the description of a dataset is not 'none'")],
    "streamt_ol/validation/accept/local.py": [
        Edit("""

@registered(FACETS_RULES, "OL-R099")
def described(place: str, facets: Any) -> bool:
    text = facets.get("documentation", {}).get("description") if place == DATASET else None
    return text != "none"
""")
    ],
    "streamt_ol/validation/explain/local.py": [
        Edit("""

@registered(RULES, "OL-R099")
def described(kind: str, event: walk.Object) -> Iterator[Finding]:
    for path, dataset in walk.datasets(walk.of_kind(kind, event)):
        if walk.at(dataset, ("facets", "documentation", "description")) == "none":
            yield finding("OL-R099", pointer(*path, "facets", "documentation"), "no words")
""")
    ],
}


def has_rule_about_facets(program: Program, folder: Path) -> None:
    bad = dataset_event(documentation=facet("dataset", "documentation", description="none"))
    good = dataset_event(documentation=facet("dataset", "documentation", description="orders"))
    inner = {"inputs": [{**topic("a"), "facets": bad["dataset"]["facets"]}]}
    events = [foreign({**good, "eventTime": f"2026-01-31T00:{n:02}:00Z"}) for n in range(60)] * 3
    events[9] = foreign(bad)
    events[99] = {**bad, "eventTime": "2026-02-01T00:00:00Z"}
    events[179] = foreign(run_event("RUNNING", **inner))
    said = found(program, write(folder / "events.jsonl", events))
    assert [one for one in said if one[1] == "OL-R099"] == [
        (10, "OL-R099", "/dataset/facets/documentation", "no words"),
        (100, "OL-R099", "/dataset/facets/documentation", "no words"),
        (180, "OL-R099", "/inputs/0/facets/documentation", "no words"),
    ]


Shown = Callable[[Program, Path], None]
CHANGES: dict[str, tuple[Edits, Shown]] = {
    "a rule about an event": (RULE_ABOUT_AN_EVENT, has_rule_about_an_event),
    "a rule about facets": (RULE_ABOUT_FACETS, has_rule_about_facets),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_touches_few_files(name: str, tmp_path: Path) -> None:
    edits, shown = CHANGES[name]
    assert len(edits) <= MOST_FILES
    shown(Program(tmp_path / "copy", edits), tmp_path)
