"""The version and the URLs of OpenLineage: in one module, and those of the specification."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from streamt_ol.openlineage import events, release
from streamt_ol.openlineage.facets import STANDARD_FACETS
from streamt_ol.openlineage.schemas import pins

ROOT = Path(__file__).parents[2]
# Any URL of the standard or of streamt, and the release and the core's version however quoted.
OURS = re.compile(
    r"openlineage\.io|github(?:usercontent)?\.com/(?:OpenLineage|conduktor)|(?<![\d-])2-0-2(?!\d)"
    r"|(?<![\d.])1\.53\.0(?!\d)",
    re.IGNORECASE,
)


def modules() -> list[Path]:
    found = [*(ROOT / "streamt_ol").rglob("*.py"), *(ROOT / "stages").rglob("*.py")]
    return [path for path in found if path != Path(release.__file__)]


def test_no_other_module_holds_a_url_or_the_version() -> None:
    assert len(modules()) > 100
    found = {
        str(path.relative_to(ROOT)): OURS.findall(path.read_text(encoding="utf-8"))
        for path in modules()
        if path.name != "release.py" and OURS.search(path.read_text(encoding="utf-8"))
    }
    assert found == {}


def test_the_values_are_those_of_the_specification() -> None:
    core = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
    assert core == release.CORE_ID
    assert {
        "RunEvent": f"{core}#/$defs/RunEvent",
        "JobEvent": f"{core}#/$defs/JobEvent",
        "DatasetEvent": f"{core}#/$defs/DatasetEvent",
    } == events.EVENT_SCHEMA_URLS
    assert release.PRODUCER == "https://github.com/conduktor/streamt"
    assert release.RELEASE == "1.53.0"


def test_every_facet_has_the_id_that_is_pinned() -> None:
    assert {one.document: one.schema_id for one in STANDARD_FACETS} == {
        name: pin["id"] for name, pin in pins().items() if pin["id"] != release.CORE_ID
    }


@pytest.mark.parametrize(
    ("url", "version"),
    [
        ("https://openlineage.io/spec/1-0-5/OpenLineage.json", "1-0-5"),
        ("http://openlineage.io/spec/2-0-2/OpenLineage.yml", "2-0-2"),
        ("https://github.com/OpenLineage/OpenLineage/blob/main/spec/OpenLineage.json", ""),
        ("https://openlineage.io/spec/facets/1-0-0/OpenLineage.json", None),
        ("https://example.com/spec/2-0-2/OpenLineage.json", None),
    ],
)
def test_a_core_is_known_by_its_address(url: str, version: str | None) -> None:
    assert release.core_version(url) == version


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"run": {}, "job": {}}, "RunEvent"),
        ({"run": None}, "RunEvent"),
        ({"job": {}}, "JobEvent"),
        ({"dataset": {}}, "DatasetEvent"),
        ({"dataset": {}, "run": {}}, "DatasetEvent"),
        ({"dataset": {}, "job": {}}, None),
        ({"dataset": {}, "job": {}, "run": {}}, "RunEvent"),
        ({"eventTime": "now"}, None),
    ],
)
def test_the_keys_decide_the_kind(event: dict[str, object], kind: str | None) -> None:
    assert events.kind_of(event) == kind


def test_identities_are_texts() -> None:
    event = {"run": {"runId": 1}, "job": {"namespace": "n", "name": 2}}
    assert events.identity_of(events.entity_of(event)) == ("n", "")
    assert events.run_id_of(event) is None
    assert events.run_id_of({"run": {"runId": "r"}}) == "r"
    assert events.run_id_of({"run": ["runId"]}) is None
    assert events.identity_of([]) == ("", "")
    assert events.identity_of({"namespace": 5, "name": "n"}) == ("", "n")
    dataset = {"dataset": {"name": "d"}, "job": None}
    assert events.entity_of({"dataset": {"name": "d"}}) == {"name": "d"}
    assert events.entity_of({**dataset, "job": {"name": "j"}}) == {"name": "j"}


def test_what_stands_below_keys() -> None:
    event = {"run": {"facets": {"parent": 7}}, "job": "j"}
    assert events.at(event, "run", "facets", "parent") == 7
    assert events.at(event, "run", "facets", "parent", "run") is None
    assert events.at(event, "job", "facets") is None
    assert events.at(event) is event
