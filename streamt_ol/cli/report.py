"""What `export` and `stage emit` say when they have written a file."""

from __future__ import annotations

from pathlib import Path

from streamt_ol.contracts import Counts
from streamt_ol.redaction import place


def written(counts: Counts, output_file: Path) -> str:
    """Return the line that confirms a written file."""
    return (
        f"wrote {counts['total']} events ({counts['dataset']} datasets, {counts['job']} jobs) "
        f"to {place(str(output_file))}"
    )
