"""`streamt-ol check`: verdicts worked out by hand from what each receiver's documentation says."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from support.commands import streamt_ol
from support.delivery.events import dataset, facet, job, refs, run, write

from streamt_ol.delivery.receivers import CHECKED

if TYPE_CHECKING:
    from pathlib import Path

    from support.delivery.events import Event

SCHEMA: dict[str, Any] = {
    "schema": facet("SchemaDatasetFacet", fields=[{"name": "id", "type": "INT"}])
}
POSTGRES = "postgresql://warehouse.example.com:5432"


def check(
    tmp_path: Path, *events: Event | str, receiver: str = "openmetadata", **more: Any
) -> tuple[int, list[dict[str, Any]]]:
    """Return the exit status, and the verdict of ``receiver`` about each event."""
    options = [x for name, value in more.items() for x in (f"--{name.replace('_', '-')}", value)]
    file = write(tmp_path / "e.jsonl", *events)
    done = streamt_ol("--output", "json", "check", file, "--for", receiver, *options)
    told = json.loads(done.stdout)
    assert told["status"] == ("error" if done.returncode else "ok")
    return done.returncode, [event["verdicts"][receiver] for event in told["data"]["events"]]


def table(*names: str, namespace: str = POSTGRES, **facets: Any) -> list[Event]:
    return [{"namespace": namespace, "name": name, "facets": facets} for name in names]


class TestOpenMetadata:
    def test_kinds_and_states(self, tmp_path: Path) -> None:
        sides: dict[str, Any] = {"inputs": table("a.b.c"), "outputs": table("a.b.d")}
        no_type = run("r", **sides)
        del no_type["eventType"]
        status, verdicts = check(
            tmp_path, dataset("a.b.c"), job("j", **sides), run("r", "START", **sides),
            run("r", "COMPLETE", **sides), no_type, run("r", inputs=table("a.b.c")), run("r"),
        )  # fmt: skip
        assert [v["status"] for v in verdicts] == [
            "refused", "refused", "ignored", "depends", "depends", "ignored", "ignored"
        ]  # fmt: skip
        assert status == 1
        assert verdicts[5]["reasons"] == ["no edge without outputs"]
        assert verdicts[6]["reasons"] == ["no edge without inputs and outputs"]

    @pytest.mark.parametrize(
        ("inputs", "outputs", "edges"),
        [(1, 1, 1), (2, 3, 6), (3, 1, 3)],
    )
    def test_an_edge_for_each_pair(
        self, tmp_path: Path, inputs: int, outputs: int, edges: int
    ) -> None:
        event = run(
            "r",
            inputs=table(*(f"a.b.i{n}" for n in range(inputs))),
            outputs=table(*(f"a.b.o{n}" for n in range(outputs))),
        )
        status, (verdict,) = check(tmp_path, event)
        assert (status, verdict["status"], verdict["edges"]) == (0, "depends", edges)

    def test_names_that_cannot_resolve(self, tmp_path: Path) -> None:
        kafka = refs("orders", namespace="kafka://b:9092")
        (tmp_path / "s.json").write_text(f'{{"namespaceToServiceMapping": {{"{POSTGRES}": "pg"}}}}')
        events = [
            run("r", inputs=kafka, outputs=table("a.b.c")),
            run("r", inputs=[*kafka, *table("public.orders")], outputs=table("a.b.c")),
        ]
        status, (verdict, partly) = check(tmp_path, *events, namespace_map=tmp_path / "s.json")
        assert status == 1
        assert (verdict["status"], verdict["edges"]) == ("refused", 0)
        assert "'kafka://b:9092' 'orders' cannot resolve" in verdict["reasons"][0]
        assert "never a topic (see openmetadata-kafka)" in verdict["reasons"][0]
        assert (partly["status"], partly["edges"]) == ("depends", 1)
        assert "'kafka://b:9092' 'orders' cannot resolve" in partly["notes"][0]
        # A server whose settings are not known may map the namespace.
        status, (unknown, _) = check(tmp_path, *events)
        assert (status, unknown["status"]) == (0, "depends")
        assert "in newest releases only, never a topic" in unknown["reasons"][0]

    @pytest.mark.parametrize(
        ("namespace", "name", "status"),
        [
            (POSTGRES, "orders", "depends"), (f"{POSTGRES}/db", "public.orders", "depends"),
            ("postgresql:", "public.orders", "depends"), ("mysql://x:1", "orders", "refused"),
            ("mysql://x:1", "s.orders", "depends"), ("s3://b", "in/x.csv", "depends"),
            ("abfss://c@a.dfs.core.windows.net", "x/y", "depends"), ("gs://b", "x", "depends"),
            ("wasb://c@a", "p/q.csv", "refused"), ("hdfs://n:1", "/data/x.csv", "refused"),
            ("file", "/data/in.csv", "refused"), ("dbfs:/mnt", "a/b.parquet", "refused"),
            ("oss://b", "p/q", "refused"), ("hive://m:1", "sales/orders", "refused"),
        ],
    )  # fmt: skip
    def test_how_a_dataset_resolves_with_a_mapping(
        self, tmp_path: Path, namespace: str, name: str, status: str
    ) -> None:
        (tmp_path / "s.json").write_text(f'{{"namespaceToServiceMapping": {{"{POSTGRES}": "pg"}}}}')
        event = run("r", inputs=refs(name, namespace=namespace), outputs=table("a.b.c", **SCHEMA))
        _, (verdict,) = check(tmp_path, event, namespace_map=tmp_path / "s.json")
        assert verdict["status"] == status

    def test_a_symlink_is_tried_first(self, tmp_path: Path) -> None:
        (tmp_path / "s.json").write_text(f'{{"namespaceToServiceMapping": {{"{POSTGRES}": "pg"}}}}')
        link = {"namespace": POSTGRES, "name": "a.b.c", "type": "TABLE"}
        symlinks = facet("SymlinksDatasetFacet", identifiers=[link])
        spark = table("orders", namespace="spark", symlinks=symlinks, **SCHEMA)
        event = run("r", inputs=spark, outputs=table("a.b.d", **SCHEMA))
        _, (verdict,) = check(tmp_path, event, namespace_map=tmp_path / "s.json")
        assert (verdict["status"], verdict["edges"]) == ("accepted", 1)

    @pytest.mark.parametrize(
        ("mapped", "name", "facets", "reason"),
        [
            ([POSTGRES], "a.b.c", SCHEMA, ""),
            ([POSTGRES], "b.c", SCHEMA,
             "a table, which it creates if the mapped service has exactly one database"),
            ([POSTGRES], "x.a.b.c", SCHEMA, "a table in its catalog: it cannot be created"),
            ([POSTGRES], "a.b.c", {}, "a table in its catalog: it cannot be created"),
            ([POSTGRES, "mysql://"], "a.b.c", SCHEMA, ""),
            # An older release takes the first entry that fits, which may be the other one.
            (["postgresql://", POSTGRES], "a.b.c", SCHEMA, "older releases map the first prefix"),
            ([POSTGRES, f"{POSTGRES}/db"], "a.b.c", SCHEMA, "older releases map the first prefix"),
            (["mysql://"], "a.b.c", SCHEMA, "a table by its name alone"),
            (["mysql://"], "c", {"datasource": {"name": "pg"}}, "what its datasource facet says"),
        ],
    )  # fmt: skip
    def test_what_is_certain_in_every_release(
        self, tmp_path: Path, mapped: list[str], name: str, facets: Any, reason: str
    ) -> None:
        mapping = {"namespaceToServiceMapping": dict.fromkeys(mapped, "pg")}
        (tmp_path / "s.json").write_text(json.dumps(mapping))
        event = run("r", inputs=table(name, **facets), outputs=table(name, **facets))
        _, (verdict,) = check(tmp_path, event, namespace_map=tmp_path / "s.json")
        assert verdict["status"] == ("depends" if reason else "accepted")
        assert all(reason in text for text in verdict.get("reasons", []))

    def test_the_key_of_the_standard_is_not_read(self, tmp_path: Path) -> None:
        (tmp_path / "s.json").write_text('{"namespaceToServiceMapping": {"mysql://": "m"}}')
        event = run("r", inputs=table("c", dataSource={"name": "pg"}), outputs=table("a.b.c"))
        _, (verdict,) = check(tmp_path, event, namespace_map=tmp_path / "s.json")
        assert verdict["status"] == "refused"

    @pytest.mark.parametrize(("place", "status"), [(0, "accepted"), (1, "depends")])
    def test_a_later_symlink_is_not_read_by_older_releases(
        self, tmp_path: Path, place: int, status: str
    ) -> None:
        (tmp_path / "s.json").write_text(f'{{"namespaceToServiceMapping": {{"{POSTGRES}": "pg"}}}}')
        links = [{"namespace": "spark", "name": "orders", "type": "TABLE"}]
        links.insert(place, {"namespace": POSTGRES, "name": "a.b.c", "type": "TABLE"})
        symlinks = facet("SymlinksDatasetFacet", identifiers=links)
        spark = table("orders", namespace="spark", symlinks=symlinks, **SCHEMA)
        event = run("r", inputs=spark, outputs=table("a.b.d", **SCHEMA))
        _, (verdict,) = check(tmp_path, event, namespace_map=tmp_path / "s.json")
        assert verdict["status"] == status

    def test_a_kafka_dataset_is_said_to_be_a_table(self, tmp_path: Path) -> None:
        kafka = "kafka://b:9092"
        (tmp_path / "s.json").write_text(f'{{"namespaceToServiceMapping": {{"{kafka}": "pg"}}}}')
        both = table("a.b.c", namespace=kafka, **SCHEMA)
        event = run("r", inputs=both, outputs=both)
        _, (verdict,) = check(tmp_path, event, namespace_map=tmp_path / "s.json")
        assert verdict["notes"] == [
            "'kafka://b:9092' 'a.b.c': it makes a table, never a topic (see openmetadata-kafka)"
        ]

    @pytest.mark.parametrize(
        ("facets", "reason"),
        [
            ({"schema": facet("S", fields=[{"name": "a"}])}, "a schema field of 'a.b.c'"),
            ({"schema": facet("S", fields=[{"name": "a", "type": "x", "fields": [{"name": "b"}]}])},
             "a schema field of 'a.b.c'"),
            ({"symlinks": facet("S", identifiers=[{"namespace": "n", "name": "m"}])},
             "a symlink of 'a.b.c'"),
            ({"ownership": facet("O", owners=[{"type": "t"}])}, "an owner of 'a.b.c'"),
            ({"columnLineage": facet("C", fields={"x": {"inputFields": [{"name": "n"}]}})},
             "an input field of 'a.b.c'"),
            ({"columnLineage": facet("C", fields={"x": {}})}, "a column of 'a.b.c'"),
            ({"columnLineage": facet("C")}, "columnLineage of 'a.b.c'"),
        ],
    )  # fmt: skip
    def test_fields_without_which_it_answers_400(
        self, tmp_path: Path, facets: dict[str, Any], reason: str
    ) -> None:
        event = run("r", "START", inputs=table("a.b.c", **facets), outputs=table("a.b.d"))
        status, (verdict,) = check(tmp_path, event)
        assert (status, verdict["status"]) == (1, "refused")
        assert verdict["reasons"][0].startswith(reason)

    def test_storage_resolves_to_a_container_by_its_path(self, tmp_path: Path) -> None:
        event = run("r", inputs=refs("in/x.csv", namespace="s3://b"), outputs=table("a.b.c"))
        status, (verdict,) = check(tmp_path, event)
        assert (status, verdict["edges"]) == (0, 1)
        assert "container" in verdict["reasons"][0]

    def test_with_the_settings_that_its_documentation_prints(self, tmp_path: Path) -> None:
        settings: dict[str, Any] = {
            "configType": "openLineageSettings",
            "configValue": {
                "enabled": True,
                "autoCreateEntities": False,
                "eventTypeFilter": ["COMPLETE"],
                "defaultPipelineService": "openlineage",
                "namespaceToServiceMapping": {POSTGRES: "prod-postgres"},
            },
        }
        path = tmp_path / "om-settings.json"
        path.write_text(json.dumps(settings))
        mapped = run("r", inputs=table("a.b.c"), outputs=table("a.b.d", **SCHEMA))
        other = run("r", inputs=table("a.b.c"), outputs=table("a.b.d", namespace="mysql://x:1"))
        status, (good, bad) = check(tmp_path, mapped, other, namespace_map=path)
        assert status == 0
        assert (good["status"], good["edges"], len(good["reasons"])) == ("depends", 1, 2)
        assert (bad["status"], bad["edges"]) == ("depends", 1)
        assert bad["reasons"][1] == (
            "'mysql://x:1' 'a.b.d': it looks for a table by its name alone: "
            "no entry in namespaceToServiceMapping fits"
        )
        settings["configValue"] = {
            **settings["configValue"], "eventTypeFilter": ["START"], "autoCreateEntities": True
        }  # fmt: skip
        path.write_text(json.dumps(settings["configValue"]))
        started = run("r", "START", inputs=table("a.b.c"), outputs=table("a.b.d", **SCHEMA))
        status, (complete, start) = check(tmp_path, mapped, started, namespace_map=path)
        assert (status, complete["status"], start["status"]) == (0, "ignored", "depends")
        assert len(start["reasons"]) == 1, "only the input, without columns, cannot be created"

    def test_a_disabled_api_refuses_everything(self, tmp_path: Path) -> None:
        path = tmp_path / "om-settings.json"
        path.write_text('{"enabled": false}')
        sides: dict[str, Any] = {"inputs": table("a.b.c"), "outputs": table("a.b.d")}
        status, (verdict,) = check(tmp_path, run("r", **sides), namespace_map=path)
        assert (status, verdict["status"]) == (1, "refused")

    @pytest.mark.parametrize("content", ["", "[]", '{"eventTypeFilter": 1}', '{"a":1,"a":2}'])
    def test_a_settings_file_that_is_none(self, tmp_path: Path, content: str) -> None:
        path = tmp_path / "om-settings.json"
        path.write_text(content)
        events = write(tmp_path / "e.jsonl", job("j"))
        done = streamt_ol("check", events, "--for", "openmetadata", "--namespace-map", path)
        assert done.returncode == 1
        assert done.stderr.startswith(b"E501_PARSE_ERROR")

    def test_a_settings_file_that_is_a_device_or_too_large(self, tmp_path: Path) -> None:
        large = tmp_path / "large.json"
        large.write_bytes(b" " * ((16 << 20) + 1))
        events = write(tmp_path / "e.jsonl", job("j"))
        for path, reason in (("/dev/zero", b"is a device"), (str(large), b"larger than 16 MiB")):
            done = streamt_ol("check", events, "--for", "openmetadata", "--namespace-map", path)
            assert done.returncode == 1
            assert done.stderr.startswith(b"E501_PARSE_ERROR")
            assert reason in done.stderr

    def test_facets_that_are_read_and_that_are_not(self, tmp_path: Path) -> None:
        custom = {"_producer": "https://example.com/p", "_schemaURL": "https://example.com/s"}
        event = run(
            "r",
            inputs=table("a.b.c", **SCHEMA, my_quality=custom),
            outputs=table("a.b.d", my_lineage=custom),
        )
        event["job"]["facets"] = {"sql": facet("SQLJobFacet", query="SELECT 1"), "mine": custom}
        _, (verdict,) = check(tmp_path, event)
        assert verdict["reads"] == ["job.sql", "inputs.schema"]
        assert verdict["ignores"] == ["job.mine", "inputs.my_quality", "outputs.my_lineage"]

    def test_as_run_events(self, tmp_path: Path) -> None:
        events = write(
            tmp_path / "e.jsonl", dataset("a.b.c"),
            job("j", inputs=refs("a.b.c"), outputs=refs("a.b.d")),
        )  # fmt: skip
        done = streamt_ol("check", events, "--for", "openmetadata", "--as-run-events")
        assert done.returncode == 0
        assert done.stdout.decode().splitlines()[-1] == (
            "openmetadata: accepted 0, depends 1, ignored 2, refused 0; at most 1 edges to expect"
        )


def test_sizes_and_edges_for_truewatch(tmp_path: Path) -> None:
    big = job("big", text="x" * (8 * 1024 * 1024))
    near = job("near", text="x" * (5 * 1024 * 1024))
    small = job("j", inputs=refs("a", "b"), outputs=refs("c"))
    status, verdicts = check(tmp_path, big, near, small, receiver="truewatch")
    assert status == 1
    assert [v["status"] for v in verdicts] == ["refused", "accepted", "accepted"]
    assert "close to the size limit" in verdicts[1]["notes"][0]
    assert verdicts[2]["edges"] == 3


def test_what_truewatch_asks_for_and_does_not_get_depends(tmp_path: Path) -> None:
    """All kinds require them; what is answered without is not documented. DataKit's is not sent."""
    found = []
    for name in ("eventTime", "producer", "schemaURL"):
        event = job("j")
        del event[name]
        found.append(event)
    status, verdicts = check(tmp_path, *found, run("r", run_id="42"), receiver="truewatch")
    assert (status, [v["status"] for v in verdicts]) == (0, ["depends"] * 4)
    assert all(v["reasons"][0].startswith("it asks for events of the") for v in verdicts)
    assert "eventTime" in verdicts[0]["reasons"][0]
    status, verdicts = check(tmp_path, *found, receiver="datakit")
    assert (status, [v["status"] for v in verdicts]) == (1, ["refused"] * 3)


def test_an_invalid_event_is_refused_by_all(tmp_path: Path) -> None:
    events = write(tmp_path / "e.jsonl", "{", job("j"))
    done = streamt_ol("check", events, "--for", "all")
    head, first, second, *totals = done.stdout.decode().splitlines()
    assert done.returncode == 1
    assert head.split() == ["line", *CHECKED, "event"]
    assert first.split() == ["1", *["REFUSED"] * len(CHECKED), "no", "event"]
    any_kind = {"openlineage", "marquez", "truewatch", "datakit", "kafka", "file"}
    marks = {name: "yes" if name in any_kind else "REFUSED" for name in CHECKED}
    marks |= dict.fromkeys(("openmetadata-kafka", "alation"), "ignored")
    assert second.split() == ["2", *marks.values(), "JobEvent", "'jobs'", "'j'"]
    assert totals[0] == "openlineage: accepted 1, ignored 0, refused 1"
    assert len(totals) == len(CHECKED)


def test_several_receivers_are_explained(tmp_path: Path) -> None:
    events = write(tmp_path / "e.jsonl", job("j"))
    done = streamt_ol("check", events, "--for", "openmetadata", "--for", "marquez")
    assert done.returncode == 1
    assert done.stdout.decode().splitlines() == [
        "line 1: openmetadata: refused: JobEvent 'jobs' 'j'",
        "  why: it takes RunEvents only (see --as-run-events)",
        "line 1: marquez: accepted: JobEvent 'jobs' 'j'",
        "openmetadata: accepted 0, ignored 0, refused 1",
        "marquez: accepted 1, ignored 0, refused 0",
    ]


def test_nothing_opens_a_socket(tmp_path: Path) -> None:
    events = write(
        tmp_path / "e.jsonl", job("j"), run("r", inputs=refs("a.b"), outputs=refs("c.d"))
    )
    program = (
        "import socket, sys\n"
        "def no(*a, **k): raise SystemExit('a socket call')\n"
        "for name in ('socket', 'create_connection', 'getaddrinfo', 'socketpair'):\n"
        "    setattr(socket, name, no)\n"
        "from streamt_ol.cli.app import run\n"
        "sys.exit(run(['check', sys.argv[1], '--for', 'all']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(events)], capture_output=True, check=False
    )
    assert done.stderr == b""
    assert done.returncode == 1  # openmetadata takes no JobEvent


def test_usage(tmp_path: Path) -> None:
    events = write(tmp_path / "e.jsonl", job("j"))
    for options in ([], ["--for", "nowhere"], ["--for", "config"]):
        assert streamt_ol("check", events, *options).returncode == 2


def test_faults_are_told_in_one_order(tmp_path: Path) -> None:
    """The reference validator goes through additional facets as a set, whose order is any."""
    event = dataset("d", one="START", two={}, three=1, four={"_producer": "x y"})
    events = write(tmp_path / "e.jsonl", event)
    told = {
        streamt_ol(
            "check", events, "--for", "file", environment={"PYTHONHASHSEED": str(seed)}
        ).stdout
        for seed in range(4)
    }
    assert len(told) == 1


def test_a_receiver_that_does_not_exist_is_named(tmp_path: Path) -> None:
    done = streamt_ol("check", write(tmp_path / "e.jsonl", job("a")), "--for", "marqez")
    assert done.returncode == 2
    assert done.stderr.startswith(
        b"E500_USAGE_ERROR --for: there is no receiver 'marqez' to check for\n"
        b"  hint: choose one of: openlineage, marquez, "
    )
