"""The house stays as it was planned: small rooms, small functions, no circle, few exceptions."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "streamt_ol"
STAGES = ROOT / "stages"
PROGRAM = sorted([*PACKAGE.rglob("*.py"), *STAGES.glob("*.py")])
CODE = sorted(
    path
    for folder in ("streamt_ol", "stages", "tests", "bench", "examples", "docs")
    for path in (ROOT / folder).rglob("*.py")
)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_of(path: Path) -> str:
    folders = path.relative_to(ROOT).with_suffix("").parts
    if folders[0] == "stages":
        folders = ("streamt_ol", *folders)
    return ".".join(folders).removesuffix(".__init__")


def functions(path: Path) -> Iterator[Function]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, Function):
            yield node


def parameters(function: Function) -> list[ast.arg]:
    given = function.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]


def is_command(path: Path, function: Function) -> bool:
    """Tell whether the function is a command: it has the options that it has."""
    kinds = (ast.unparse(one.annotation) for one in parameters(function) if one.annotation)
    return path.parent == PACKAGE / "cli" and "Context" in kinds


def imported(path: Path) -> Iterator[str]:
    """Yield what a module imports from the program, wherever in the module, for types too."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules = {f"{node.module}.{one.name}" for one in node.names} & MODULES.keys()
            yield from modules or [node.module]


MODULES = {module_of(path): path for path in PROGRAM}


def test_no_room_has_more_than_sixteen_modules() -> None:
    rooms = Counter(path.parent for path in PROGRAM if path.name != "__init__.py")
    commands = rooms.pop(PACKAGE / "cli")  # one for each command, and what they share
    assert commands < 30
    assert {name_of(room): size for room, size in rooms.items() if size > 16} == {}


def test_no_module_is_long() -> None:
    sizes = {name_of(path): path.read_bytes().count(b"\n") for path in PROGRAM}
    assert {name: size for name, size in sizes.items() if size > 270} == {}


def test_functions_are_small() -> None:
    large = [
        f"{name_of(path)}: {function.name}"
        for path in CODE
        for function in functions(path)
        if (function.end_lineno or 0) - function.lineno >= 60 or len(parameters(function)) > 10
        if not is_command(path, function)
    ]
    assert large == []


def test_what_counts_as_a_command() -> None:
    found = {name_of(path) for path in PROGRAM for one in functions(path) if is_command(path, one)}
    assert {"streamt_ol/cli/send.py", "streamt_ol/cli/validate.py"} <= found
    assert "streamt_ol/cli/output.py" not in found


def test_no_circle_of_imports() -> None:
    graph = {
        name: {one for one in imported(path) if one in MODULES and one != name}
        for name, path in MODULES.items()
    }
    assert graph["streamt_ol.transport.config"] > {"streamt_ol.transport.http"}
    TopologicalSorter(graph).prepare()  # CycleError names the circle


def test_docstrings_begin_with_a_noun_or_a_verb() -> None:
    asking = re.compile(r"(?:What|Where|Who|Whose|Which|How|When|Why)\b")
    found = [
        f"{name_of(path)}:{getattr(node, 'lineno', 1)}"
        for path in CODE
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | Function)
        and asking.match(ast.get_docstring(node) or "")
    ]
    assert found == []


def test_the_linter_has_few_exceptions() -> None:
    lines = (line for path in CODE for line in path.read_text("utf-8").splitlines())
    assert sum("noqa" in line for line in lines) <= 45
