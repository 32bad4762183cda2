"""Which tests `streamt test` will run, and which topics they will read.

Implements "Test" of the specification's "Runtime command events": the inputs are the topics
that the selected sample tests consume; schema and continuous tests read none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from streamt_ol.problems import INVALID, Location, StreamtOlError
from streamt_ol.redaction import shown
from streamt_ol.resolution.artifacts import Artifacts
from streamt_ol.resolution.declarations import Declaration, Declarations, required_name
from streamt_ol.resolution.outputs import Topic, compiled
from streamt_ol.runs.spec import Dataset

if TYPE_CHECKING:
    from streamt_ol.resolution.settings import Namespaces
    from streamt_ol.runs.arguments import StreamtArguments

SAMPLE = "sample"
Test = Mapping[str, Any]


def selected(tests: Iterable[Test], wanted: StreamtArguments) -> list[tuple[str, Test]]:
    """Return the tests that streamt selects, each with its JSON pointer in the manifest."""
    if not wanted.runs_tests:
        return []
    return [
        (f"/tests/{index}", test)
        for index, test in enumerate(tests)
        if wanted.model in (None, test.get("model")) and wanted.type in (None, test.get("type"))
    ]


def sampled_datasets(
    tests: Iterable[tuple[str, Test]], manifest: Mapping[str, Any], namespaces: Namespaces
) -> tuple[Dataset, ...]:
    """Return the datasets that the sample tests among ``tests`` read: each once, sorted.

    Raises E506 at the test whose model is not declared or has no topic, and wherever the
    manifest or the namespaces give a topic no unambiguous identity. Without a sample test
    nothing is resolved.
    """
    samples = [(place, test) for place, test in tests if test.get("type") == SAMPLE]
    if not samples:
        return ()
    declarations = Declarations(manifest)
    artifacts = Artifacts(manifest, declarations)
    found = set()
    for place, test in samples:
        declaration = declarations.named(test.get("model") or "")
        topic = declaration and _topic(declaration, artifacts)
        if topic is None:
            what = "is not declared" if declaration is None else "writes no topic"
            raise StreamtOlError(
                INVALID,
                f"the sample test reads {shown(test.get('model') or '')}, which {what}",
                location=Location(pointer=f"{place}/model"),
            )
        found.add(Dataset(namespaces.of(topic.kind), topic.name))
    return tuple(sorted(found))


def _topic(declaration: Declaration, artifacts: Artifacts) -> Topic | None:
    if declaration.kind == "source":
        name = required_name(declaration.body["topic"], declaration.at("topic"))
        return Topic("kafka", name)
    return compiled(declaration, artifacts).topic
