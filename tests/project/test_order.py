"""However a project is cut into files and ordered, its lineage is the same."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from streamt_ol.stages.compile_project import CompileProject
from streamt_ol.stages.resolve_identities import resolve_identities

OPTIONS = {
    "job_namespace": "jobs",
    "kafka_namespace": "kafka://broker.example:9092",
    "event_time": "2026-01-31T12:00:00Z",
}


@st.composite
def projects(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Sources, and models that each read one or two of what comes before them."""
    sources = [{"name": f"s{n}", "topic": f"s{n}.v1"} for n in range(draw(st.integers(1, 3)))]
    readable = [f"{{{{ source('s{n}') }}}}" for n in range(len(sources))]
    models: list[dict[str, Any]] = []
    for number in range(draw(st.integers(0, 5))):
        read = draw(st.lists(st.sampled_from(readable), min_size=1, max_size=2))
        sql = f"SELECT {draw(st.sampled_from(['*', 'id', 'COUNT(*)']))} FROM {', '.join(read)}"
        models.append({"name": f"m{number}", "sql": sql})
        readable.append(f"{{{{ ref('m{number}') }}}}")
    return sources, models


def lineage(root: Path, cut: dict[str, list[list[dict[str, Any]]]]) -> dict[str, Any]:
    """Return the lineage of the project whose lists are cut into these files."""
    (root / "stream_project.yml").write_text("project: {name: p}")
    for kind, files in cut.items():
        (root / kind).mkdir()
        for number, entries in enumerate(files):
            # JSON is YAML, too.
            (root / kind / f"f{number}.yml").write_text(json.dumps({kind: entries}))
    state = CompileProject({})({"options": {**OPTIONS, "project_dir": str(root)}})
    projection = resolve_identities(state)
    for part in (*projection["datasets"], *projection["jobs"]):
        del part["declared_at"]
    return {"datasets": projection["datasets"], "jobs": projection["jobs"]}


@settings(max_examples=60)
@given(projects(), st.data())
def test_order_and_files_decide_nothing(
    project: tuple[list[dict[str, Any]], list[dict[str, Any]]], data: st.DataObject
) -> None:
    kinds = dict(zip(("sources", "models"), project, strict=True))
    shuffled = {}
    for kind, entries in kinds.items():
        order = data.draw(st.permutations(entries))
        at = data.draw(st.integers(0, len(order)))
        shuffled[kind] = [order[:at], order[at:]]
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        whole = lineage(Path(one), {kind: [entries] for kind, entries in kinds.items()})
        assert lineage(Path(other), shuffled) == whole
