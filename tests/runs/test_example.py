"""The example for a VAST DataEngine function, with a real tracer and a real server."""

from __future__ import annotations

import importlib.util
import logging
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from support.delivery.servers import Server
from support.streamt.place import kinds, sent

EXAMPLE = Path(__file__).parents[2] / "examples" / "vast_dataengine" / "main.py"
PROVIDER = TracerProvider(shutdown_on_exit=False)
trace.set_tracer_provider(PROVIDER)
CTX = SimpleNamespace(logger=logging.getLogger("function"))


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name, value in {
        "LINEAGE_NAMESPACE": "vast-dataengine://my-tenant",
        "VASTPIPELINE_PIPELINE_NAME": "lineage-demo",
        "VASTPIPELINE_FUNCTION_DEPLOYMENT_NAME": "lineagefn",
        "OPENLINEAGE__TRANSPORT__TYPE": "http",
        "OPENLINEAGE__TRANSPORT__ENDPOINT": "/api/v1/lineage",
        "OPENLINEAGE__TRANSPORT__TIMEOUT": "1",
    }.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def function() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lineagefn", EXAMPLE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.init(CTX)
    return module


def handle(module: ModuleType, key: str) -> str:
    """Let the function handle an object inside a span, and return the trace id."""
    with PROVIDER.get_tracer("dataengine").start_as_current_span("event") as span:
        trace_id = f"{span.get_span_context().trace_id:032x}"
        try:
            module.handler(CTX, SimpleNamespace(bucket="docs-src", object_key=key))
        except ValueError as error:
            return f"{trace_id} {error}"
    return trace_id


def test_one_object_succeeds_and_one_fails(variables: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        variables.setenv("OPENLINEAGE__TRANSPORT__URL", server.url)
        module = function()
        good = handle(module, "lineage-src/orders.csv")
        bad = handle(module, "lineage-src/orders.bad")
        module.transport.close()
        events = sent(server)
    assert kinds(events) == ["START", "COMPLETE", "START", "FAIL"]
    assert bad.endswith(" cannot process lineage-src/orders.bad")
    for event, trace_id, key in zip(
        events,
        [good, good, bad[:32], bad[:32]],
        ["orders.csv", "orders.csv", "orders.bad", "orders.bad"],
        strict=True,
    ):
        assert event["run"]["runId"].replace("-", "") == trace_id
        assert event["inputs"] == [{"namespace": "s3://docs-src", "name": f"lineage-src/{key}"}]
        assert "outputs" not in event
        assert event["producer"] == "https://example.com/lineage-demo"
        assert event["job"]["namespace"] == "vast-dataengine://my-tenant"
        assert event["job"]["name"] == "lineage-demo.lineagefn"
        facet = event["job"]["facets"]["jobType"]
        assert facet["_producer"] == "https://example.com/lineage-demo"
        assert facet["processingType"] == "STREAMING"
        assert (facet["integration"], facet["jobType"]) == ("VAST_DATAENGINE", "FUNCTION")
    message = events[3]["run"]["facets"]["errorMessage"]
    assert message["message"] == "cannot process lineage-src/orders.bad"


def test_a_backend_that_is_down_does_not_fail_the_event(
    variables: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Server(tmp_path) as server:
        variables.setenv("OPENLINEAGE__TRANSPORT__URL", server.url)
    module = function()
    assert " " not in handle(module, "orders.csv")
    warnings = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert [w.partition(" was not delivered: ")[0] for w in warnings] == [
        "W112_OPENLINEAGE_EMIT_FAILED START",
        "W112_OPENLINEAGE_EMIT_FAILED COMPLETE",
    ]


def test_what_is_wrong_is_wrong_before_the_first_event(variables: pytest.MonkeyPatch) -> None:
    variables.setenv("OPENLINEAGE__TRANSPORT__URL", "http://user:secret@127.0.0.1")
    with pytest.raises(Exception, match=r"transport\.url") as caught:
        function()
    assert "secret" not in str(caught.value)
