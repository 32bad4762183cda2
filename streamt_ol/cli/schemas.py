"""`streamt-ol schemas`: the table of pinned schemas, each verified."""

from __future__ import annotations

from streamt_ol.cli.output import Output
from streamt_ol.cli.parameters import Context
from streamt_ol.openlineage import schemas as pinned
from streamt_ol.openlineage.release import RELEASE


def schemas(context: Context) -> None:
    """Print the pinned OpenLineage schemas and verify the bytes, checksum, $id and form of each."""
    output: Output = context.obj
    rows = [{"name": name, **pin} for name, pin in pinned.verify_all().items()]
    total = sum(pin["bytes"] for pin in pinned.pins().values())
    if output.json:
        output.envelope({"release": RELEASE, "bytes": total, "schemas": rows})
        return
    lines = [
        f"{row['name']:<42} {row['bytes']:>5} {row['sha256']} {row['pinned_by']:<13} {row['id']}\n"
        for row in rows
    ]
    lines.append(f"verified {len(rows)} schemas of OpenLineage {RELEASE}, {total} bytes\n")
    output.data(line.encode() for line in lines)
