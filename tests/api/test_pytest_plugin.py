"""The fixture `openlineage_events` as a project of somebody else uses it: in a real pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import clean_environment

EMIT = """
import json, urllib.request
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import DatasetEvent, StaticDataset

def emit(time="2026-01-31T23:59:59Z"):
    dataset = StaticDataset(namespace="kafka://b:9092", name="orders")
    OpenLineageClient().emit(DatasetEvent(eventTime=time, producer="urn:x", dataset=dataset))

def post(url, body):
    request = urllib.request.Request(url + "/any", data=body, method="POST")
    return urllib.request.urlopen(request).status
"""


def run(folder: Path, body: str) -> tuple[int, str]:
    (folder / "test_it.py").write_text(EMIT + body)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", folder],
        capture_output=True, cwd=folder, env=clean_environment(), timeout=120, check=False,
    )  # fmt: skip
    return ran.returncode, ran.stdout.decode()


@pytest.mark.parametrize("way", ["http_environment", "file_environment"])
def test_what_the_official_client_emits_is_collected(tmp_path: Path, way: str) -> None:
    status, out = run(
        tmp_path,
        f"""
def test_producer(openlineage_events, monkeypatch):
    for name, value in openlineage_events.{way}.items():
        monkeypatch.setenv(name, value)
    emit()
    [event] = openlineage_events.assert_valid()
    assert event["dataset"]["name"] == "orders"
    assert openlineage_events.events == [event]
""",
    )
    assert status == 0, out


def test_an_invalid_event_fails_the_test_at_its_end(tmp_path: Path) -> None:
    status, out = run(
        tmp_path,
        """
def test_producer(openlineage_events):
    assert post(openlineage_events.url, b'{"eventTime": "2026-01-31T23:59:59Z"}') == 201
""",
    )
    assert status == 1
    assert "1 events were emitted" in out
    assert "OL-R" in out


@pytest.mark.parametrize("ignored", [True, False])
def test_a_rule_is_switched_off(tmp_path: Path, ignored: bool) -> None:
    status, out = run(
        tmp_path,
        f"""
def test_producer(openlineage_events):
    if {ignored}:
        openlineage_events.ignore.add("OL-R013")
    with openlineage_events.path.open("a") as file:
        file.write(json.dumps({{
            "eventTime": "yesterday", "producer": "urn:x", "schemaURL":
            "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
            "dataset": {{"namespace": "n", "name": "d"}},
        }}) + "\\n")
""",
    )
    assert status == (0 if ignored else 1), out
    assert ("OL-R013 <events>:1 /eventTime: " in out) is not ignored


def test_a_test_that_emits_nothing_passes_and_starts_nothing(tmp_path: Path) -> None:
    status, out = run(
        tmp_path,
        """
import threading
def test_nothing(openlineage_events):
    assert openlineage_events.assert_valid() == []
    assert "openlineage" not in [thread.name for thread in threading.enumerate()]
""",
    )
    assert status == 0, out


def test_it_costs_nothing_when_unused() -> None:
    script = (
        "import pytest, sys, json; before = set(sys.modules); import streamt_ol.pytest_plugin\n"
        "print(sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert ran.stdout == b"['streamt_ol', 'streamt_ol.pytest_plugin']\n"
