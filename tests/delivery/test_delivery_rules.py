"""Properties of the parts: order, retries, parsing of answers, which no single example shows."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamt_ol.delivery.engine import CircuitBreaker, Engine
from streamt_ol.delivery.items import Item
from streamt_ol.delivery.outcome import Outcome
from streamt_ol.delivery.retries import RetryPolicy, deliver
from streamt_ol.transport.answer import Answer, BadAnswerError, parse_retry_after
from streamt_ol.transport.base import Deadline, DeliveryError
from streamt_ol.transport.memory import MemoryTransport

if TYPE_CHECKING:
    from collections.abc import Sequence

SENT = Outcome("sent")
AGAIN = Outcome("failed", may_retry=True)
REFUSED = Outcome("refused")


def item(name: str, number: int) -> Item:
    line = json.dumps({"job": {"namespace": "n", "name": name}}).encode()
    return Item(number, line, line)


class Scripted:
    """A sender whose outcomes are given for each item, one for each attempt."""

    def __init__(self, script: dict[int, list[Outcome]], batch_size: int = 1) -> None:
        self.batch_size = batch_size
        self.attempts: list[int] = []
        self._script = script

    def deliver(self, items: Sequence[Item]) -> list[Outcome]:
        self.attempts += [each.line for each in items]
        return [(self._script.get(each.line) or [SENT]).pop(0) if self._script.get(each.line)
                else SENT for each in items]  # fmt: skip

    def close(self) -> None:
        pass


def policy(retries: int = 2, deadline: Deadline | None = None) -> RetryPolicy:
    return RetryPolicy(retries, lambda: 0.0, deadline, max_retry_after=0.0)


outcomes = st.lists(st.sampled_from([AGAIN._replace(retry_after=0.0), REFUSED, SENT]), max_size=4)


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from("abcdef"), max_size=120),
    st.dictionaries(st.integers(0, 119), outcomes),
    st.integers(1, 5),
    st.integers(1, 7),
)
def test_each_is_settled_once_and_in_order_within_its_job(
    names: list[str], script: dict[int, list[Outcome]], workers: int, batch_size: int
) -> None:
    items = [item(name, number) for number, name in enumerate(names)]
    settled: list[tuple[str, int, str]] = []
    lock = threading.Lock()

    def settle(each: Item, outcome: Outcome) -> None:
        with lock:
            settled.append((each.event["job"]["name"], each.line, outcome.state))

    stop = threading.Event()
    senders = [Scripted(script, batch_size) for _ in range(workers)]
    breaker = CircuitBreaker(stop, fail_fast=False)
    Engine(senders, policy(), settle, stop, breaker).run(items)
    by_job: dict[str, list[int]] = defaultdict(list)
    for name, number, _ in settled:
        by_job[name].append(number)
    assert all(numbers == sorted(numbers) for numbers in by_job.values())
    if not breaker.reason:
        assert sorted(number for _, number, _ in settled) == list(range(len(names)))
        assert all(state != "unsent" for _, _, state in settled)


def test_a_retried_item_holds_up_those_after_it() -> None:
    again = AGAIN._replace(retry_after=0.0)
    sender = Scripted({1: [again, again, SENT]}, batch_size=3)
    got = deliver(sender, [item("j", n) for n in range(3)], policy(), threading.Event())
    assert got == [SENT, SENT, SENT]
    assert sender.attempts == [0, 1, 2, 1, 2, 1, 2]


def test_retries_end() -> None:
    again = AGAIN._replace(retry_after=0.0)
    sender = Scripted({0: [again] * 9})
    assert deliver(sender, [item("j", 0)], policy(2), threading.Event()) == [again]
    assert len(sender.attempts) == 3


def test_nothing_begins_after_the_deadline() -> None:
    now = 0.0
    passed = Deadline(1.0, lambda: now)
    now = 2.0
    sender = Scripted({})
    got = deliver(sender, [item("j", 0)], policy(2, passed), threading.Event())
    assert [outcome.state for outcome in got] == ["unsent"]
    assert sender.attempts == []


def test_pauses_grow_are_spread_and_bounded() -> None:
    for jitter, expected in ((0.0, [0.125, 0.25, 0.5]), (1.0, [0.25, 0.5, 1.0])):
        grows = RetryPolicy(9, lambda jitter=jitter: jitter)  # type: ignore[misc]
        assert [grows.pause(attempt, None) for attempt in range(3)] == expected
        assert grows.pause(1000, None) <= 15
        assert grows.pause(0, 7.0) == 7.0


ANSWERS = [
    b"HTTP/1.1 201 Created\r\nContent-Length: 5\r\nX-Y: z\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Busy\r\nRetry-After: 3\r\nContent-Length: 0"
    b"\r\n\r\n",
    b"HTTP/1.1 204 None\r\n\r\n",
]


@settings(max_examples=100)
@given(st.sampled_from(ANSWERS), st.lists(st.integers(1, 90), max_size=12))
def test_an_answer_is_the_same_however_it_arrives(data: bytes, cuts: list[int]) -> None:
    whole = Answer()
    whole.feed(data)
    pieces = Answer()
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    for start, end in pairwise(edges):
        pieces.feed(data[start:end])
    assert whole.is_complete
    for name in ("status", "headers", "body", "is_complete", "may_reuse"):
        assert getattr(pieces, name) == getattr(whole, name)
    assert whole.may_reuse


@settings(max_examples=200)
@given(st.binary(max_size=300))
def test_noise_is_refused_not_believed(noise: bytes) -> None:
    answer = Answer()
    try:
        answer.feed(b"HTTP/1.1 2" + noise)
        if not answer.is_complete:
            answer.feed(b"")
    except (BadAnswerError, ConnectionError):
        return
    assert answer.is_complete
    assert 200 <= answer.status <= 299


def test_what_follows_an_answer_ends_the_connection() -> None:
    for more in (b"HTTP/1.1 200 OK\r\n\r\n", b"junk"):
        answer = Answer()
        answer.feed(ANSWERS[0] + more)
        assert (answer.status, bytes(answer.body)) == (201, b"hello")
        assert not answer.may_reuse


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None), ("", None), ("soon", None), ("-1", None), ("1.5", None), ("0", 0.0),
        ("120", 120.0), ("9" * 30, 1e30), ("9" * 999, float("inf")),
        ("Wed, 21 Oct 2026 08:00:10 GMT", 10.0),
        ("Wed, 21 Oct 2026 07:00:00 GMT", 0.0), ("Wed, 99 Oct 2026 07:00:00 GMT", None),
    ],
)  # fmt: skip
def test_retry_after(value: str | None, seconds: float | None) -> None:
    assert parse_retry_after(value, 1792569600.0) == seconds  # 2026-10-21T08:00:00Z


def test_the_transport_for_tests_fails_as_it_is_told() -> None:
    with MemoryTransport([None, DeliveryError("timeout", "no answer")]) as transport:
        transport.emit(b"1")
        with pytest.raises(DeliveryError, match="no answer"):
            transport.emit(b"2")
        transport.emit(b"3")
    assert transport.events == [b"1", b"3"]
    with pytest.raises(DeliveryError):
        transport.emit(b"4")
