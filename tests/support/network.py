"""Child processes without a network: see ``no_network/sitecustomize.py``."""

from __future__ import annotations

from pathlib import Path

NO_NETWORK = str(Path(__file__).parent / "no_network")
REFUSED = b"no_network: "
