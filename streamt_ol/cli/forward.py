"""`streamt-ol forward`: read a Kafka topic, and post each record to a receiver, at least once."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Annotated

from streamt_ol.cli import delivery_options as options
from streamt_ol.cli import exits
from streamt_ol.cli.delivery_result import Warnings, print_result
from streamt_ol.cli.output import Output, note
from streamt_ol.cli.parameters import Context, option
from streamt_ol.cli.progress import reading_settings
from streamt_ol.delivery.files.dead_letter import DeadLetters
from streamt_ol.delivery.forwarder import Forwarder
from streamt_ol.delivery.membership import Membership, check_topic, consumer
from streamt_ol.delivery.plan import Rules
from streamt_ol.delivery.receivers import RECEIVERS
from streamt_ol.delivery.report import Report
from streamt_ol.delivery.retries import RetryPolicy
from streamt_ol.delivery.routes import route_for
from streamt_ol.delivery.routes.options import DeliveryOptions
from streamt_ol.delivery.senders.kafka import Causes
from streamt_ol.delivery.senders.kafka_settings import kafka_settings
from streamt_ol.problems import USAGE, Location, StreamtOlError

_SAID = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


def forward(
    context: Context,
    bootstrap: Annotated[str, option(metavar="BROKERS", help="HOST:PORT of brokers, with commas.")],
    topic: Annotated[str, option(metavar="TOPIC", help="The topic to read.")],
    group: Annotated[str, option(metavar="GROUP", help="The consumer group.")],
    to: options.To,
    url: options.Url = None,
    endpoint: options.Endpoint = None,
    parameters: options.Parameters = None,
    token_env: options.TokenEnv = None,
    token_header: options.TokenHeader = None,
    ca_file: options.CaFile = None,
    allow_plain_http: options.AllowPlainHttp = False,
    gzip: options.Gzip = False,
    kafka_config: options.KafkaConfig = None,
    path: options.FilePath = None,
    timeout: options.Timeout = 10.0,
    retries: options.Retries = 4,
    rejected: options.RejectedFile = None,
    no_validate: options.NoValidate = False,
    refuse_invalid: options.RefuseInvalid = False,
    ignore: options.IgnoredRules = None,
    skip_unsupported: options.SkipUnsupported = False,
    namespace_map: options.NamespaceMap = None,
    until_end: Annotated[bool, option("--until-end", help="Stop at the end of the topic.")] = False,
) -> int:
    """Read a topic and post each record; its offset is committed once it is acknowledged."""
    output: Output = context.obj
    if to in RECEIVERS and RECEIVERS[to].route == "kafka":
        raise StreamtOlError(
            USAGE, "a topic cannot be the receiver", location=Location(option="to")
        )
    options.check_distinct(
        {
            "path": path,
            "rejected": rejected,
            "ca_file": ca_file,
            "kafka_config": kafka_config,
            "namespace_map": namespace_map,
        },
        output.flags,
    )
    delivery_options = DeliveryOptions(
        to=to, url=url, endpoint=endpoint, token_env=token_env, token_header=token_header,
        ca_file=ca_file, allow_plain_http=allow_plain_http, gzip=gzip, path=path,
        namespace_map=namespace_map, timeout=timeout,
        parameters=options.parameters_from(parameters),
        retries=retries, concurrency=1,
    )  # fmt: skip
    with reading_settings():
        route = route_for(delivery_options, os.environ)
        settings = kafka_settings(bootstrap, kafka_config)
    validity = options.validity_from(
        no_validate=no_validate, refuse_invalid=refuse_invalid, ignore=ignore
    )
    rules = Rules(route.receiver, validity, skip_unsupported)
    report = Report(lambda line: None if output.json else note(line), unit="record")
    warnings = Warnings(output)
    warnings.add(route.warnings())
    stop = threading.Event()
    with ExitStack() as stack:
        keeper = stack.enter_context(DeadLetters(rejected)) if rejected else None
        causes = Causes()
        source = consumer(settings, group, causes, timeout)
        # Closing leaves the group, so that another member need not wait for it.
        stack.callback(source.close)
        check_topic(source, topic, timeout, causes)
        sender = route.make()
        stack.callback(sender.close)
        forwarder = Forwarder(
            Membership(source, topic), sender, rules, RetryPolicy(retries, random.random), report,
            stop, keeper.append if keeper else None, until_end,
        )  # fmt: skip
        with _stopping(stop) as signals:
            reason = forwarder.run()
    reason = reason or (_SAID[signals[0]] if signals else "")
    warnings.add(forwarder.invalid.warnings())
    print_result(output, report, route, Location(topic), warnings, reason)
    if signals:
        return exits.of_signal(signals[0])
    return exits.REFUSED if reason or not report.is_done else exits.DONE


@contextmanager
def _stopping(stop: threading.Event) -> Iterator[list[signal.Signals]]:
    """Let a signal end the forwarding after the record in hand, and a second one at once.

    Yields the list of signals that came.
    """
    came: list[signal.Signals] = []

    def end(number: int, _frame: object) -> None:
        if came:
            raise KeyboardInterrupt
        came.append(signal.Signals(number))
        stop.set()

    before = {number: signal.signal(number, end) for number in _SAID}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
