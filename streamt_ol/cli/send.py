"""`streamt-ol send`: deliver events to a receiver, at least once, and tell the truth about each."""

from __future__ import annotations

import os
import random
import threading
import time
import uuid
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from streamt_ol.cli import delivery_options as options
from streamt_ol.cli import exits
from streamt_ol.cli.delivery_result import Warnings, print_plan, print_result
from streamt_ol.cli.output import Output, note
from streamt_ol.cli.parameters import Context, argument, option
from streamt_ol.cli.progress import EventCount, ProgressLine, reading_settings
from streamt_ol.delivery.files.dead_letter import DeadLetters
from streamt_ol.delivery.plan import Plan, Rules
from streamt_ol.delivery.reading import Events, RunMaking
from streamt_ol.delivery.report import Report
from streamt_ol.delivery.retries import RetryPolicy
from streamt_ol.delivery.routes import route_for
from streamt_ol.delivery.routes.options import DeliveryOptions
from streamt_ol.delivery.sending import Delivery
from streamt_ol.problems import USAGE, Location, StreamtOlError
from streamt_ol.transport.base import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from streamt_ol.delivery.files.checkpoint import Checkpoint
    from streamt_ol.delivery.routes.route import Route


def send(
    context: Context,
    events: Annotated[str, argument(metavar="EVENTS", help="OpenLineage events; - is a pipe.")],
    to: options.To,
    url: options.Url = None,
    endpoint: options.Endpoint = None,
    parameters: options.Parameters = None,
    token_env: options.TokenEnv = None,
    token_header: options.TokenHeader = None,
    ca_file: options.CaFile = None,
    allow_plain_http: options.AllowPlainHttp = False,
    gzip: options.Gzip = False,
    batch: options.Batch = False,
    bootstrap: options.Bootstrap = None,
    topic: options.Topic = None,
    kafka_config: options.KafkaConfig = None,
    path: options.FilePath = None,
    timeout: options.Timeout = 10.0,
    retries: options.Retries = 4,
    concurrency: Annotated[
        int,
        option(
            metavar="NUMBER",
            min=1,
            max=64,
            rich_help_panel="Delivery",
            help="Connections at the same time.",
        ),
    ] = 4,
    deadline: Annotated[
        float | None,
        option(
            metavar="SECONDS",
            min=0.1,
            callback=options.finite,
            rich_help_panel="Delivery",
            help="Time for the whole delivery.",
        ),
    ] = None,
    fail_fast: Annotated[
        bool,
        option("--fail-fast", rich_help_panel="Delivery", help="Stop at the first fault."),
    ] = False,
    progress_file: Annotated[
        Path | None,
        option(
            metavar="PATH",
            rich_help_panel="Delivery",
            help="Record what was acknowledged; the same command again sends only the rest.",
        ),
    ] = None,
    rejected: options.RejectedFile = None,
    no_validate: options.NoValidate = False,
    refuse_invalid: options.RefuseInvalid = False,
    ignore: options.IgnoredRules = None,
    skip_unsupported: options.SkipUnsupported = False,
    namespace_map: options.NamespaceMap = None,
    as_run_events: options.AsRunEvents = False,
    processing_engine: options.ProcessingEngine = None,
    stream: Annotated[
        bool,
        option(
            "--stream",
            rich_help_panel="Delivery",
            help="Send events as they come, in order, from a pipe that may never end.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, option("--dry-run", help="Print what would be sent where; send nothing.")
    ] = False,
) -> int:
    """Deliver OpenLineage events to a receiver, each at least once."""
    output: Output = context.obj
    if processing_engine and not (as_run_events and all(map(str.strip, processing_engine))):
        message = f"the option needs {output.flags['as_run_events']}, a name and a version"
        raise StreamtOlError(USAGE, message, location=Location(option="processing_engine"))
    options.check_distinct(
        {
            "the input": "/dev/stdin" if events == "-" else events,
            "path": path,
            "progress_file": progress_file,
            "rejected": rejected,
            "ca_file": ca_file,
            "kafka_config": kafka_config,
            "namespace_map": namespace_map,
        },
        output.flags,
    )
    if stream:
        others = {"dry_run": dry_run, "as_run_events": as_run_events, "batch": batch}
        _check_stream(output.flags[name] for name, is_given in others.items() if is_given)
    until = None if deadline is None else Deadline(deadline, time.monotonic)
    delivery_options = DeliveryOptions(
        to=to, url=url, endpoint=endpoint, token_env=token_env, token_header=token_header,
        ca_file=ca_file, allow_plain_http=allow_plain_http, gzip=gzip, batch=batch,
        bootstrap=bootstrap, topic=topic, kafka_config=kafka_config, path=path,
        namespace_map=namespace_map, timeout=timeout,
        parameters=options.parameters_from(parameters),
        retries=retries, concurrency=concurrency, deadline=until,
    )  # fmt: skip
    policy = RetryPolicy(retries, random.random, until)
    with reading_settings():
        route = route_for(delivery_options, os.environ)
    validity = options.validity_from(
        no_validate=no_validate, refuse_invalid=refuse_invalid, ignore=ignore
    )
    rules = Rules(route.receiver, validity, skip_unsupported)
    warnings = Warnings(output)
    warnings.add(route.warnings())
    with ExitStack() as stack:
        stop = threading.Event()
        count = EventCount()
        line = stack.enter_context(ProgressLine(_text_of(count, stop), wanted=not output.json))
        source = options.open_source(events, stop if stream else None)
        stack.callback(source.close)
        keeps = progress_file is not None and (not dry_run or progress_file.exists())
        progress = _progress(progress_file, route, stack) if keeps else None
        keeper = None if rejected is None or dry_run else DeadLetters(rejected, source)
        making = None
        if as_run_events:
            ids = _run_ids(None if dry_run else progress)
            making = RunMaking.of([route.receiver], ids, processing_engine)
        plan = Plan(Events(source, making), rules, progress, live=stream)
        report = Report(_silent if output.json else line.say)
        watch = route.receiver.watch and route.receiver.watch()
        delivery = Delivery(plan, report, policy, progress, keeper, fail_fast, count.tick, watch)
        stack.callback(delivery.close)
        run = partial(delivery.stream if stream else delivery.run, route, stop)
        if not stream:
            _survey(output, delivery, making, warnings)
        count.total = plan.to_send
        status, where = exits.DONE, Location(file=source.name)
        if dry_run:
            line.end()
            print_plan(output, plan, route, report, where, warnings)
        else:
            status = _deliver(output, delivery, route, where, line, warnings, run)
    return status or (exits.DONE if report.is_done else exits.REFUSED)


def _text_of(count: EventCount, stop: threading.Event) -> Callable[[float], str]:
    """Return what the line of progress shows; once ``stop`` is set, what is still waited for."""
    ending = "finishing what is on its way; Ctrl-C again ends that"
    return lambda seconds: ending if stop.is_set() else count.text(seconds)


def _survey(
    output: Output, delivery: Delivery, making: RunMaking | None, warnings: Warnings
) -> None:
    """Judge every event, and warn of what is sent in another form, or in spite of a fault."""
    delivery.survey()
    warnings.add(delivery.warnings())
    if making is not None:
        warnings.add(making.warnings())
    if delivery.plan.adapted and not output.json:
        note(f"empty inputs or outputs are added to {delivery.plan.adapted} events, as it asks")


def _check_stream(others: Iterable[str]) -> None:
    """Raise E500 for ``others`` that need the whole input, or more than the event at hand."""
    for flag in others:
        message = f"the option does not go with {flag}"
        raise StreamtOlError(USAGE, message, location=Location(option="stream"))


def _deliver(
    output: Output,
    delivery: Delivery,
    route: Route,
    source: Location,
    line: ProgressLine,
    warnings: Warnings,
    run: Callable[[], str],
) -> int:
    """Deliver by ``run``, and say what came of it, whatever it was that ended the delivery.

    Returns the exit status, unless events are still to be delivered.
    """
    reason = "the delivery failed"
    try:
        reason = run()
        return exits.REFUSED if reason else exits.DONE
    except KeyboardInterrupt:
        reason = "interrupted"
        return exits.INTERRUPTED
    except SystemExit:
        reason = "terminated"
        raise
    except StreamtOlError as error:
        if output.json:
            reason = str(error)
            return exits.REFUSED
        raise
    finally:
        line.end()
        if delivery.plan.live:
            warnings.add(delivery.warnings())
        print_result(
            output, delivery.report, route, source, warnings, reason, adapted=delivery.plan.adapted
        )


def _silent(_text: str) -> None:
    """Say nothing: the envelope tells it all."""


def _progress(path: Path | None, route: Route, stack: ExitStack) -> Checkpoint | None:
    if path is None:
        return None
    from streamt_ol.delivery.files.checkpoint import Checkpoint

    return stack.enter_context(Checkpoint(path, route.identity))


def _run_ids(progress: Checkpoint | None) -> Callable[[int, str], str]:
    """Return one run id for each line: a recorded one, or a fresh UUID, the same at every call."""
    if progress is not None:
        return lambda line, digest: progress.run_id(line, digest, _fresh_id)
    known: dict[tuple[int, str], str] = {}
    return lambda line, digest: known.setdefault((line, digest), _fresh_id())


def _fresh_id() -> str:
    return str(uuid.uuid4())
