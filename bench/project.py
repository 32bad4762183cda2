"""A project instead of its manifest: start-up on the demo, and time on a project of the same size.

The generated project has as many sources and models as the export's manifest; what it is held
against there is PyYAML's own safe loader in C on the same files.
"""

from __future__ import annotations

from pathlib import Path

from measure import PROGRAM, PYTHON, Cost, Ratio, cost, interleaved, medians, say

FIXTURES = Path(__file__).parents[1] / "fixtures"
NAMESPACES = ("--job-namespace", "bench", "--kafka-namespace", "kafka://broker.example:9092")
SOURCES, MODELS, COLUMNS = 2_000, 10_000, 8
MODELS_IN_A_FILE = 100
START_ROUNDS = 21
ROUNDS = 3
_COLUMNS = "".join(
    f"      - {{name: c{n}, type: STRING, description: column {n}}}\n" for n in range(COLUMNS)
)
# argv: the folder of the project.
FLOOR = """
import pathlib, sys, yaml
for file in pathlib.Path(sys.argv[1]).rglob("*.yml"):
    yaml.load(file.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
"""


def run(folder: Path) -> list[Ratio]:
    """Measure everything about projects, with files in ``folder``; print as it goes."""
    return [start(), size(folder)]


def exported(*what: str | Path) -> Cost:
    return cost(PROGRAM, "export", *what, *NAMESPACES, "--quiet")


def start() -> Ratio:
    """Return the cold start on the demo project against that on the demo manifest."""
    say(f"\nThe demo as a project and as a manifest, medians of {START_ROUNDS} interleaved runs")
    took = medians(
        interleaved(
            {
                "manifest": lambda: exported(FIXTURES / "manifests" / "demo.json"),
                "project": lambda: exported("--project-dir", FIXTURES / "projects" / "demo"),
            },
            START_ROUNDS,
        )
    )
    for name, seconds in took.items():
        say(f"  {name:<31} {seconds * 1000:8.1f} ms")
    return Ratio("project: demo project / demo manifest", took["project"] / took["manifest"], 2.0)


def size(folder: Path) -> Ratio:
    """Return the time of a large project against that of loading its YAML."""
    root = folder / "project"
    _write(root)
    say(f"\nA project of {SOURCES:,} sources and {MODELS:,} models")
    took = medians(
        interleaved(
            {
                "export": lambda: exported("--project-dir", root),
                "yaml.load alone": lambda: cost(PYTHON, "-c", FLOOR, root),
            },
            ROUNDS,
        )
    )
    for name, seconds in took.items():
        say(f"  {name:<31} {seconds:8.3f} s")
    ratio = took["export"] / took["yaml.load alone"]
    return Ratio("project: export / yaml.load of its files", ratio, 3.0)


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
