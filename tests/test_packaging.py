"""The distributions: what they hold, and that they work where the repository is not.

A source distribution and a wheel are built from a copy of the repository, and a second wheel from
the source distribution; both wheels are installed into fresh environments. Sockets fail all along.
"""

from __future__ import annotations

import base64
import configparser
import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import pytest
from support.commands import clean_environment
from support.manifests import FIXTURES
from support.network import NO_NETWORK, REFUSED

ROOT = Path(__file__).parents[1]
PRODUCTS = (
    ".git",
    ".venv",
    ".*_cache",
    ".hypothesis",
    ".DS_Store",
    "__pycache__",
    "build",
    "dist",
    "out",
    "site",
    "*.egg-info",
)
# "Pinned OpenLineage release and schemas" of the specification: $id, bytes, SHA-256.
SPECIFIED = {
    "OpenLineage.json": (
        "https://openlineage.io/spec/2-0-2/OpenLineage.json",
        9155,
        "69f68bee00b9beac88a87059c0102410e7bb05f3f43c46d02a0409831eceb0d2",
    ),
    "JobTypeJobFacet.json": (
        "https://openlineage.io/spec/facets/2-0-4/JobTypeJobFacet.json",
        3072,
        "11c12cab95a411ca31066c80d2bb4aefd37bbcadbda5e4d343d2069853b907d5",
    ),
    "SchemaDatasetFacet.json": (
        "https://openlineage.io/spec/facets/1-2-0/SchemaDatasetFacet.json",
        1687,
        "50236a779aa64baa0bad0055391838bd22fcb36ce667c41d60ada80915e899b6",
    ),
    "DocumentationDatasetFacet.json": (
        "https://openlineage.io/spec/facets/1-1-0/DocumentationDatasetFacet.json",
        1031,
        "bad5c041d679e73b2faea43506860428f48d80710ad1354a2d2393475143285f",
    ),
    "DocumentationJobFacet.json": (
        "https://openlineage.io/spec/facets/1-1-0/DocumentationJobFacet.json",
        944,
        "b5823685c20c712d9ee1e3b310ad6ca426be7b46db60acd9f23248811af3c8d4",
    ),
    "DatasetTypeDatasetFacet.json": (
        "https://openlineage.io/spec/facets/1-0-1/DatasetTypeDatasetFacet.json",
        1008,
        "1a7d5106877151d52c4d3967f77b92788ea42ebf9843c6573d776a63c9a7d157",
    ),
    "OwnershipDatasetFacet.json": (
        "https://openlineage.io/spec/facets/1-0-1/OwnershipDatasetFacet.json",
        1368,
        "9a18a508746627eff18fa84ca1694e1a9f2d556ac0052dbdb6970d8a35f75231",
    ),
    "OwnershipJobFacet.json": (
        "https://openlineage.io/spec/facets/1-0-1/OwnershipJobFacet.json",
        1344,
        "c54ae771b1183efbe007a778eb5bf05e9e3f39f3d48f22a4beceea00950abdad",
    ),
    "ErrorMessageRunFacet.json": (
        "https://openlineage.io/spec/facets/1-0-1/ErrorMessageRunFacet.json",
        1501,
        "b11b4ee8b0f99f6846264f87cad48390255c7ef142ce623216660c7097be0ea6",
    ),
}
DISTRIBUTIONS = ("from the repository", "from the source distribution")

pytestmark = pytest.mark.xdist_group("packaging")  # one worker builds, once


class Built(NamedTuple):
    """The unpacked source distribution, and the wheels by what they were built from."""

    source: Path
    wheels: dict[str, Path]


class Installed(NamedTuple):
    """A fresh environment with one of the wheels in it."""

    python: Path
    site_packages: Path


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end, without a network and without the repository on the path."""
    return subprocess.run(
        [str(part) for part in command],
        env=clean_environment(PYTHONPATH=NO_NETWORK, PIP_NO_INPUT="1", PIP_NO_CACHE_DIR="1"),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )


def done(*command: str | Path, cwd: Path) -> None:
    """Run a command that has to succeed."""
    result = run(*command, cwd=cwd)
    assert result.returncode == 0, (result.stdout + result.stderr).decode()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("built")
    shutil.copytree(ROOT, folder / "repository", ignore=shutil.ignore_patterns(*PRODUCTS))
    build = (sys.executable, "-m", "build", "--no-isolation")
    first, second = folder / "first", folder / "second"
    done(*build, "--sdist", "--wheel", "--outdir", first, "repository", cwd=folder)
    [archive] = first.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    source = folder / archive.name.removesuffix(".tar.gz")
    shutil.copytree(source, folder / "to build")
    done(*build, "--wheel", "--outdir", second, "to build", cwd=folder)
    [wheel], [again] = first.glob("*.whl"), second.glob("*.whl")
    return Built(source, dict(zip(DISTRIBUTIONS, (wheel, again), strict=True)))


@pytest.fixture(scope="module", params=DISTRIBUTIONS)
def wheel(request: pytest.FixtureRequest, built: Built) -> Path:
    return built.wheels[request.param]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Install ``wheel``; its dependencies come from the environment that runs the tests.

    They come by a .pth file. The .pth files in the folder that it names are not read then, so an
    editable installation of the repository, which is such a file, stays out of sight.
    """
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "env")
    paths = sysconfig.get_paths(vars={"base": str(folder / "env"), "platbase": str(folder / "env")})
    python = Path(paths["scripts"]) / Path(sys.executable).name
    done(
        *(sys.executable, "-m", "pip", "--python", python),
        *("install", "--no-index", "--no-deps", "--disable-pip-version-check", wheel),
        cwd=folder,
    )
    dependencies = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    site_packages = Path(paths["purelib"])
    (site_packages / "dependencies.pth").write_text("\n".join(sorted(dependencies)))
    return Installed(python, site_packages)


def is_product(path: Path) -> bool:
    """Tell whether a build, an editor or a check has made what lies at ``path``."""
    return any(fnmatch(part, product) for part in path.parts for product in PRODUCTS)


def names(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return set(archive.namelist())


def contents(wheel: Path) -> dict[str, bytes]:
    with ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def assert_pinned(schemas: Path) -> None:
    """Check the resources in a folder against its table of pins, by other means than the loader."""
    table = (schemas / "pins.json").read_bytes()
    digest, pins = json.loads(table).values()
    assert digest == hashlib.sha256(table.partition(b"\n")[2]).hexdigest()
    assert len(pins) == 39  # the core and 38 facets
    assert {path.name for path in schemas.glob("*.b64")} == {f"{name}.b64" for name in pins}
    for name, pin in pins.items():
        content = gzip.decompress(base64.b64decode((schemas / f"{name}.b64").read_bytes()))
        identity = json.loads(content)["$id"]
        found = (identity, len(content), hashlib.sha256(content).hexdigest())
        assert found == (pin["id"], pin["bytes"], pin["sha256"])
        assert found == SPECIFIED.get(name, found)
        assert pin["pinned_by"] == ("specification" if name in SPECIFIED else "project")


class TestSourceTree:
    def test_schemas_match_their_pins(self) -> None:
        assert_pinned(ROOT / "streamt_ol" / "openlineage" / "schemas")

    def test_the_nine_specified_schemas_have_the_specified_total(self) -> None:
        assert sum(size for _, size, _ in SPECIFIED.values()) == 21_110


class TestSourceDistribution:
    @pytest.mark.parametrize(
        "folder", ["streamt_ol", "stages", "tests", "fixtures", "bench", "docs", "examples"]
    )
    def test_holds_the_whole_folder(self, folder: str, built: Built) -> None:
        def files(root: Path) -> set[str]:
            found = {p.relative_to(root) for p in (root / folder).rglob("*") if p.is_file()}
            return {str(path) for path in found if not is_product(path)}

        assert files(built.source) == files(ROOT) != set()

    def test_holds_what_a_user_reads_and_runs(self, built: Built) -> None:
        found = {path.name for path in built.source.iterdir()}
        assert found >= {"README.md", "CHANGELOG.md", "LICENSE", "NOTICE", "Makefile"}
        assert found >= {"CONTRIBUTING.md", "SECURITY.md", "mkdocs.yml", "action.yml"}
        assert found >= {".ci", ".github", ".pre-commit-hooks.yaml"}

    def test_schemas_match_their_pins(self, built: Built) -> None:
        assert_pinned(built.source / "streamt_ol" / "openlineage" / "schemas")

    def test_makes_the_same_wheel_as_the_repository(self, built: Built) -> None:
        first, second = (contents(built.wheels[origin]) for origin in DISTRIBUTIONS)
        assert first == second


class TestWheel:
    def test_owns_one_top_level_name(self, wheel: Path) -> None:
        tops = {name.partition("/")[0] for name in names(wheel)}
        assert tops == {"streamt_ol", "streamt_ol-0.1.0.dist-info"}

    def test_holds_every_module_of_the_repository_and_no_other(self, wheel: Path) -> None:
        own = {f"streamt_ol/{p.relative_to(ROOT / 'streamt_ol').as_posix()}"
               for p in (ROOT / "streamt_ol").rglob("*.py")}  # fmt: skip
        stages = {f"streamt_ol/stages/{path.name}" for path in (ROOT / "stages").glob("*.py")}
        assert {name for name in names(wheel) if name.endswith(".py")} == own | stages

    def test_is_typed(self, wheel: Path) -> None:
        assert "streamt_ol/py.typed" in names(wheel)

    def test_carries_licence_and_notice(self, wheel: Path) -> None:
        content = contents(wheel)
        for name in ("LICENSE", "NOTICE"):
            packed = content[f"streamt_ol-0.1.0.dist-info/licenses/{name}"]
            assert packed == (ROOT / name).read_bytes()

    def test_has_the_command_and_the_fixture_as_its_only_entry_points(self, wheel: Path) -> None:
        entry_points = configparser.ConfigParser()
        content = contents(wheel)["streamt_ol-0.1.0.dist-info/entry_points.txt"]
        entry_points.read_string(content.decode())
        assert sorted(entry_points.sections()) == ["console_scripts", "pytest11"]
        assert dict(entry_points["pytest11"]) == {"streamt_ol": "streamt_ol.pytest_plugin"}
        assert dict(entry_points["console_scripts"]) == {"streamt-ol": "streamt_ol.__main__:main"}


class TestInstalled:
    def test_schemas_match_their_pins(self, installed: Installed) -> None:
        assert_pinned(installed.site_packages / "streamt_ol" / "openlineage" / "schemas")

    def test_is_imported_from_its_own_environment(
        self, installed: Installed, tmp_path: Path
    ) -> None:
        code = "import streamt_ol, streamt_ol.stages as s; print(streamt_ol.__file__, s.__file__)"
        result = run(installed.python, "-c", code, cwd=tmp_path)
        package = installed.site_packages / "streamt_ol"
        expected = f"{package / '__init__.py'} {package / 'stages' / '__init__.py'}\n"
        assert result.stdout.decode() == expected

    def test_exports_the_golden_bytes(self, installed: Installed, tmp_path: Path) -> None:
        shutil.copy(FIXTURES / "manifests" / "demo.json", tmp_path / "manifest.json")
        result = run(
            *(installed.python.with_name("streamt-ol"), "export", "manifest.json", "--quiet"),
            *(
                "--job-namespace",
                "https://lineage.example/ns/fixtures",
                "--kafka-namespace",
                "kafka://broker.example:9092",
            ),
            cwd=tmp_path,
        )
        assert (result.returncode, result.stderr) == (0, b"")
        assert result.stdout == (FIXTURES / "manifests" / "demo.expected.jsonl").read_bytes()

    def test_verifies_its_schemas(self, installed: Installed, tmp_path: Path) -> None:
        result = run(installed.python.with_name("streamt-ol"), "schemas", cwd=tmp_path)
        assert (result.returncode, result.stderr) == (0, b"")
        lines = result.stdout.decode().splitlines()
        for name, (identity, _size, digest) in SPECIFIED.items():
            assert any(identity in line and digest in line for line in lines), name

    def test_refuses_a_damaged_schema_by_name(self, installed: Installed, tmp_path: Path) -> None:
        package = tmp_path / "streamt_ol"
        shutil.copytree(installed.site_packages / "streamt_ol", package)
        resource = package / "openlineage" / "schemas" / "SchemaDatasetFacet.json.b64"
        content = gzip.decompress(base64.b64decode(resource.read_bytes()))
        other = content.replace(b"ordinal_position", b"ordinal_positiom", 1)
        resource.write_bytes(base64.b64encode(gzip.compress(other, mtime=0)))
        result = run(installed.python, "-m", "streamt_ol", "schemas", cwd=tmp_path)
        assert result.returncode == 1
        assert b"E506_OPENLINEAGE_INVALID" in result.stderr
        assert b"SchemaDatasetFacet.json" in result.stderr
        assert REFUSED not in result.stderr
