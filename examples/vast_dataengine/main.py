"""A VAST DataEngine function that reports each event which it handles as an OpenLineage run.

The job is ``<pipeline>.<function deployment>``, the run id the event's trace id, the input the
object at ``s3://<bucket>``. START goes out when an event arrives, COMPLETE or FAIL when it is
handled. A lineage backend that is down or slow never changes what happens to the event: at
most two requests, each within the configured timeout, are waited for.

Set in the pipeline: LINEAGE_NAMESPACE, OPENLINEAGE__TRANSPORT__TYPE=http,
OPENLINEAGE__TRANSPORT__URL and OPENLINEAGE__TRANSPORT__ENDPOINT=/api/v1/lineage.
"""

import os
from typing import Any

from opentelemetry import trace

from streamt_ol.runs import Dataset, Job, Run, RunSpec, id_of_trace
from streamt_ol.transport.base import Transport
from streamt_ol.transport.config import read_transport_config

PRODUCER = "https://example.com/lineage-demo"  # names the code that emits the events

job: Job
transport: Transport


def init(ctx: Any) -> None:
    """Check everything that can be wrong once, when the container starts."""
    global job, transport  # noqa: PLW0603 - the runtime calls init and handler separately
    pipeline = os.environ["VASTPIPELINE_PIPELINE_NAME"]
    deployment = os.environ["VASTPIPELINE_FUNCTION_DEPLOYMENT_NAME"]
    job = Job(
        os.environ["LINEAGE_NAMESPACE"],
        f"{pipeline}.{deployment}",
        processing_type="STREAMING",
        integration="VAST_DATAENGINE",
        job_type="FUNCTION",
    )
    transport = read_transport_config(os.environ).open()
    ctx.logger.info("lineage job %s/%s", job.namespace, job.name)


def handler(ctx: Any, event: Any) -> None:
    """Handle one event inside one run."""
    spec = RunSpec(
        job, inputs=(Dataset(f"s3://{event.bucket}", event.object_key),), producer=PRODUCER
    )
    trace_id = trace.get_current_span().get_span_context().trace_id
    with Run(
        spec,
        transport,
        run_id=id_of_trace(trace_id),
        warn=lambda warning: ctx.logger.warning("%(code)s %(message)s", warning),
    ):
        process(ctx, event)


def process(ctx: Any, event: Any) -> None:
    """Do the work of the function; objects whose key ends in .bad fail on purpose."""
    ctx.logger.info("processing %s", event.object_key)
    if event.object_key.endswith(".bad"):
        raise ValueError(f"cannot process {event.object_key}")
