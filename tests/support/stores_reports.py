"""Reports of archives in a store, held to those of the same files in a folder."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

from support.commands import streamt_ol
from support.openlineage_events import dataset_event, run_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

# What begins with an underscore is left out of a folder.
CONTENTS = {
    "a/1.jsonl": run_lines(400),
    "a/2.jsonl.gz": gzip.compress(run_lines(300, "COMPLETE")),
    "a/_tmp/3.jsonl": b"{",
    "b/4.jsonl": json.dumps([dataset_event(), {}], indent=1).encode(),
}
_SPLIT = ("--split-bytes", "20k", "--partitions", "3", "--jobs", "2")


def check_reports(
    put: Callable[[str, bytes], object],
    uri: str,
    environment: dict[str, str],
    folder: Path,
    contents: Mapping[str, bytes],
    choices: Iterable[Sequence[str]],
) -> None:
    """Put ``contents`` into the store at ``uri`` and below ``folder``; compare the reports.

    Each of ``choices`` is names of inputs, read whole and in splits.
    """
    for name, data in contents.items():
        put(name, data)
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    for names in choices:
        for more in ((), _SPLIT):
            inputs = [f"{uri}/{name}" for name in names]
            remote = streamt_ol("validate", *inputs, *more, environment=environment)
            local = streamt_ol("validate", *names, cwd=folder)
            assert remote.stdout.replace(f"{uri}/".encode(), b"") == local.stdout
            assert (remote.returncode, remote.stderr) == (1, b"")
