"""`streamt-ol export --check FILE`: whether the committed lineage is current."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from streamt_ol.cli import exits
from streamt_ol.cli.output import Output
from streamt_ol.contracts import Canonical
from streamt_ol.problems import INVALID, PARSE, StreamtOlError, Warned
from streamt_ol.redaction import place

MAX_SHOWN = 100


def check_current(
    output: Output, file: Path, canonical: Canonical, warnings: Sequence[Warned]
) -> None:
    """Compare the events of ``canonical`` with the earlier export in ``file``.

    Only ``eventTime`` may differ. Prints the changes, a line each, and ends with exit status 1
    if there are any. Raises E501 for a file that cannot be read.
    """
    from streamt_ol.lineage.comparison import changes
    from streamt_ol.reading.files import DOCUMENT, read_file

    name = place(str(file))
    try:
        data = read_file(str(file), DOCUMENT)
    except OSError as error:
        message = f"the earlier export cannot be read: {error.strerror}"
        raise StreamtOlError(PARSE, message, location=name) from None
    found = changes(data, name, canonical["events"])
    counts = canonical["counts"]
    if not found:
        if output.json:
            output.envelope({"check": str(file), "changes": [], "counts": counts}, warnings)
        else:
            output.text(f"{name} is current: {counts['total']} events")
            output.warnings(warnings)
        return
    if not output.json:
        for change in found[:MAX_SHOWN]:
            output.text(change)
        if len(found) > MAX_SHOWN:
            output.text(f"... and {len(found) - MAX_SHOWN} more")
    what = "1 change" if len(found) == 1 else f"{len(found)} changes"
    stale = StreamtOlError(
        INVALID,
        f"the export is not current: {what}",
        location=name,
        suggestion="export again with --output-file in the place of --check",
    )
    output.error(stale, {"check": str(file), "changes": found, "counts": counts})
    raise typer.Exit(exits.REFUSED)
