"""Only short texts are remembered, so that memory does not grow with an input."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from support.commands import PROGRAM
from support.openlineage_events import job_event

from streamt_ol.validation.caching import LONGEST, remembering

if TYPE_CHECKING:
    from pathlib import Path


def test_only_short_texts_are_remembered() -> None:
    asked: list[str] = []

    @remembering(2)
    def length(text: str, more: str) -> int:
        asked.append(text)
        return len(text) + len(more)

    short, long = "a" * LONGEST, "a" * (LONGEST + 1)
    for _ in range(3):
        assert (length(short, ""), length(long, "")) == (LONGEST, LONGEST + 1)
    assert asked == [short, long, long, long]
    assert [length(one, "") for one in "abca"] == [1] * 4
    assert asked[4:] == ["a", "b", "c", "a"]  # the last two
    assert [length(short, "b") for _ in range(2)] == [LONGEST + 1] * 2
    assert asked[8:] == [short, short]  # too long together


URL = "https://openlineage.io/spec/2-0-2/OpenLineage.json?"


@pytest.mark.parametrize("where", ["name", "url", "other url", "name of an invalid one", "facet"])
def test_memory_does_not_grow_with_long_texts(where: str, tmp_path: Path) -> None:
    path, filler = tmp_path / "events.jsonl", "x" * 200_000
    with path.open("w") as file:
        for number in range(400):
            text = f"{number}{filler}"
            event: dict[str, Any] = job_event()
            event["producer"] = "no uri" if where == "name of an invalid one" else "urn:a"
            if where.startswith("name"):
                event["job"]["name"] = text
            elif where == "facet":
                event["job"]["facets"]["jobType"]["_schemaURL"] = f"urn:{text}"
            else:
                event["schemaURL"] = f"{URL if where == 'url' else 'urn:'}{text}"
            file.write(f"{json.dumps(event)}\n")
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    arguments = [sys.executable, "-c", code, PROGRAM, "validate", str(path), "--jobs", "1"]
    peak = int(subprocess.run(arguments, capture_output=True, check=True).stdout)
    unit = 1 if sys.platform == "darwin" else 1024
    assert peak * unit < 95_000_000  # 80 MB of texts came by
