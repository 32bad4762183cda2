"""A project instead of its manifest: start-up on the demo, and time on a project of the same size.

The generated project has as many sources and models as the export's manifest; what it is held
against there is PyYAML's own safe loader in C on the same files.
"""

from __future__ import annotations

from pathlib import Path

from measure import PYTHON, Calls, against, calls, cost, interleaved, over, result
from table import Filled, Result, Row, Table, at_most

FIXTURES = Path(__file__).parents[1] / "fixtures"
NAMESPACES = ("--job-namespace", "bench", "--kafka-namespace", "kafka://broker.example:9092")
SOURCES, MODELS, COLUMNS = 2_000, 10_000, 8
MODELS_IN_A_FILE = 100
START_ROUNDS = 21
ROUNDS = 5
_COLUMNS = "".join(
    f"      - {{name: c{n}, type: STRING, description: column {n}}}\n" for n in range(COLUMNS)
)
# argv: the folder of the project.
FLOOR = """
import pathlib, sys, yaml
for file in pathlib.Path(sys.argv[1]).rglob("*.yml"):
    yaml.load(file.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
"""


START = Table(
    "A project instead of its manifest",
    {
        "start": Row("the demo project / the demo manifest, cold start", at_most(2.0)),
        "size": Row("a project of 10,000 models / `yaml.load` of its files", at_most(3.0)),
    },
    note=(
        f"Medians of {START_ROUNDS} interleaved runs on the demo, of {ROUNDS} on {SOURCES:,} "
        f"sources and {MODELS:,} models, held against PyYAML's own safe loader in C."
    ),
)
TABLES = (START,)


def run(folder: Path) -> Filled:
    """Measure everything about projects, with files in ``folder``."""
    yield START, {"start": start(), "size": size(folder)}


def exports(name: str, *what: str | Path) -> Calls:
    return calls(name, "export", *what, *NAMESPACES, "--quiet")


def start() -> Result:
    """Return the cold start on the demo project against that on the demo manifest."""
    costs = interleaved(
        {
            **exports("manifest", FIXTURES / "manifests" / "demo.json"),
            **exports("project", "--project-dir", FIXTURES / "projects" / "demo"),
        },
        START_ROUNDS,
    )
    return against(costs, "project", "manifest")


def size(folder: Path) -> Result:
    """Return the time of a large project against that of loading its YAML."""
    root = folder / "project"
    _write(root)
    costs = interleaved(
        {
            "yaml": lambda: cost(PYTHON, "-c", FLOOR, root),
            **exports("export", "--project-dir", root),
        },
        ROUNDS,
    )
    return result(costs, "export", over(costs["yaml"]))


def _write(root: Path) -> None:
    (root / "models").mkdir(parents=True)
    sources = "".join(
        f"  - name: s{n}\n    topic: s{n}.v1\n    columns:\n{_COLUMNS}" for n in range(SOURCES)
    )
    (root / "stream_project.yml").write_text(f"project: {{name: bench}}\nsources:\n{sources}")
    for start_at in range(0, MODELS, MODELS_IN_A_FILE):
        models = "".join(map(_model, range(start_at, start_at + MODELS_IN_A_FILE)))
        (root / "models" / f"m{start_at}.yml").write_text(f"models:\n{models}")


def _model(number: int) -> str:
    source = f'{{{{ source("s{number % SOURCES}") }}}}'
    sql = f"SELECT c0, c1 FROM {source} WHERE c0 IS NOT NULL AND c1 = 'x'"
    return f"  - name: m{number}\n    sql: |\n      {sql}\n    columns:\n{_COLUMNS}"
