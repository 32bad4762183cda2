"""The pinned documents: their pins, damage, and the table of facets against them."""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from streamt_ol.openlineage import facets, schemas
from streamt_ol.openlineage.events import EVENT_KINDS, EVENT_SCHEMA_URLS
from streamt_ol.openlineage.release import CORE_ID, PRODUCER
from streamt_ol.openlineage.schemas import pack
from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.validation.accept.flatten import Flattener, event_schema

if TYPE_CHECKING:
    from pathlib import Path

# The table of the specification, "Pinned OpenLineage release and schemas".
SPECIFIED = """
OpenLineage 9155 69f68bee00b9beac88a87059c0102410e7bb05f3f43c46d02a0409831eceb0d2
JobTypeJobFacet 3072 11c12cab95a411ca31066c80d2bb4aefd37bbcadbda5e4d343d2069853b907d5
SchemaDatasetFacet 1687 50236a779aa64baa0bad0055391838bd22fcb36ce667c41d60ada80915e899b6
DocumentationDatasetFacet 1031 bad5c041d679e73b2faea43506860428f48d80710ad1354a2d2393475143285f
DocumentationJobFacet 944 b5823685c20c712d9ee1e3b310ad6ca426be7b46db60acd9f23248811af3c8d4
DatasetTypeDatasetFacet 1008 1a7d5106877151d52c4d3967f77b92788ea42ebf9843c6573d776a63c9a7d157
OwnershipDatasetFacet 1368 9a18a508746627eff18fa84ca1694e1a9f2d556ac0052dbdb6970d8a35f75231
OwnershipJobFacet 1344 c54ae771b1183efbe007a778eb5bf05e9e3f39f3d48f22a4beceea00950abdad
ErrorMessageRunFacet 1501 b11b4ee8b0f99f6846264f87cad48390255c7ef142ce623216660c7097be0ea6
"""


def test_the_specified_documents_have_the_specified_pins() -> None:
    pinned = [
        f"{name.removesuffix('.json')} {pin['bytes']} {pin['sha256']}"
        for name, pin in schemas.pins().items()
        if pin["pinned_by"] == "specification"
    ]
    assert sorted(pinned) == sorted(SPECIFIED.split("\n")[1:-1])
    assert sum(int(row.split()[1]) for row in pinned) == 21110


def test_all_39_documents_match_their_pins_and_are_valid_schemas() -> None:
    table = schemas.verify_all()
    assert len(table) == 39
    assert all(pin["id"].startswith("https://openlineage.io/spec/") for pin in table.values())


def test_packing_is_deterministic_and_plain_gzip_in_base64(tmp_path: Path) -> None:
    for name, pin in schemas.pins().items():
        (tmp_path / name).write_bytes(schemas.verified(name, pin))
    first, second = tmp_path / "first", tmp_path / "second"
    for target in (first, second):
        target.mkdir()
        assert pack.pack(tmp_path, target) == schemas.pins()
    for path in first.iterdir():
        assert path.read_bytes() == (second / path.name).read_bytes()
    packed = base64.b64decode((first / "OpenLineage.json.b64").read_bytes())
    assert packed[4:8] == b"\0\0\0\0", "the gzip header carries a time"
    assert packed[3] == 0, "the gzip header carries a name"
    assert gzip.decompress(packed) == (tmp_path / "OpenLineage.json").read_bytes()


def other(content: bytes) -> bytes:
    return content.replace(b"BaseEvent", b"BaseEvenT")


def renamed(content: bytes) -> bytes:
    return content.replace(b"2-0-2/OpenLineage.json", b"2-0-9/OpenLineage.json", 1)


DAMAGE: dict[str, tuple[Any, str]] = {
    "not gzip": (base64.encodebytes, "cannot be decoded"),
    "empty": (lambda _: b"", "size"),
    "truncated": (lambda raw: pack.packed(raw)[:400], "cannot be decoded"),
    "half of it": (lambda raw: base64.b64encode(base64.b64decode(pack.packed(raw))[:900]), "size"),
    "another byte": (lambda raw: pack.packed(other(raw)), "SHA-256"),
    "shorter": (lambda raw: pack.packed(raw[:-1]), "size"),
    "a bomb": (lambda raw: pack.packed(raw + b" " * 10_000_000), "size"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damage_is_an_error_that_names_the_artifact(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage, reason = DAMAGE[case]
    pin = schemas.pins()["OpenLineage.json"]
    original = schemas.verified("OpenLineage.json", pin)
    (tmp_path / "OpenLineage.json.b64").write_bytes(damage(original))
    monkeypatch.setattr(schemas, "_FOLDER", tmp_path)
    with pytest.raises(StreamtOlError, match=reason) as raised:
        schemas.verified("OpenLineage.json", pin)
    assert raised.value.code == INVALID
    assert "OpenLineage.json" in raised.value.message


def test_a_missing_resource_and_an_unknown_name_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin = schemas.pins()["OpenLineage.json"]
    with pytest.raises(StreamtOlError, match=r"Nothing\.json"):
        schemas.document("Nothing.json")
    monkeypatch.setattr(schemas, "_FOLDER", tmp_path)
    with pytest.raises(StreamtOlError, match=r"OpenLineage\.json is damaged"):
        schemas.verified("OpenLineage.json", pin)


def test_a_change_of_the_table_of_pins_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = (schemas._FOLDER / "pins.json").read_bytes()
    assert json.loads(table)["documents"] == schemas.pins()
    monkeypatch.setattr(schemas, "_FOLDER", tmp_path)
    for damaged in (table.replace(b"9155", b"9156"), table[:-1], b"", b"{}\n", table[1:]):
        (tmp_path / "pins.json").write_bytes(damaged)
        schemas.pins.cache_clear()
        with pytest.raises(StreamtOlError, match=r"pins\.json is damaged: its SHA-256"):
            schemas.pins()


def test_an_id_that_is_not_the_pinned_one_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = schemas.pins()["OpenLineage.json"]
    content = renamed(schemas.verified("OpenLineage.json", good))
    (tmp_path / "OpenLineage.json.b64").write_bytes(pack.packed(content))
    pin = {**pack.pin("OpenLineage.json", content), "id": good["id"]}
    rest = json.dumps({"OpenLineage.json": pin}).encode() + b"}"
    (tmp_path / "pins.json").write_bytes(schemas.table_of_pins(rest))
    monkeypatch.setattr(schemas, "_FOLDER", tmp_path)
    schemas.pins.cache_clear()
    schemas.document.cache_clear()
    try:
        with pytest.raises(StreamtOlError, match=r"\$id"):
            schemas.document("OpenLineage.json")
    finally:
        schemas.pins.cache_clear()
        schemas.document.cache_clear()


# What a document's top-level property says: which definitions describe the facet of that key.
def described(name: str) -> tuple[str, list[str]]:
    document = schemas.document(name)
    ((key, value),) = document["properties"].items()
    names = [one["$ref"].rsplit("/", 1)[1] for one in value.get("anyOf", [value])]
    found = []
    for one in names:
        forms = document["$defs"][one].get("oneOf")
        found += [form["$ref"].rsplit("/", 1)[1] for form in forms] if forms else [one]
    return key, found


def test_the_table_of_facets_agrees_with_the_documents() -> None:
    from_documents = {
        (key, schemas.document(name)["$id"], definition)
        for name in schemas.pins()
        if name != schemas.CORE
        for key, definitions in [described(name)]
        for definition in definitions
    }
    table = {(one.key, one.schema_id, one.definition) for one in facets.STANDARD_FACETS}
    assert table == from_documents
    assert len(facets.STANDARD_FACETS) == len(table) == 40


def test_each_facet_stands_where_its_schema_says() -> None:
    for one in facets.STANDARD_FACETS:
        definition = schemas.document(one.document)["$defs"][one.definition]
        bases = [part["$ref"] for part in definition["allOf"] if "$ref" in part]
        assert bases == [f"{CORE_ID}#/$defs/{facets.PLACES[one.place]}"], one


def test_the_odd_ones_stand_at_their_places() -> None:
    assert facets.schema_url("inputDataset", "dataQualityAssertions") == (
        "https://openlineage.io/spec/facets/1-1-0/DataQualityAssertionsDatasetFacet.json"
        "#/$defs/DataQualityAssertionsDatasetFacet"
    )
    assert facets.schema_url("dataset", "lineage").endswith(
        "LineageFacet.json#/$defs/LineageDatasetFacet"
    )
    assert facets.schema_url("outputDataset", "subset").endswith(
        "BaseSubsetDatasetFacet.json#/$defs/OutputSubsetOutputDatasetFacet"
    )


def test_the_core_constants_are_the_specified_ones() -> None:
    assert PRODUCER == "https://github.com/conduktor/streamt"
    core = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/"
    assert {
        kind: core + kind for kind in ("RunEvent", "JobEvent", "DatasetEvent")
    } == EVENT_SCHEMA_URLS


def test_every_flattened_schema_is_self_contained() -> None:
    for kind in EVENT_KINDS:
        flat = json.dumps(event_schema(kind, facets.STANDARD_FACETS))
        references = {part.split('"')[0] for part in flat.split('"$ref": "')[1:]}
        assert all(one.startswith("#/$defs/") for one in references)
        assert '"format"' not in flat


def test_a_flattened_facet_keeps_what_its_schema_demands() -> None:
    job_type = Flattener(()).facet(facets.by_place()["job"]["jobType"])
    assert sorted(job_type["required"]) == [
        "_producer",
        "_schemaURL",
        "integration",
        "processingType",
    ]
    assert job_type["properties"]["emissionPattern"]["properties"]["windowDuration"] == {
        "type": "integer",
        "minimum": 1,
    }
