"""`streamt-ol diff` as a user runs it, and what it reads from git."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from support.commands import PROGRAM, clean_environment, streamt_ol
from support.lineage_events import dataset, job, lines
from support.manifests import FIXTURES

from streamt_ol.lineage.changes import KINDS

MANIFEST = FIXTURES / "manifests" / "demo.json"
EVENTS = FIXTURES / "manifests" / "demo.expected.jsonl"
PROJECT = FIXTURES / "projects" / "demo"
KAFKA = ("--kafka-namespace", "kafka://broker.example:9092")
NONE = b"no differences\n"
OLD = [dataset("raw", [("id", "INT")]), job("load", ("raw",))]
NEW = [dataset("raw", [("id", "BIGINT")]), job("load", ("raw", "more"))]
TEXT = """\
column-retyped: dataset 'raw' in 'kafka://broker.example:9092': column 'id' is retyped from 'INT' to 'BIGINT'
input-changed: job 'load' in 'jobs' now reads dataset 'more' in 'kafka://broker.example:9092'
dataset-added: dataset 'more' in 'kafka://broker.example:9092' is added
downstream of what is gone or retyped:
  job 'load' in 'jobs', owned by nobody, behind dataset 'raw' in 'kafka://broker.example:9092'
3 changes: 1 column-retyped, 1 input-changed, 1 dataset-added
"""  # noqa: E501 - lines of the program


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    """Two files of events, before and after."""
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    old.write_bytes(lines(OLD))
    new.write_bytes(lines(NEW))
    return old, new


class TestExitStatus:
    def test_is_0_whether_or_not_they_differ(self, sides: tuple[Path, Path]) -> None:
        ran = streamt_ol("diff", *sides)
        assert (ran.returncode, ran.stdout.decode(), ran.stderr) == (0, TEXT, b"")
        ran = streamt_ol("diff", sides[0], sides[0])
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, NONE, b"")

    def test_exit_code(self, sides: tuple[Path, Path]) -> None:
        ran = streamt_ol("diff", *sides, "--exit-code")
        assert (ran.returncode, ran.stdout.decode()) == (1, TEXT)
        assert ran.stderr.decode() == (
            "E506_OPENLINEAGE_INVALID --exit-code: "
            "3 changes: 1 column-retyped, 1 input-changed, 1 dataset-added\n"
        )
        assert streamt_ol("diff", sides[0], sides[0], "--exit-code").returncode == 0

    @pytest.mark.parametrize(
        ("kinds", "status"),
        [
            ("column-retyped", 1),
            ("job-removed,input-changed", 1),
            ("job-removed, dataset-added", 1),
            ("column-removed,owner-changed", 0),
        ],
    )
    def test_fail_on(self, kinds: str, status: int, sides: tuple[Path, Path]) -> None:
        ran = streamt_ol("diff", *sides, "--fail-on", kinds)
        assert (ran.returncode, ran.stdout.decode()) == (status, TEXT)

    @pytest.mark.parametrize("kinds", ["nothing", "", "job-removed,", "column-removed,x"])
    def test_a_kind_that_does_not_exist(self, kinds: str, sides: tuple[Path, Path]) -> None:
        ran = streamt_ol("diff", *sides, "--fail-on", kinds)
        assert (ran.returncode, ran.stdout) == (2, b"")
        assert all(kind in ran.stderr.decode() for kind in KINDS)

    @pytest.mark.parametrize(
        "arguments",
        [
            [],
            [str(EVENTS)],
            ["-", "-"],
            [str(EVENTS), str(EVENTS), "--format", "html"],
            [str(EVENTS), str(EVENTS), "--map-namespace", "a"],
            [str(EVENTS), str(EVENTS), "--map-namespace", "a=b=c"],
            [str(EVENTS), str(EVENTS), "--map-namespace", "a=b", "--map-namespace", "a=c"],
            [str(EVENTS), str(EVENTS), "--old-env", "dev"],
        ],
    )
    def test_usage(self, arguments: list[str]) -> None:
        ran = streamt_ol("diff", *arguments)
        assert (ran.returncode, ran.stdout) == (2, b"")

    def test_an_input_that_cannot_be_read(self, sides: tuple[Path, Path]) -> None:
        sides[1].write_bytes(b"{]\n")
        ran = streamt_ol("diff", *sides)
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr.startswith(f"E501_PARSE_ERROR {sides[1]}:1".encode())


class TestSides:
    def test_a_manifest_a_project_and_events_are_the_same(self) -> None:
        ran = streamt_ol("diff", MANIFEST, PROJECT, *KAFKA, "-q", "--exit-code")
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, NONE, b"")
        # The jobs of a project without a namespace are compared with the only one of the events.
        ran = streamt_ol("diff", EVENTS, PROJECT, *KAFKA, "-q", "--exit-code")
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, NONE, b"")

    def test_a_pipe(self) -> None:
        ran = streamt_ol("diff", "-", EVENTS, stdin=EVENTS.read_bytes())
        assert ran.stdout == NONE

    def test_options_of_one_side_win(self) -> None:
        arguments = ("--old-kafka-namespace", "kafka://dev:9092")
        ran = streamt_ol("diff", PROJECT, PROJECT, *KAFKA, *arguments, "-q", "--exit-code")
        assert ran.returncode == 1
        mapping = ("--map-namespace", "kafka://dev:9092=kafka://broker.example:9092")
        ran = streamt_ol("diff", PROJECT, PROJECT, *KAFKA, *arguments, *mapping, "-q")
        assert (ran.stdout, ran.stderr) == (NONE, b"")

    def test_environments(self, tmp_path: Path) -> None:
        project = FIXTURES / "projects" / "environments"
        case = json.loads((FIXTURES / "projects" / "environments.case.json").read_bytes())
        names = sorted(path.stem for path in (project / "environments").glob("*.yml"))
        assert len(names) >= 2, case
        sides = ("--old-env", names[0], "--new-env", names[1])
        ran = streamt_ol("diff", project, project, *sides, "-q", "--job-namespace", "x")
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout != NONE

    def test_a_mapping_that_makes_two_datasets_one(self, tmp_path: Path) -> None:
        file = tmp_path / "events"
        file.write_bytes(lines([dataset("x", namespace="a"), dataset("x", namespace="b")]))
        ran = streamt_ol("diff", file, file, "--map-namespace", "a=b")
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr == (
            b"E506_OPENLINEAGE_INVALID --map-namespace: two datasets would become one, 'x' in 'b'\n"
        )

    def test_a_mapping_of_nothing_is_told(self) -> None:
        ran = streamt_ol("diff", EVENTS, EVENTS, "--map-namespace", "kafka://typo=x")
        assert (ran.returncode, ran.stdout) == (0, NONE)
        assert ran.stderr == b"--map-namespace: nothing is in 'kafka://typo'\n"


class TestOutput:
    def test_a_file(self, sides: tuple[Path, Path], tmp_path: Path) -> None:
        target = tmp_path / "comment.md"
        ran = streamt_ol("diff", *sides, "-f", "markdown", "--output-file", target)
        summary = "3 changes: 1 column-retyped, 1 input-changed, 1 dataset-added"
        assert ran.stdout.decode() == f"{summary}; written to {target}\n"
        assert target.read_text("utf-8").startswith(f"## Lineage: {summary}\n")

    def test_the_envelope(self, sides: tuple[Path, Path]) -> None:
        document = json.loads(streamt_ol("diff", *sides, "-f", "json").stdout)
        ran = streamt_ol("--output", "json", "diff", *sides)
        envelope = json.loads(ran.stdout)
        assert (ran.returncode, envelope["status"], envelope["data"]) == (0, "ok", document)
        ran = streamt_ol("--output", "json", "diff", *sides, "--exit-code")
        envelope = json.loads(ran.stdout)
        assert (ran.returncode, envelope["status"], envelope["data"]) == (1, "error", document)
        assert envelope["errors"][0]["code"] == "E506_OPENLINEAGE_INVALID"

    @pytest.mark.parametrize("form", ["text", "markdown", "github"])
    def test_the_envelope_takes_no_other_format_without_a_file(
        self, form: str, sides: tuple[Path, Path], tmp_path: Path
    ) -> None:
        ran = streamt_ol("--output", "json", "diff", *sides, "--format", form)
        [error] = json.loads(ran.stdout)["errors"]
        assert (ran.returncode, error["code"]) == (2, "E500_USAGE_ERROR")
        assert error["suggestion"] == "name the file with --output-file"
        file = tmp_path / "report"
        more = ("--format", form, "--output-file", file)
        ran = streamt_ol("--output", "json", "diff", *sides, *more)
        assert (ran.returncode, json.loads(ran.stdout)["status"]) == (0, "ok")
        assert file.read_bytes() == streamt_ol("diff", *sides, "-f", form).stdout

    def test_the_envelope_takes_json(self, sides: tuple[Path, Path]) -> None:
        plain = streamt_ol("--output", "json", "diff", *sides)
        assert streamt_ol("--output", "json", "diff", *sides, "-f", "json").stdout == plain.stdout

    def test_the_envelope_has_the_warnings_of_the_exports(self) -> None:
        ran = streamt_ol("--output", "json", "diff", MANIFEST, PROJECT, *KAFKA)
        envelope = json.loads(ran.stdout)
        codes = [one["code"] for one in envelope["warnings"]]
        assert codes == ["W111_OPENLINEAGE_SINK_OUTPUT_OMITTED"] * 2
        assert ran.stderr == b""


def git(folder: Path, *words: str) -> str:
    """Run git as a user without any configuration of their own."""
    identity = {"GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x@example.com",
                "GIT_COMMITTER_NAME": "x", "GIT_COMMITTER_EMAIL": "x@example.com"}  # fmt: skip
    environment = clean_environment(HOME=str(folder), GIT_CONFIG_NOSYSTEM="1", **identity)
    ran = subprocess.run(
        ["git", *words], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a project, a manifest and events in its first commit, all changed since."""
    folder = tmp_path / "repository"
    shutil.copytree(PROJECT, folder / "deep" / "project")
    shutil.copy(MANIFEST, folder / "manifest.json")
    shutil.copy(EVENTS, folder / "lineage.jsonl")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "First")
    for file in ("deep/project/stream_project.yml", "manifest.json", "lineage.jsonl"):
        path = folder / file
        path.write_text(path.read_text("utf-8").replace("dispatch-team", "other-team"), "utf-8")
    return folder


OWNER = (
    "owner-changed: dataset 'trips.raw.v1' in 'kafka://broker.example:9092': "
    "the owners changed from 'dispatch-team' to 'other-team'\n1 change: 1 owner-changed\n"
)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
class TestGit:
    @pytest.mark.parametrize("path", ["deep/project", "manifest.json", "lineage.jsonl"])
    def test_a_revision_against_the_working_tree(self, path: str, repository: Path) -> None:
        ran = streamt_ol("diff", f"git:HEAD:{path}", path, *KAFKA, "-q", cwd=repository)
        assert (ran.returncode, ran.stdout.decode(), ran.stderr) == (0, OWNER, b"")

    def test_paths_may_be_relative_to_the_working_directory(self, repository: Path) -> None:
        here = repository / "deep" / "project"
        for name in ("git:HEAD:./", "git:HEAD:.", "git:main:deep/project"):
            ran = streamt_ol("diff", name, ".", *KAFKA, "-q", cwd=here)
            assert (ran.stdout.decode(), ran.stderr) == (OWNER, b"")

    def test_a_project_may_be_named_by_its_file(self, repository: Path) -> None:
        file = "stream_project.yml"
        for name in (f"deep/project/{file}", f"./deep/project/{file}"):
            ran = streamt_ol("diff", f"git:HEAD:{name}", name, *KAFKA, "-q", cwd=repository)
            assert (ran.stdout.decode(), ran.stderr) == (OWNER, b"")
        here = repository / "deep" / "project"
        for name in (f"./{file}", f"../project/{file}"):
            ran = streamt_ol("diff", f"git:HEAD:{name}", file, *KAFKA, "-q", cwd=here)
            assert (ran.stdout.decode(), ran.stderr) == (OWNER, b"")

    def test_graph_reads_it_too(self, repository: Path) -> None:
        ran = streamt_ol("graph", "git:HEAD:lineage.jsonl", cwd=repository)
        assert ran.stdout == streamt_ol("graph", EVENTS).stdout

    def test_nothing_is_checked_out_and_the_state_is_as_before(self, repository: Path) -> None:
        before = git(repository, "status", "--porcelain=v2", "--branch")
        streamt_ol("diff", "git:HEAD:deep/project", "deep/project", *KAFKA, cwd=repository)
        assert git(repository, "status", "--porcelain=v2", "--branch") == before

    def test_a_fault_there_is_named_by_its_revision(self, repository: Path) -> None:
        (repository / "deep" / "project" / "stream_project.yml").write_text("project: [\n")
        git(repository, "commit", "-qam", "Broken")
        ran = streamt_ol("graph", "git:HEAD:deep/project", *KAFKA, cwd=repository)
        assert ran.returncode == 1
        assert ran.stderr.startswith(b"E501_PARSE_ERROR stream_project.yml:")
        assert b"/tmp" not in ran.stderr
        shutil.rmtree(repository / "deep")
        git(repository, "commit", "-qam", "No project")
        (repository / "deep").mkdir()
        (repository / "deep" / "x.txt").write_text("x")
        git(repository, "add", ".")
        git(repository, "commit", "-qm", "No project")
        ran = streamt_ol("graph", "git:HEAD:deep", *KAFKA, cwd=repository)
        assert ran.stderr.startswith(b"E501_PARSE_ERROR git:HEAD:deep")

    @pytest.mark.parametrize(
        "name",
        ["git:", "git:HEAD", "git::x", "git:no-such:x", "git:HEAD:no/such", "git:--help:x",
         "git:-x:y", "git:HEAD:manifest.json/x", "git:a\x1bb:c"],
    )  # fmt: skip
    def test_what_is_not_there(self, name: str, repository: Path) -> None:
        ran = streamt_ol("graph", name, cwd=repository)
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr.startswith(b"E501_PARSE_ERROR git:")
        assert b"\x1b" not in ran.stderr

    def test_outside_of_a_repository(self, tmp_path: Path) -> None:
        ran = streamt_ol("graph", "git:HEAD:x", cwd=tmp_path)
        assert ran.returncode == 1
        assert b"not a git repository" in ran.stderr

    def test_no_git(self, repository: Path, tmp_path: Path) -> None:
        ran = streamt_ol("graph", "git:HEAD:x", cwd=repository, environment={"PATH": str(tmp_path)})
        assert ran.returncode == 1
        assert b"git cannot be started: No such file or directory" in ran.stderr

    def test_links_that_lead_out_are_left_out(self, repository: Path, tmp_path: Path) -> None:
        secret = tmp_path / "models.yml"
        secret.write_text("models: [{name: leaked, sql: SELECT 1}]\n")
        project = repository / "deep" / "project"
        (project / "models").mkdir(exist_ok=True)
        (project / "models" / "out.yml").symlink_to(secret)
        (project / "models" / "up.yml").symlink_to("../../../../models.yml")
        (project / "inner.yml").write_text("{}\n")
        (project / "models" / "in.yml").symlink_to("../inner.yml")
        git(repository, "add", ".")
        git(repository, "commit", "-qm", "Links")
        ran = streamt_ol("graph", "git:HEAD:deep/project", *KAFKA, "-q", cwd=repository)
        assert ran.returncode == 0, ran.stderr
        assert b"leaked" not in ran.stdout

    def test_nothing_is_fetched_into_a_partial_clone(
        self, repository: Path, tmp_path: Path
    ) -> None:
        git(repository, "config", "uploadpack.allowFilter", "true")
        git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none",
            f"file://{repository}", "partial")  # fmt: skip
        partial = tmp_path / "partial"
        packs = partial / ".git" / "objects" / "pack"
        objects = sorted(packs.iterdir())
        ran = streamt_ol("graph", "git:HEAD:lineage.jsonl", cwd=partial)
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr.startswith(b"E501_PARSE_ERROR git:HEAD:lineage.jsonl")
        ran = streamt_ol("graph", "git:HEAD:deep/project", *KAFKA, cwd=partial)
        assert ran.returncode == 1
        assert ran.stderr.startswith(b"E501_PARSE_ERROR git:HEAD:deep/project")
        assert sorted(packs.iterdir()) == objects


class TestAction:
    """The step of ``action.yml`` that compares, run as GitHub runs it."""

    def compare(self, folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
        action = yaml.safe_load((FIXTURES.parent / "action.yml").read_bytes())
        [step] = [step for step in action["runs"]["steps"] if step["name"] == "Compare"]
        program = folder / "temp" / "streamt-ol" / "bin"
        program.mkdir(parents=True, exist_ok=True)
        if not (program / "streamt-ol").exists():
            (program / "streamt-ol").symlink_to(PROGRAM)
        given = {name: str(row.get("default", "")) for name, row in action["inputs"].items()}
        given |= inputs
        environment = {
            variable: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: given[m[1]], value)
            for variable, value in step["env"].items()
        }
        for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
            environment[name] = str(folder / "temp" / name)
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder, env=clean_environment(RUNNER_TEMP=str(folder / "temp"), **environment),
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    @pytest.mark.parametrize("separator", [" ", "\n"])
    def test_it_writes_the_comment_and_the_status(self, separator: str, repository: Path) -> None:
        git(repository, "commit", "-qam", "Other owner")
        inputs = {"old": "git:HEAD^1:deep/project", "new": "deep/project",
                  "arguments": separator.join(KAFKA), "fail-on": "owner-changed"}  # fmt: skip
        ran = self.compare(repository, **inputs)
        assert (ran.returncode, ran.stderr.count("owner-changed")) == (0, 1)
        temp = repository / "temp"
        comment = (temp / "streamt-ol-diff.md").read_text("utf-8")
        assert comment.startswith("## Lineage: 1 change: 1 owner-changed\n")
        assert (temp / "GITHUB_STEP_SUMMARY").read_text("utf-8") == comment
        assert (temp / "GITHUB_OUTPUT").read_text("utf-8") == "status=1\n"
        assert self.compare(repository, **{**inputs, "fail-on": ""}).returncode == 0
        assert (temp / "GITHUB_OUTPUT").read_text("utf-8").endswith("status=0\n")

    def test_what_cannot_be_compared_fails(self, repository: Path) -> None:
        ran = self.compare(repository, old="git:HEAD:no", new=".")
        assert ran.returncode == 1
        assert "E501_PARSE_ERROR" in ran.stderr
