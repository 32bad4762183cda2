"""What `export` and `stage emit` say when they have written a file."""

from __future__ import annotations

from pathlib import Path

from streamt_ol.contracts import State
from streamt_ol.redaction import place


def written(result: State, output_file: Path) -> str:
    """Return the line that confirms a written file, from what the last stage returned."""
    counts = result["counts"]
    return (
        f"wrote {counts['total']} events ({counts['dataset']} datasets, {counts['job']} jobs) "
        f"to {place(str(output_file))}"
    )
