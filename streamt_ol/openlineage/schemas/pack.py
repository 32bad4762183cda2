"""Rebuild the packaged resources and the table of pins from a folder of schema documents.

    python -m streamt_ol.openlineage.schemas.pack FOLDER

``FOLDER`` holds the documents of one OpenLineage release as ``NAME.json``. The result is
deterministic: the gzip containers carry neither a time nor a name. Review ``pins.json``
afterwards: it is the table that every installation is checked against.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import sys
import zlib
from pathlib import Path

from streamt_ol.openlineage.schemas import CORE, Pin, table_of_pins

# The documents whose bytes the specification's table pins; the project pins the others.
SPECIFIED = frozenset(
    {
        CORE,
        "DatasetTypeDatasetFacet.json",
        "DocumentationDatasetFacet.json",
        "DocumentationJobFacet.json",
        "ErrorMessageRunFacet.json",
        "JobTypeJobFacet.json",
        "OwnershipDatasetFacet.json",
        "OwnershipJobFacet.json",
        "SchemaDatasetFacet.json",
    }
)
# RFC 1952: deflate, no flags, no time, slowest compression, unknown operating system.
_GZIP_HEADER = bytes.fromhex("1f8b08000000000002ff")


def packed(content: bytes) -> bytes:
    """Return ``content`` gzip-compressed and base64-encoded, in lines of 76 characters."""
    deflater = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9)
    body = deflater.compress(content) + deflater.flush()
    trailer = struct.pack("<LL", zlib.crc32(content), len(content))
    return base64.encodebytes(_GZIP_HEADER + body + trailer)


def pin(name: str, content: bytes) -> Pin:
    """Return the row of the table of pins for the document ``name``."""
    return {
        "id": json.loads(content)["$id"],
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "pinned_by": "specification" if name in SPECIFIED else "project",
    }


def pack(source: Path, target: Path) -> dict[str, Pin]:
    """Write ``NAME.json.b64`` and ``pins.json`` to ``target`` from the documents in ``source``."""
    names = sorted((path.name for path in source.glob("*.json")), key=lambda n: (n != CORE, n))
    table: dict[str, Pin] = {}
    for name in names:
        content = (source / name).read_bytes()
        (target / f"{name}.b64").write_bytes(packed(content))
        table[name] = pin(name, content)
    rest = json.dumps(table, indent=1).encode() + b"\n}\n"
    (target / "pins.json").write_bytes(table_of_pins(rest))
    return table


if __name__ == "__main__":
    _, *folders = sys.argv
    if len(folders) != 1:
        sys.exit(__doc__)
    pack(Path(folders[0]), Path(__file__).parent)
