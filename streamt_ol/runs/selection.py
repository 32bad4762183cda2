"""The tests that `streamt test` will run, and the topics that they will read.

Implements "Test" of the specification's "Runtime command events": the inputs are the topics
that the selected sample tests consume; schema and continuous tests read none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from streamt_ol.manifest.locations import Locations
from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.redaction import shown
from streamt_ol.resolution.declarations import Declaration, Declarations, required_name, topic_names
from streamt_ol.runs.spec import Dataset

if TYPE_CHECKING:
    from streamt_ol.resolution.settings import Namespaces
    from streamt_ol.runs.arguments import StreamtArguments

SAMPLE = "sample"
Test = Mapping[str, Any]


def selected(tests: Iterable[Test], wanted: StreamtArguments) -> list[tuple[str, Test]]:
    """Return the tests that streamt selects, each with its JSON pointer in the manifest."""
    if not wanted.runs:
        return []
    return [
        (f"/tests/{index}", test)
        for index, test in enumerate(tests)
        if wanted.model in (None, test.get("model")) and wanted.type in (None, test.get("type"))
    ]


def sampled_datasets(
    tests: Iterable[tuple[str, Test]],
    manifest: Mapping[str, Any],
    namespaces: Namespaces,
    locations: Locations | None = None,
) -> tuple[Dataset, ...]:
    """Return the datasets that the sample tests among ``tests`` read: each once, sorted.

    streamt samples from Kafka and nothing else, whatever a model was compiled to: of a virtual
    topic and of a sink too it reads the Kafka topic that carries the model's topic name. Raises
    E506 at the test whose model is not declared, and where there is no namespace for topics.
    Without a sample test nothing is resolved.
    """
    samples = [(pointer, test) for pointer, test in tests if test.get("type") == SAMPLE]
    if not samples:
        return ()
    locations = locations or Locations()
    declarations = Declarations(manifest, locations)
    found = set()
    for pointer, test in samples:
        declaration = declarations.by_name.get(test.get("model") or "")
        if declaration is None:
            raise StreamtOlError(
                INVALID,
                f"the sample test reads {shown(test.get('model') or '')}, which is not declared",
                location=locations.of(f"{pointer}/model"),
            )
        found.add(Dataset(namespaces.of("kafka"), _topic(declaration)))
    return tuple(sorted(found))


def _topic(declaration: Declaration) -> str:
    """Return the topic that streamt reads: that of a source; of a model its own, or its name."""
    if declaration.kind == "source":
        return required_name(declaration.body["topic"], declaration, "topic")
    names = topic_names(declaration) or [declaration.name]
    return required_name(names[0], declaration)
