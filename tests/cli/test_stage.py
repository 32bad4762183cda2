"""Stages as filters, stages replaced by a user's own, and the contracts between them."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import streamt_ol
from support.manifests import FIXTURES, OPTIONS, shop

from streamt_ol import pipeline, runner
from streamt_ol.contracts import PROJECTION, State
from streamt_ol.manifest.shape import check_against
from streamt_ol.problems import INVALID, StreamtOlError

MANIFESTS = FIXTURES / "manifests"
OPTION_WORDS = [
    "--job-namespace", "https://lineage.example/ns/fixtures",
    "--kafka-namespace", "kafka://broker.example:9092",
    "--gateway-namespace", "kafka://gateway.example:6969",
]  # fmt: skip
STAGES = [
    "load-manifest", "resolve-identities", "build-facets", "validate", "canonicalize", "emit",
]  # fmt: skip
TAG_STAGE = '''
"""Adds a tag to every dataset."""

from streamt_ol.stages.build_facets import build_facets

TAGS = {
    "_producer": "https://example.com/our-lineage",
    "_schemaURL": "https://openlineage.io/spec/facets/1-0-0/TagsDatasetFacet.json"
    "#/$defs/TagsDatasetFacet",
    "tags": [{"key": "team", "value": "streams"}],
}


def with_tags(state):
    result = build_facets(state)
    for event in result["events"]:
        if "dataset" in event:
            event["dataset"]["facets"]["tags"] = TAGS
    return result
'''


@pytest.mark.parametrize("name", ["demo", "materializations", "macros", "older", "empty"])
def test_the_six_filters_by_hand_give_the_bytes_of_export(name: str) -> None:
    ran = streamt_ol("stage", STAGES[0], MANIFESTS / f"{name}.json")
    data = ran.stdout
    for stage in STAGES[1:]:
        words = OPTION_WORDS if stage == "resolve-identities" else []
        ran = streamt_ol("stage", stage, *words, stdin=data)
        assert ran.returncode == 0, ran.stderr
        data = ran.stdout
    assert data == (MANIFESTS / f"{name}.expected.jsonl").read_bytes()
    exported = streamt_ol("export", MANIFESTS / f"{name}.json", *OPTION_WORDS)
    assert ran.stderr == exported.stderr


class TestFilters:
    def test_options_may_be_given_to_the_first_stage_and_travel_along(self) -> None:
        first = streamt_ol("stage", "load-manifest", MANIFESTS / "demo.json", *OPTION_WORDS)
        second = streamt_ol(
            "stage", "resolve_identities", stdin=first.stdout,
            environment={"OPENLINEAGE_NAMESPACE": "from the environment"},
        )  # fmt: skip
        jobs = json.loads(second.stdout)["jobs"]
        assert {job["namespace"] for job in jobs} == {OPTION_WORDS[1]}

    def test_list_names_the_stages_in_their_order(self) -> None:
        lines = streamt_ol("stage", "--list").stdout.decode().splitlines()
        names = [line.split()[0].replace("_", "-") for line in lines]
        assert names == [STAGES[0], "compile-project", *STAGES[1:]]
        envelope = json.loads(streamt_ol("--output", "json", "stage", "--list").stdout)
        assert [row["name"].replace("_", "-") for row in envelope["data"]["stages"]] == names

    def test_the_envelope_holds_the_state(self) -> None:
        first = streamt_ol("stage", "load-manifest", MANIFESTS / "demo.json", *OPTION_WORDS)
        ran = streamt_ol("--output", "json", "stage", "resolve-identities", stdin=first.stdout)
        envelope = json.loads(ran.stdout)
        assert (envelope["status"], envelope["command"]) == ("ok", "stage")
        assert envelope["data"]["project"] == "ride-hailing"

    def test_emit_writes_a_file(self, tmp_path: Path) -> None:
        data = (MANIFESTS / "demo.json").read_bytes()
        for stage in STAGES[:-1]:
            data = streamt_ol("stage", stage, *OPTION_WORDS, stdin=data).stdout
        target = tmp_path / "x.jsonl"
        ran = streamt_ol("stage", "emit", "--output-file", target, stdin=data)
        assert ran.returncode == 0
        assert ran.stdout.decode() == f"wrote 6 events (3 datasets, 3 jobs) to {target}\n"
        assert target.read_bytes() == (MANIFESTS / "demo.expected.jsonl").read_bytes()

    @pytest.mark.parametrize(
        ("stage", "stdin", "place"),
        [
            ("build-facets", b"{}", "stage build_facets input"),
            ("build-facets", b'{"project": 1}', "stage build_facets input"),
            ("validate", b'{"events": [{"eventTime": 1}], "warnings": []}',
             "stage validate input /events/0"),
            ("canonicalize", b"[]", "stage canonicalize input"),
            ("resolve-identities", b'{"options": {}, "manifest": []}',
             "stage resolve_identities input /manifest"),
        ],
    )  # fmt: skip
    def test_a_wrong_input_is_named_with_stage_and_place(
        self, stage: str, stdin: bytes, place: str
    ) -> None:
        ran = streamt_ol("stage", stage, stdin=stdin)
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr.decode().startswith(f"E506_OPENLINEAGE_INVALID {place}")

    @pytest.mark.parametrize(
        "stdin", [b"5", b"null", b'"options"', b'{"options": 5, "manifest": {}}',
                  b'{"options": null, "manifest": {}}', b'{"options": {}, "manifest": {}}'],
    )  # fmt: skip
    def test_any_json_on_stdin_is_no_traceback(self, stdin: bytes) -> None:
        ran = streamt_ol("stage", "resolve-identities", stdin=stdin)
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr.startswith(b"E506_OPENLINEAGE_INVALID stage resolve_identities input")

    @pytest.mark.parametrize(
        ("lines", "total"), [(["a\nb"], 7), (["{}"], 0), ([], 1)], ids=["two", "none", "count"]
    )
    def test_emit_writes_nothing_that_is_not_its_events(self, lines: list[str], total: int) -> None:
        counts = {"total": total, "datasets": total, "jobs": 0}
        state = {"events": [], "lines": lines, "counts": counts, "warnings": []}
        ran = streamt_ol("stage", "emit", stdin=json.dumps(state).encode())
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert b"canonical" in ran.stderr

    def test_a_repeated_key_is_shown_bounded_and_redacted(self) -> None:
        key = b"password=hunter2" + b"A" * 2_000
        ran = streamt_ol("stage", "validate", stdin=b'{"%b": 1, "%b": 1}' % (key, key))
        assert ran.returncode == 1
        assert b"hunter2" not in ran.stderr
        assert len(ran.stderr) < 600

    def test_no_warnings_twice_in_the_envelope(self) -> None:
        first = streamt_ol("stage", "load-manifest", MANIFESTS / "demo.json", *OPTION_WORDS)
        ran = streamt_ol("--output", "json", "stage", "resolve-identities", stdin=first.stdout)
        envelope = json.loads(ran.stdout)
        assert len(envelope["warnings"]) == 1
        assert "warnings" not in envelope["data"]

    @pytest.mark.parametrize("stdin", [b"", b"{", b'{"a": 1, "a": 1}'])
    def test_what_is_no_json_is_e501(self, stdin: bytes) -> None:
        ran = streamt_ol("stage", "validate", stdin=stdin)
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr.startswith(b"E501_PARSE_ERROR ")

    @pytest.mark.parametrize(
        "words",
        [[], ["nonsense"], ["validate", "m.json"], ["validate", "--output-file", "x"]],
    )
    def test_a_wrong_command_line_is_status_2(self, words: list[str]) -> None:
        assert streamt_ol("stage", *words).returncode == 2


class TestReplacement:
    def export(self, folder: Path, code: str, option: str) -> tuple[int, str, str]:
        (folder / "own_stages.py").write_text(code)
        ran = streamt_ol(
            "export", MANIFESTS / "demo.json", *OPTION_WORDS, "-q", "--stage", option, cwd=folder
        )
        return ran.returncode, ran.stdout.decode(), ran.stderr.decode()

    def test_a_users_build_facets_adds_a_tag_facet(self, tmp_path: Path) -> None:
        status, out, err = self.export(tmp_path, TAG_STAGE, "build_facets=own_stages:with_tags")
        assert (status, err) == (0, "")
        events = [json.loads(line) for line in out.splitlines()]
        tagged = [e["dataset"]["facets"].pop("tags") for e in events if "dataset" in e]
        assert [t["tags"] for t in tagged] == [[{"key": "team", "value": "streams"}]] * 3
        golden = (MANIFESTS / "demo.expected.jsonl").read_text("utf-8")
        assert events == [json.loads(line) for line in golden.splitlines()]

    @pytest.mark.parametrize(
        ("stage", "code", "place"),
        [
            ("build_facets", "def f(s): return None", "stage build_facets: "),
            ("build_facets", "def f(s): return {}", "stage build_facets: "),
            ("build_facets", "def f(s): return {'events': [{}], 'warnings': []}",
             "stage build_facets /events/0: "),
            ("build_facets", "def f(s): return {'events': [], 'warnings': [], 'sql': 'x'}",
             "stage build_facets: "),
            ("build-facets", "def f(s): raise KeyError('password=hunter2')",
             "stage build_facets: "),
            ("resolve_identities", "def f(s): return s", "stage resolve_identities: "),
            ("load_manifest", "def f(s): return {**s, 'manifest': 'x'}",
             "stage load_manifest /manifest: "),
            ("canonicalize", "def f(s): return {**s, 'lines': [1], 'counts': {}}",
             "stage canonicalize /"),
            ("validate", "def f(s): s['events'][0]['dataset'] = None; return s",
             "stage validate /events/0/dataset: "),
            ("emit", "def f(s): return {'counts': s['counts']}", "stage emit: "),
            ("build_facets", "import sys\ndef f(s): sys.exit(0)", "stage build_facets: "),
            ("build_facets", "def f(s): raise GeneratorExit", "stage build_facets: "),
            ("build_facets", "class E(Exception):\n def __str__(self): raise ValueError\n"
             "def f(s): raise E", "stage build_facets: "),
            ("build_facets", "from streamt_ol.problems import StreamtOlError as E\n"
             "def f(s): raise E('E999', 'x\\nE506 password=hunter2 \\ud800')",
             "stage build_facets: "),
            ("build_facets", "from streamt_ol.problems import StreamtOlError as E\n"
             "def f(s): raise E('E506_OPENLINEAGE_INVALID', KeyError('password=hunter2'))",
             "stage build_facets: the stage refused its input: "),
            ("build_facets", "def f(s): return {'events': [{5: float('nan')}], 'warnings': []}",
             "stage build_facets: "),
            ("build_facets", "import datetime\ndef f(s): return {'events': [], 'warnings': [],"
             " 't': datetime.datetime.now()}", "stage build_facets: "),
            ("build_facets", "from streamt_ol.stages.build_facets import build_facets as b\n"
             "def f(s):\n r = b(s); r['events'][1] |= {'eventTime': '2020-01-01T00:00:00Z'}; "
             "return r", "/events/1/eventTime: "),
            ("build_facets", "from streamt_ol.stages.build_facets import build_facets as b\n"
             "def f(s):\n r = b(s); r['events'][5] |= {'run': {'runId': 'x'}}; return r",
             "stage build_facets /events/5/run: "),
            ("load_manifest", "def f(s): return {**s, 'manifest': {'project': 5}}",
             "stage load_manifest /manifest/project: "),
            ("validate", "def f(s):\n s['events'][0]['dataset']['name'] = ' '; return s",
             "/events/"),
            ("canonicalize", "def f(s): return {**s, 'lines': ['garbage', 'x\\ny'],"
             " 'counts': {'total': 99, 'datasets': 99, 'jobs': 0}}", "stage canonicalize: "),
            ("canonicalize", "def f(s): return {**s, 'lines': ['\\ud800'],"
             " 'counts': {'total': 1, 'datasets': 1, 'jobs': 0}}", "stage canonicalize: "),
        ],
    )  # fmt: skip
    def test_that_returns_the_wrong_shape_fails_with_stage_and_place(
        self, tmp_path: Path, stage: str, code: str, place: str
    ) -> None:
        status, out, err = self.export(tmp_path, code, f"{stage}=own_stages:f")
        assert (status, out) == (1, "")
        assert err.startswith(f"E506_OPENLINEAGE_INVALID {place}")
        assert "hunter2" not in err
        assert "Traceback" not in err
        assert "\nE506" not in err

    def test_what_it_prints_does_not_reach_stdout(self, tmp_path: Path) -> None:
        code = "print('imported')\n" + TAG_STAGE.replace("result = ", "print('ran'); result = ")
        status, out, err = self.export(tmp_path, code, "build_facets=own_stages:with_tags")
        assert (status, err) == (0, "imported\nran\n")
        assert all(line.startswith("{") for line in out.splitlines())

    def test_its_warnings_are_shown_on_one_line_without_secrets(self, tmp_path: Path) -> None:
        code = TAG_STAGE.replace(
            "    return result",
            "    text = 'a\\nE506 b password=hunter2'\n"
            "    return {**result, 'warnings': [{'code': 'X', 'message': text}]}",
        )
        (tmp_path / "own_stages.py").write_text(code)
        ran = streamt_ol(
            "export", MANIFESTS / "demo.json", *OPTION_WORDS, "--stage",
            "build_facets=own_stages:with_tags", cwd=tmp_path,
        )  # fmt: skip
        assert ran.stderr.decode() == "X: a\\nE506 b password=***\n"

    def test_a_module_that_exits_or_fails_is_status_2(self, tmp_path: Path) -> None:
        for code in ("import sys; sys.exit(0)", "raise KeyError('x')", "def"):
            status, out, err = self.export(tmp_path, code, "emit=own_stages:f")
            assert (status, out) == (2, "")
            assert err.startswith("E500_USAGE_ERROR")

    def test_what_a_replacement_breaks_does_not_pass_validation(self, tmp_path: Path) -> None:
        code = TAG_STAGE.replace('"key": "team", ', "")
        status, out, err = self.export(tmp_path, code, "build_facets=own_stages:with_tags")
        assert (status, out) == (1, "")
        assert err.startswith("E506_OPENLINEAGE_INVALID /events/0/dataset/facets/tags/tags/0/key: ")


@pytest.mark.parametrize("name", ["demo", "gateway", "macros", "contracts", "older", "empty"])
def test_built_in_stages_keep_their_contracts_and_leave_their_input_alone(name: str) -> None:
    state: State = {"options": {**OPTIONS, "manifest": str(MANIFESTS / f"{name}.json")}}
    for stage in pipeline.stages({}, {}):
        check_against(stage.takes, state, INVALID)
        before = copy.deepcopy(state)
        result = stage.call(state)
        assert state == before
        check_against(stage.returns, result, INVALID)
        state = result


def test_a_stage_takes_what_the_one_before_it_returns() -> None:
    chain = pipeline.stages({}, {})
    for before, after in itertools.pairwise(chain):
        assert before.returns == after.takes


def test_the_runner_checks_only_what_is_marked() -> None:
    wrong = runner.NamedStage("any", lambda state: {**state, "x": 1}, {}, {"maxProperties": 0})
    assert runner.run([wrong], {}) == {"x": 1}
    with pytest.raises(StreamtOlError) as error:
        runner.run([wrong._replace(checked=True)], {})
    assert error.value.location == "stage any"


class TestProjection:
    """The secret boundary: what stands behind it has no place for anything else."""

    def projection(self) -> State:
        stage = pipeline.stage("resolve_identities")
        return stage.call({"options": OPTIONS, "manifest": shop()})

    def test_has_exactly_the_keys_of_the_design(self) -> None:
        assert set(self.projection()) == {"project", "event_time", "datasets", "jobs", "warnings"}

    @pytest.mark.parametrize(
        "bend",
        [
            lambda p: p.update(manifest={}),
            lambda p: p.update(options={}),
            lambda p: p["jobs"][0].update(sql="SELECT 1"),
            lambda p: p["jobs"][0]["inputs"][0].update(config={}),
            lambda p: p["datasets"][0].update(runtime={}),
            lambda p: p["datasets"][0]["columns"][0].update(classification="x"),
        ],
    )
    def test_its_contract_refuses_every_other_key(self, bend: Callable[[Any], None]) -> None:
        projection = self.projection()
        check_against(PROJECTION, projection, INVALID)
        bend(projection)
        with pytest.raises(StreamtOlError):
            check_against(PROJECTION, projection, INVALID)
