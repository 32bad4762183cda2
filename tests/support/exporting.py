"""The export in this process: what it makes of a manifest after a given stage."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamt_ol import pipeline, runner
from streamt_ol.contracts import State
from streamt_ol.stages.load_manifest import LoadManifest
from support.manifests import OPTIONS

Json = dict[str, Any]


def after(stage: str, manifest: Path | Json, options: Mapping[str, str | None] = OPTIONS) -> State:
    """Return what the pipeline holds after ``stage``."""
    content = json.dumps(manifest).encode() if isinstance(manifest, dict) else manifest.read_bytes()
    chain = pipeline.stages({}, {"load_manifest": LoadManifest(lambda _: content)})
    last = [one.name for one in chain].index(stage)
    return runner.run(chain[: last + 1], {"options": {**options, "manifest": "manifest.json"}})


def exported(manifest: Path | Json, options: Mapping[str, str | None] = OPTIONS) -> bytes:
    """Return the bytes that ``streamt-ol export`` prints for ``manifest``."""
    lines = after("canonicalize", manifest, options)["lines"]
    return "".join(f"{line}\n" for line in lines).encode()
