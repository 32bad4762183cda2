"""``check_generated``: each rule of "Offline validation boundary", broken by hand."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from support.openlineage_events import Event, dataset_event, facet, job_event, run_event, topic

from streamt_ol.openlineage.facets import by_place
from streamt_ol.validation.generated import check_generated

if TYPE_CHECKING:
    from collections.abc import Callable

CUSTOM = {"_producer": "https://example.com/mine", "_schemaURL": "https://example.com/x.json"}
FIELDS = [{"name": "id", "type": "BIGINT", "ordinal_position": 1}]


def full_dataset() -> Event:
    return dataset_event(
        schema=facet("dataset", "schema", fields=deepcopy(FIELDS)),
        documentation=facet("dataset", "documentation", description="orders"),
        ownership=facet("dataset", "ownership", owners=[{"name": "team"}]),
    )


def full_job() -> Event:
    return job_event("streamt/shop/models/orders", inputs=[topic("a")], outputs=[topic("b")])


def failed_run() -> Event:
    error = facet("run", "errorMessage", message="3 failed", programmingLanguage="PYTHON")
    event = run_event("FAIL", inputs=[topic("a")])
    event["run"]["facets"] = {"errorMessage": error}
    return event


def test_events_as_specified_are_valid() -> None:
    runs = [run_event("START"), failed_run()]
    assert check_generated([full_dataset(), dataset_event("b"), full_job(), *runs]) == []
    assert check_generated([]) == []


def test_additions_of_a_users_own_stage_are_valid() -> None:
    tags = facet("dataset", "tags", tags=[{"key": "pii", "value": "true"}])
    foreign = {**tags, "_producer": "https://example.com/mine"}
    event = full_dataset()
    event["dataset"]["facets"] |= {"tags": tags, "mine": CUSTOM}
    other = dataset_event("b", tags=foreign, mine={**CUSTOM, "anything": [1]})
    assert check_generated([event, other]) == []


def place(event: Event, path: str) -> tuple[Any, Any]:
    *parents, last = (int(part) if part.isdigit() else part for part in path.split("/"))
    value: Any = event
    for part in parents:
        value = value[part]
    return value, last


def put(path: str, value: Any) -> Callable[[Event], None]:
    def change(event: Event) -> None:
        container, key = place(event, path)
        container[key] = value

    return change


def drop(path: str) -> Callable[[Event], None]:
    def change(event: Event) -> None:
        container, key = place(event, path)
        del container[key]

    return change


def both(event: Event) -> None:
    event["outputs"] = [topic("a")]


FACETS = "dataset/facets"
WRONG_TAGS = {**CUSTOM, "_schemaURL": by_place()["dataset"]["tags"].schema_url, "tags": 3}
BROKEN: list[tuple[Callable[[], Event], Callable[[Event], None], str, str]] = [
    (full_dataset, put("extra", 1), "OL-R050", "/0/extra"),
    (full_dataset, put("dataset/extra", 1), "OL-R050", "/0/dataset/extra"),
    (full_dataset, put("run", None), "OL-R050", "/0/run"),
    (full_dataset, put("eventType", "OTHER"), "OL-R050", "/0/eventType"),
    (full_dataset, put("producer", "https://example.com"), "OL-R051", "/0/producer"),
    (
        full_dataset,
        put("schemaURL", "https://openlineage.io/spec/2-0-2/OpenLineage.json"),
        "OL-R051",
        "/0/schemaURL",
    ),
    (full_dataset, put("eventTime", "2026-01-31T23:59:59+01:00"), "OL-R057", "/0/eventTime"),
    (full_dataset, put("eventTime", "2026-01-31T23:59:59"), "OL-R013", "/0/eventTime"),
    (full_dataset, put("dataset/name", " "), "OL-R012", "/0/dataset/name"),
    (full_dataset, put("dataset/namespace", "kafka://b"), "OL-R055", "/0/dataset/namespace"),
    (full_dataset, put("dataset/namespace", "kafka://u:p@b:1"), "OL-R055", "/0/dataset/namespace"),
    (full_dataset, put("dataset/namespace", "kafka://b:0"), "OL-R055", "/0/dataset/namespace"),
    (full_dataset, put("dataset/namespace", "kafka://a:1,b:1"), "OL-R055", "/0/dataset/namespace"),
    (full_dataset, drop(f"{FACETS}/datasetType"), "OL-R052", f"/0/{FACETS}/datasetType"),
    (
        full_dataset,
        put(f"{FACETS}/datasetType/datasetType", "TABLE"),
        "OL-R054",
        f"/0/{FACETS}/datasetType/datasetType",
    ),
    (
        full_dataset,
        put(f"{FACETS}/schema/_schemaURL", "https://example.com/x"),
        "OL-R053",
        f"/0/{FACETS}/schema/_schemaURL",
    ),
    (
        full_dataset,
        put(f"{FACETS}/schema/fields", FIELDS * 2),
        "OL-R027",
        f"/0/{FACETS}/schema/fields/1/name",
    ),
    (
        full_dataset,
        put(f"{FACETS}/schema/fields/0/ordinal_position", 0),
        "OL-R054",
        f"/0/{FACETS}/schema/fields/0/ordinal_position",
    ),
    (
        full_dataset,
        put(f"{FACETS}/schema/fields/0/nullable", True),
        "OL-R054",
        f"/0/{FACETS}/schema/fields/0/nullable",
    ),
    (
        full_dataset,
        put(f"{FACETS}/schema/fields/0/name", ""),
        "OL-R012",
        f"/0/{FACETS}/schema/fields/0/name",
    ),
    (full_dataset, put(f"{FACETS}/schema/fields", []), "OL-R054", f"/0/{FACETS}/schema/fields"),
    (
        full_dataset,
        put(f"{FACETS}/ownership/owners/0/type", "OWNER"),
        "OL-R054",
        f"/0/{FACETS}/ownership/owners",
    ),
    (
        full_dataset,
        put(f"{FACETS}/documentation/description", 3),
        "OL-R021",
        f"/0/{FACETS}/documentation/description",
    ),
    (full_dataset, put(f"{FACETS}/tags", WRONG_TAGS), "OL-R021", f"/0/{FACETS}/tags/tags"),
    (full_dataset, put(f"{FACETS}/mine", {}), "OL-R023", f"/0/{FACETS}/mine/_producer"),
    (full_job, put("job/namespace", ""), "OL-R012", "/0/job/namespace"),
    (full_job, put("job/name", "orders"), "OL-R056", "/0/job/name"),
    (full_job, put("job/name", "streamt/a b/models/x"), "OL-R056", "/0/job/name"),
    (full_job, put("inputs", []), "OL-R050", "/0/inputs"),
    (full_job, put("inputs", [topic("a"), topic("a")]), "OL-R026", "/0/inputs/1"),
    (full_job, put("inputs/0/facets", {}), "OL-R050", "/0/inputs/0/facets"),
    (full_job, both, "OL-R059", "/0/outputs/0"),
    (full_job, put("dataset", {}), "OL-R010", "/0"),
    (full_job, drop("job/facets"), "OL-R052", "/0/job/facets/jobType"),
    (
        full_job,
        put("job/facets/jobType/emissionPattern", {}),
        "OL-R054",
        "/0/job/facets/jobType/emissionPattern",
    ),
    (failed_run, drop("eventType"), "OL-R058", "/0/eventType"),
    (failed_run, put("eventType", "RUNNING"), "OL-R058", "/0/eventType"),
    (failed_run, put("eventType", "COMPLETE"), "OL-R052", "/0/run/facets/errorMessage"),
    (failed_run, put("run/runId", "7"), "OL-R015", "/0/run/runId"),
    (failed_run, put("outputs", [topic("b")]), "OL-R050", "/0/outputs"),
    (failed_run, put("job/name", "streamt/shop/models/x"), "OL-R056", "/0/job/name"),
    (
        failed_run,
        put("run/facets/errorMessage/stackTrace", "at x"),
        "OL-R054",
        "/0/run/facets/errorMessage/stackTrace",
    ),
    (
        failed_run,
        put("run/facets/errorMessage/message", "x" * 4097),
        "OL-R054",
        "/0/run/facets/errorMessage/message",
    ),
    (
        failed_run,
        put("job/facets/jobType/processingType", "STREAMING"),
        "OL-R054",
        "/0/job/facets/jobType/processingType",
    ),
]


@pytest.mark.parametrize(
    ("make", "change", "rule", "where"),
    BROKEN,
    ids=[f"{number}-{rule}-{where}" for number, (_, _, rule, where) in enumerate(BROKEN)],
)
def test_a_broken_rule_is_found_at_its_place(
    make: Callable[[], Event], change: Callable[[Event], None], rule: str, where: str
) -> None:
    event = make()
    change(event)
    found = {(one.rule, one.pointer) for one in check_generated([event])}
    assert (rule, where) in found


def test_a_job_name_has_one_spelling() -> None:
    for code in range(256):
        character = chr(code)
        name = f"streamt/shop/models/a%{code:02X}b"
        unescaped = code < 128 and (character.isalnum() or character in "-._~")
        found = [one.rule for one in check_generated([job_event(name)])]
        # From 128 on an escape alone is not UTF-8.
        assert found == (["OL-R056"] if unescaped or code >= 128 else []), name


# RFC 3629, section 4: what is UTF-8, by its borders, and what is not.
UTF8 = ["C2 80", "DF BF", "E0 A0 80", "E1 80 80", "EC BF BF", "ED 9F BF", "EE 80 80", "EF BF BF",
        "F0 90 80 80", "F3 BF BF BF", "F4 8F BF BF"]  # fmt: skip
NOT_UTF8 = ["80", "BF", "C0 80", "C1 BF", "C2", "C2 C2", "E0 9F BF", "E1 80", "ED A0 80",
            "ED BF BF", "F0 8F BF BF", "F4 90 80 80", "F5 80 80 80", "FE", "FF",
            "C3 A9 A9"]  # fmt: skip


@pytest.mark.parametrize("octets", [*UTF8, *NOT_UTF8])
def test_the_escapes_of_a_job_name_are_utf_8(octets: str) -> None:
    is_utf8 = octets in UTF8
    try:
        bytes.fromhex(octets).decode()
    except UnicodeDecodeError:
        assert not is_utf8
    escapes = "".join(f"%{octet}" for octet in octets.split())
    for name in (f"streamt/{escapes}/models/m", f"streamt/p/models/a{escapes}b"):
        found = [(one.rule, one.pointer) for one in check_generated([job_event(name)])]
        assert found == ([] if is_utf8 else [("OL-R056", "/0/job/name")]), name


@pytest.mark.parametrize("name", ["a%2eb", "a%2Eb", "a%c3%a9", "a%41", "a%", "a%2", "a b", "é", ""])
def test_a_job_name_that_is_not_canonical(name: str) -> None:
    found = [one.rule for one in check_generated([job_event(f"streamt/p/models/{name}")])]
    assert found == ["OL-R056"]


def test_identities_are_unique_over_all_events() -> None:
    events = [full_dataset(), dataset_event("b"), full_dataset(), full_job(), full_job()]
    found = [(one.rule, one.pointer) for one in check_generated(events)]
    assert found == [("OL-R039", "/2/dataset"), ("OL-R039", "/4/job")]


def test_what_is_no_event_is_found_too() -> None:
    (one,) = check_generated([{}])
    assert (one.rule, one.pointer) == ("OL-R010", "/0")
