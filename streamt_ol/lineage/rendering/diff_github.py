"""A difference as workflow commands, which GitHub shows as annotations."""

from __future__ import annotations

from streamt_ol.lineage.changes import KINDS
from streamt_ol.lineage.difference import Difference
from streamt_ol.lineage.wording import sentence, summary
from streamt_ol.validation.report.github import command

_SHOWN = 100


def github(difference: Difference) -> str:
    """Return one command for each change, a warning for what may break others, and the summary."""
    lines = [
        command(
            "warning" if KINDS[change.kind].breaking else "notice",
            sentence(change),
            title=change.kind,
        )
        for change in difference.changes[:_SHOWN]
    ]
    hidden = len(difference.changes) - _SHOWN
    if hidden > 0:
        lines.append(command("notice", f"... and {hidden:,} more", title="streamt-ol diff"))
    return "".join(f"{line}\n" for line in [*lines, summary(difference.changes)])
