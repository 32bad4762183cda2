"""The run as a state machine: what is sent when, and that nothing else changes."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import signal
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.streamt.place import Json, checked, kinds

from streamt_ol.codes import EMIT_FAILED
from streamt_ol.openlineage.release import PRODUCER
from streamt_ol.problems import StreamtOlError, WarningRecord
from streamt_ol.runs import (
    Dataset,
    Job,
    Run,
    RunSpec,
    RunState,
    check_spec,
    id_of_trace,
    random_id,
    utc_now,
)
from streamt_ol.runs.failure import GENERIC, MAX_CODE_POINTS, failure_message
from streamt_ol.transport.base import DeliveryError
from streamt_ol.transport.memory import MemoryTransport

RUN_ID = "0b1f8f6e-3c5e-4d6a-9a51-7d1c1d8f2c11"
SPEC = RunSpec(Job("ns", "streamt/shop/commands/apply"))
CUSTOM = RunSpec(Job("ns", "nightly"), producer="urn:example:nightly")
DOWN = DeliveryError("connect", "no connection to 127.0.0.1:9")


class Clock:
    """Counts seconds from a fixed time."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> str:
        self.now += 1
        return f"2026-03-14T09:26:{self.now:02}Z"


def run_of(transport: MemoryTransport, spec: RunSpec = SPEC, **more: Any) -> Run:
    return Run(spec, transport, **{"run_id": RUN_ID, "clock": Clock(), **more})


def events(transport: MemoryTransport) -> list[Json]:
    return checked([json.loads(event) for event in transport.events])


class TestTransitions:
    def test_a_body_that_ends_is_complete(self) -> None:
        transport = MemoryTransport()
        with run_of(transport) as run:
            assert kinds(events(transport)) == ["START"]
            assert run.state is RunState.STARTED
        assert kinds(events(transport)) == ["START", "COMPLETE"]
        assert (run.state, run.warnings) == (RunState.COMPLETE, [])

    def test_the_bytes_are_canonical(self) -> None:
        transport = MemoryTransport()
        with run_of(transport):
            pass
        assert transport.events[0] == (
            b'{"eventTime":"2026-03-14T09:26:02Z","eventType":"START","job":{"facets":{"jobType":'
            b'{"_producer":"https://github.com/conduktor/streamt","_schemaURL":"https://'
            b'openlineage.io/spec/facets/2-0-4/JobTypeJobFacet.json#/$defs/JobTypeJobFacet",'
            b'"integration":"STREAMT","jobType":"COMMAND","processingType":"BATCH"}},"name":'
            b'"streamt/shop/commands/apply","namespace":"ns"},"producer":"https://github.com/'
            b'conduktor/streamt","run":{"runId":"0b1f8f6e-3c5e-4d6a-9a51-7d1c1d8f2c11"},'
            b'"schemaURL":"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"}'
        )

    @pytest.mark.parametrize(
        ("error", "kind"),
        [
            (ValueError("bad"), "FAIL"),
            (KeyboardInterrupt(), "ABORT"),
            (SystemExit(1), "FAIL"),
            (SystemExit("message"), "FAIL"),
            (SystemExit(0), "COMPLETE"),
            (SystemExit(None), "COMPLETE"),
            (GeneratorExit(), "FAIL"),
            (StreamtOlError("E506", "x"), "FAIL"),
        ],
    )
    def test_a_body_left_by_an_exception(self, error: BaseException, kind: str) -> None:
        transport = MemoryTransport()
        with pytest.raises(type(error)) as caught, run_of(transport):
            raise error
        assert caught.value is error
        assert (error.__cause__, error.__context__) == (None, None)
        assert kinds(events(transport)) == ["START", kind]

    def test_the_first_word_of_the_body_stands(self) -> None:
        transport = MemoryTransport()
        with run_of(transport) as run:
            run.fail("no")
            run.complete()
            run.abort()
            run.start()
        assert kinds(events(transport)) == ["START", "FAIL"]

    def test_a_run_that_was_not_started_does_not_end(self) -> None:
        transport = MemoryTransport()
        run_of(transport).complete()
        assert transport.events == []

    def test_times_are_those_of_the_transitions(self) -> None:
        transport = MemoryTransport()
        with run_of(transport, started_at="2026-03-14T09:00:00.5+00:00") as run:
            run.complete(at="2026-03-14T09:59:00Z")
        times = [event["eventTime"] for event in events(transport)]
        assert times == ["2026-03-14T09:00:00.5+00:00", "2026-03-14T09:59:00Z"]

    def test_ids_are_fresh_uuid4(self) -> None:
        ids = {Run(SPEC, MemoryTransport()).run_id for _ in range(100)}
        assert len(ids) == 100
        assert {uuid.UUID(one).version for one in ids} == {4}

    def test_the_id_source_is_an_argument(self) -> None:
        assert Run(SPEC, MemoryTransport(), new_id=lambda: RUN_ID).run_id == RUN_ID

    def test_datasets_are_sorted_and_stand_once(self) -> None:
        spec = RunSpec(
            CUSTOM.job,
            inputs=(Dataset("s3://b", "k"), Dataset("s3://a", "z"), Dataset("s3://b", "k")),
            outputs=(Dataset("s3://o", "k"),),
            producer=CUSTOM.producer,
        )
        transport = MemoryTransport()
        with run_of(transport, spec):
            pass
        for event in events(transport):
            assert event["inputs"] == [
                {"namespace": "s3://a", "name": "z"},
                {"namespace": "s3://b", "name": "k"},
            ]
            assert event["outputs"] == [{"namespace": "s3://o", "name": "k"}]


class TestDelivery:
    @pytest.mark.parametrize("outcomes", [[DOWN], [None, DOWN], [DOWN, DOWN]])
    def test_a_failure_is_a_warning_and_the_end_is_still_tried(
        self, outcomes: list[DeliveryError | None]
    ) -> None:
        transport = MemoryTransport(outcomes)
        heard: list[WarningRecord] = []
        with run_of(transport, warn=heard.append) as run:
            pass
        lost = [
            kind for kind, outcome in zip(["START", "COMPLETE"], [*outcomes, None], strict=False)
            if outcome
        ]  # fmt: skip
        assert len(transport.events) == 2 - len(lost)
        assert run.state is RunState.COMPLETE
        assert run.warnings == heard
        assert [w["code"] for w in heard] == [EMIT_FAILED] * len(lost)
        assert [w["message"] for w in heard] == [
            f"{kind} was not delivered: connect: no connection to 127.0.0.1:9" for kind in lost
        ]

    def test_the_bodys_exception_is_untouched_by_a_failing_delivery(self) -> None:
        error = ValueError("the real one")
        run = run_of(MemoryTransport([DOWN, DOWN]))
        with pytest.raises(ValueError, match="the real one") as caught, run:
            raise error
        assert caught.value is error
        assert error.__context__ is None
        assert len(run.warnings) == 2

    def test_any_exception_of_a_foreign_transport_is_a_bounded_redacted_warning(self) -> None:
        class Foreign:
            def emit(self, event_bytes: bytes, /) -> None:
                raise RuntimeError("line\none\x1b[31m password=hunter2 " + "x" * 10_000)

        with Run(SPEC, Foreign()) as run:
            pass
        for warning in run.warnings:
            assert "hunter2" not in warning["message"]
            assert warning["message"].isprintable()
            assert len(warning["message"]) < 300
            assert "RuntimeError" in warning["message"]

    def test_an_exception_that_cannot_be_shown(self) -> None:
        class UnshowableError(Exception):
            def __str__(self) -> str:
                raise ValueError

        class Foreign:
            def emit(self, event_bytes: bytes, /) -> None:
                raise UnshowableError

        with Run(SPEC, Foreign()) as run:
            pass
        assert run.warnings[0]["message"] == "START was not delivered: UnshowableError"

    @pytest.mark.parametrize(
        "failure", [SystemExit(3), asyncio.CancelledError(), concurrent.futures.CancelledError()]
    )
    def test_no_failure_of_a_transport_replaces_the_bodys_outcome(
        self, failure: BaseException
    ) -> None:
        class Foreign:
            def emit(self, event_bytes: bytes, /) -> None:
                raise failure

        error = ValueError("the real one")
        run = Run(SPEC, Foreign())
        with pytest.raises(ValueError, match="the real one") as caught, run:
            raise error
        assert caught.value is error
        name = type(failure).__name__
        said = [warning["message"].removesuffix(": 3") for warning in run.warnings]
        assert said == [f"{event} was not delivered: {name}" for event in ("START", "FAIL")]

    def test_an_exit_by_the_hosts_signal_handler_is_no_failure_of_the_transport(self) -> None:
        class Slow(list[bytes]):
            def emit(self, event_bytes: bytes, /) -> None:
                self.append(event_bytes)
                if len(self) == 1:
                    signal.raise_signal(signal.SIGUSR1)

        def leave(number: int, frame: object) -> None:
            raise SystemExit(128 + number)

        before = signal.signal(signal.SIGUSR1, leave)
        run = Run(SPEC, transport := Slow())
        try:
            with pytest.raises(SystemExit), run:
                raise AssertionError("the body must not run")
        finally:
            signal.signal(signal.SIGUSR1, before)
        assert kinds([json.loads(event) for event in transport]) == ["START", "FAIL"]
        assert len(run.warnings) == 1

    def test_a_warning_hook_that_fails_changes_nothing(self) -> None:
        def warn(warning: WarningRecord) -> None:
            raise OSError

        with run_of(MemoryTransport([DOWN, DOWN]), warn=warn) as run:
            pass
        assert run.state is RunState.COMPLETE

    def test_an_interrupt_of_starts_delivery_is_abort(self) -> None:
        class Slow(list[bytes]):
            def emit(self, event_bytes: bytes, /) -> None:
                self.append(event_bytes)
                if len(self) == 1:
                    raise KeyboardInterrupt

        transport = Slow()
        run = Run(SPEC, transport)
        with pytest.raises(KeyboardInterrupt), run:
            raise AssertionError("the body must not run")
        assert kinds([json.loads(event) for event in transport]) == ["START", "ABORT"]
        said = "START was perhaps not delivered: it was interrupted"
        assert [warning["message"] for warning in run.warnings] == [said]
        run.give_up()
        assert len(run.warnings) == 1

    def test_an_interrupt_between_events_leaves_an_end_untold(self) -> None:
        run = run_of(MemoryTransport())
        run.start()
        run.give_up()
        (warning,) = run.warnings
        assert warning["message"] == "the terminal event was not delivered: it was interrupted"


class TestPreflight:
    """All that is wrong is wrong before anything is sent or run."""

    @pytest.mark.parametrize(
        ("spec", "location"),
        [
            (RunSpec(Job(" ", "j"), producer="urn:x:y"), "/job/namespace"),
            (RunSpec(Job("ns", ""), producer="urn:x:y"), "/job/name"),
            (RunSpec(Job("ns", "\ud800"), producer="urn:x:y"), "/job/name"),
            (RunSpec(Job("ns", "j"), producer="no uri"), "/producer"),
            (RunSpec(Job("s3://u:p@h", "j"), producer="urn:x:y"), "/job/namespace"),
            (
                RunSpec(Job("n", "j"), (Dataset("db://u:p@h", "t"),), producer="urn:x:y"),
                "/inputs/0/namespace",
            ),
            (
                RunSpec(Job("n", "j"), (), (Dataset("db://u:p@h", "t"),), producer="urn:x:y"),
                "/outputs/0/namespace",
            ),
            (RunSpec(Job("n", "j"), (Dataset("a", " "),), producer="urn:x:y"), "/inputs/0/name"),
            (RunSpec(Job("n", "nightly")), "/job/name"),
            (RunSpec(SPEC.job, (Dataset("s3://b", "k"),)), "/inputs/0/namespace"),
            (RunSpec(Job("n", SPEC.job.name, processing_type="STREAMING")), "/job/facets/jobType"),
        ],
    )
    def test_a_spec_that_no_event_could_carry(self, spec: RunSpec, location: str) -> None:
        transport = MemoryTransport()
        with pytest.raises(StreamtOlError) as caught:
            Run(spec, transport)
        assert caught.value.code == "E506_OPENLINEAGE_INVALID"
        assert (caught.value.location or "").startswith(location)
        assert transport.events == []
        with pytest.raises(StreamtOlError):
            check_spec(spec)

    @pytest.mark.parametrize("run_id", ["", "42", RUN_ID + " ", RUN_ID.replace("-", "")])
    def test_a_run_id_that_is_no_uuid(self, run_id: str) -> None:
        with pytest.raises(StreamtOlError) as caught:
            Run(SPEC, MemoryTransport(), run_id=run_id)
        assert caught.value.location == "/run/runId"

    @pytest.mark.parametrize("run_id", [5, b"x", uuid.UUID(RUN_ID)])
    def test_a_run_id_that_is_no_text(self, run_id: Any) -> None:
        for make in ({"run_id": run_id}, {"new_id": lambda: run_id}):
            with pytest.raises(StreamtOlError) as caught:
                Run(SPEC, MemoryTransport(), **make)
            assert caught.value.code == "E506_OPENLINEAGE_INVALID"
            assert caught.value.location == "/run/runId"

    def test_a_start_time_that_is_no_text(self) -> None:
        wrong: Any = 0
        with pytest.raises(StreamtOlError) as caught:
            Run(SPEC, MemoryTransport(), started_at=wrong)
        assert caught.value.location == "/eventTime"

    @pytest.mark.parametrize("time", ["", "now", "2026-03-14T09:26:53", "2026-03-14 09:26:53Z"])
    def test_a_start_time_that_is_none(self, time: str) -> None:
        with pytest.raises(StreamtOlError) as caught:
            Run(SPEC, MemoryTransport(), started_at=time)
        assert caught.value.location == "/eventTime"

    def test_no_secret_is_in_the_error(self) -> None:
        with pytest.raises(StreamtOlError) as caught:
            Run(RunSpec(Job("https://me:hunter2@h/x", "j"), producer="urn:x:y"), MemoryTransport())
        assert "hunter2" not in f"{caught.value} {caught.value.suggestion}"


class TestTheFailureFacet:
    def test_of_an_exception(self) -> None:
        transport = MemoryTransport()
        with pytest.raises(ValueError, match="disk"), run_of(transport):
            raise ValueError("disk full, password=hunter2")
        facet = events(transport)[1]["run"]["facets"]["errorMessage"]
        assert facet == {
            "_producer": PRODUCER,
            "_schemaURL": "https://openlineage.io/spec/facets/1-0-1/ErrorMessageRunFacet.json"
            "#/$defs/ErrorMessageRunFacet",
            "message": "disk full, password=***",
            "programmingLanguage": "PYTHON",
        }

    @pytest.mark.parametrize("text", ["", "  \n\t ", "\u2003"])
    def test_a_blank_message_is_generic(self, text: str) -> None:
        assert failure_message(text) == GENERIC

    def test_code_points_are_counted_not_bytes(self) -> None:
        assert failure_message("𝄞 " * 3000) == ("𝄞 " * 2048).strip()
        assert len(failure_message("é" * 4096)) == MAX_CODE_POINTS

    def test_an_endless_word_is_not_cut_in_half(self) -> None:
        assert failure_message("x" * 1_000_000) == GENERIC

    def test_a_credential_at_the_edge_is_not_halved(self) -> None:
        text = ("word " * 3300)[: 4 * 4096 - 20] + " AKIAABCDEFGHIJKLMNOP tail"
        assert "AKIA" not in failure_message(text)
        assert "AKIA" not in failure_message("x " * 2040 + "AKIAABCDEFGHIJKLMNOP")

    def test_lone_surrogates_have_a_form(self) -> None:
        assert failure_message("a\ud800b") == "a?b"

    @given(st.text())
    def test_any_text_is_bounded_encodable_and_not_blank(self, text: str) -> None:
        message = failure_message(text)
        assert 0 < len(message) <= MAX_CODE_POINTS
        assert message.strip()
        assert message.encode()

    @pytest.mark.parametrize("inner", [ValueError, KeyboardInterrupt, SystemExit])
    def test_an_exception_without_a_text(self, inner: type[BaseException]) -> None:
        class UnshowableError(Exception):
            def __str__(self) -> str:
                raise inner

        transport = MemoryTransport()
        with pytest.raises(UnshowableError), run_of(transport):
            raise UnshowableError
        assert events(transport)[1]["run"]["facets"]["errorMessage"]["message"] == GENERIC


class TestIds:
    def test_a_trace_id_as_the_vast_document_writes_it(self) -> None:
        expected = "00005015-0000-0016-2e04-8a6dbdde4eb9"
        assert id_of_trace("00005015000000162e048a6dbdde4eb9") == expected
        assert id_of_trace(0x00005015000000162E048A6DBDDE4EB9) == expected

    @pytest.mark.parametrize(
        "trace", [0, -1, 1 << 128, "", "0" * 32, "x" * 32, "ab", " " * 32, None, 1.5, b"x" * 32]
    )
    def test_no_trace_is_no_run(self, trace: Any) -> None:
        with pytest.raises(StreamtOlError):
            id_of_trace(trace)

    @given(st.integers(min_value=1, max_value=(1 << 128) - 1))
    def test_every_trace_is_a_valid_run_id(self, trace: int) -> None:
        assert id_of_trace(trace) == str(uuid.UUID(int=trace)) == id_of_trace(f"{trace:032x}")

    def test_a_random_id_is_a_uuid4(self) -> None:
        assert uuid.UUID(random_id()).version == 4


def test_the_clock_is_utc_with_microseconds() -> None:
    now = utc_now()
    assert len(now) == len("2026-03-14T09:26:53.589793Z")
    assert now.endswith("Z")
