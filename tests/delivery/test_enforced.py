"""Receivers refuse what `check` calls refused, and take what it calls accepted.

The servers are written from what is documented, not from the rules here.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.commands import streamt_ol
from support.delivery.enforcing import OPTIONS, SECRET_KEY, SERVERS, Enforcing
from support.delivery.events import dataset, facet, job, refs, run, write
from support.delivery.generated_events import Sample, check_generated

from streamt_ol.delivery.items import Item
from streamt_ol.delivery.judgement import judged
from streamt_ol.delivery.outcome import Verdict
from streamt_ol.delivery.receivers import RECEIVERS
from streamt_ol.delivery.routes import route_for
from streamt_ol.delivery.routes.options import DeliveryOptions
from streamt_ol.delivery.validity import Validity

Event = dict[str, Any]
AWS = {
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
    "AWS_EC2_METADATA_DISABLED": "true",
}
SETTINGS = {"namespaceToServiceMapping": {"postgresql://h:5432": "pg"}}


def parameters(name: str) -> dict[str, str]:
    return dict(text.split("=") for text in OPTIONS.get(name, []) if text != "--param")


@pytest.mark.parametrize("name", SERVERS)
def test_verdicts_are_what_the_server_does(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in AWS.items():
        monkeypatch.setenv(key, value)
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(SETTINGS))
    with Enforcing(name) as server:
        options = DeliveryOptions(
            name, url=server.url, parameters=parameters(name), retries=0, timeout=60,
            namespace_map=path if name == "openmetadata" else None,
        )  # fmt: skip
        route = route_for(options, os.environ)
        sender = route.make()

        def verdict_on(event: Event) -> Verdict:
            text = json.dumps(event).encode()
            return judged(route.receiver, Item(1, text, text), len(text), Validity())[0]

        sample = Sample()

        def check(event: Event) -> None:
            text = json.dumps(event).encode()
            verdict = verdict_on(event)
            sample.add(event, verdict.status)
            (outcome,) = sender.deliver([Item(1, text, text)])
            refused = outcome.status is not None and outcome.status >= 400
            if verdict.status == "refused":
                assert refused, (verdict, outcome)
            elif verdict.status == "accepted":
                assert outcome.state == "sent", (verdict, outcome)
            elif verdict.status == "ignored":
                assert not refused, (verdict, outcome)

        try:
            check_generated(name, verdict_on, check)
        finally:
            sender.close()
        more = ["--namespace-map", str(path)] if name == "openmetadata" else []
        where = ["--to", name, "--url", server.url, *OPTIONS.get(name, []), *more]
        sample.send(tmp_path, *where, environment=AWS)


@pytest.mark.parametrize("name", SERVERS)
def test_send_says_what_the_server_took(name: str, tmp_path: Path) -> None:
    """Accepted: an event that everybody takes, made of two that some do not."""
    fields = {"schema": facet("SchemaDatasetFacet", fields=[{"name": "a", "type": "int"}])}
    ends: dict[str, Any] = {
        side: [{"namespace": "postgresql://h:5432", "name": f"d.s.{side}", "facets": fields}]
        for side in ("inputs", "outputs")
    }
    good = run("good", **ends)
    good["run"]["facets"] = {
        "processing_engine": {**facet("ProcessingEngineRunFacet", version="1"), "name": "Flink"}
    }
    kinds = {"processingType": "BATCH", "integration": "X", "jobType": "J"}
    good["job"]["facets"] = {"jobType": facet("JobTypeJobFacet", **kinds)}
    lines = write(tmp_path / "e.jsonl", good, job("static"), dataset("d"))
    more = list(OPTIONS.get(name, []))
    if name == "openmetadata":
        (tmp_path / "s.json").write_text(json.dumps(SETTINGS))
        more += ["--namespace-map", str(tmp_path / "s.json")]
    with Enforcing(name) as server:
        done = streamt_ol(
            "send", lines, "--to", name, "--url", server.url, "--skip-unsupported", *more,
            environment=AWS,
        )  # fmt: skip
    sent = 3 if name in {"openlineage", "marquez", "truewatch", "datakit"} else 1
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"sent {sent}, skipped {3 - sent}, refused 0\n".encode()
    assert len(server.taken) == sent


def test_every_receiver_of_http_is_enforced() -> None:
    of_http = {name for name, receiver in RECEIVERS.items() if receiver.route == "http"}
    assert of_http == set(SERVERS)


class TestParameters:
    @pytest.mark.parametrize(
        "options",
        [
            ["--to", "dataplex"], ["--to", "dataplex", "--param", "project=p"],
            ["--to", "dataplex", "--param", "project=p", "--param", "location=a/../b"],
            ["--to", "dataplex", "--param", "project"],
            ["--to", "dataplex", "--param", "project=p", "--param", "project=q"],
            ["--to", "datadog", "--param", "site=example.com"],
            ["--to", "marquez", "--url", "https://h.example", "--param", "x=y"],
            ["--to", "snowflake", "--url", "https://h.example"],
            ["--to", "file", "--path", "/nowhere/x", "--param", "x=y"],
        ],
    )  # fmt: skip
    def test_what_is_missing_or_wrong_is_said(self, options: list[str]) -> None:
        done = streamt_ol("send", os.devnull, *options)
        assert done.returncode == 2
        assert done.stderr.startswith(b"E500_USAGE_ERROR --param")

    @pytest.mark.parametrize(
        ("options", "target"),
        [
            (["dataplex", "--param", "project=p", "--param", "location=eu"],
             "https://datalineage.googleapis.com/v1/projects/p/locations/eu:"
             "processOpenLineageRunEvent"),
            (["datadog"], "https://data-obs-intake.datadoghq.com/api/v1/lineage"),
            (["datadog", "--param", "site=datadoghq.eu"],
             "https://data-obs-intake.datadoghq.eu/api/v1/lineage"),
            (["datadog", "--url", "http://127.0.0.1:8126", "--endpoint",
              "/openlineage/api/v1/lineage"],
             "http://127.0.0.1:8126/openlineage/api/v1/lineage"),
            (["datazone", "--param", "domain=dzd_1", "--param", "region=eu-west-1"],
             "https://datazone.eu-west-1.api.aws/v2/domains/dzd_1/lineage/events"),
        ],
    )  # fmt: skip
    def test_addresses(self, tmp_path: Path, options: list[str], target: str) -> None:
        kinds = {"jobType": facet("JobTypeJobFacet")}
        event = run("r", inputs=refs("a"), outputs=refs("b"))
        event["job"]["facets"] = kinds
        lines = write(tmp_path / "e.jsonl", event)
        done = streamt_ol("send", lines, "--to", *options, "--dry-run")
        assert done.returncode == 0, done.stderr
        assert done.stdout.decode().rstrip().endswith(f"-> {target}")
