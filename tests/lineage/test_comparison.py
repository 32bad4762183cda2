"""The difference of two exports, as `export --check` tells it."""

from __future__ import annotations

from support.lineage_events import dataset, lines

from streamt_ol.lineage.comparison import changes


def test_names_show_paths_and_no_secret() -> None:
    event = dataset("/p/x-token=1/@a", namespace="s3://user:SECRET@bucket")
    assert changes(b"", "old.jsonl", [event]) == [
        "added: dataset '/p/x-token=1/@a' in 's3://***@bucket'"
    ]
    assert changes(lines([event]), "old.jsonl", []) == [
        "removed: dataset '/p/x-token=1/@a' in 's3://***@bucket'"
    ]
