"""The table of commands. Each is imported when it is asked for: `export` pays for no other."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from streamt_ol.cli.parameters import Parsing

if TYPE_CHECKING:
    from streamt_ol.cli.parameters import Command

COMMANDS: dict[str, str] = {
    "apply": "streamt_ol.cli.apply:streamt_apply",
    "check": "streamt_ol.cli.check:check",
    "diff": "streamt_ol.cli.diff:diff",
    "export": "streamt_ol.cli.export:export",
    "forward": "streamt_ol.cli.forward:forward",
    "graph": "streamt_ol.cli.graph:graph",
    "run": "streamt_ol.cli.run:run",
    "schemas": "streamt_ol.cli.schemas:schemas",
    "send": "streamt_ol.cli.send:send",
    "stage": "streamt_ol.cli.stage:stage",
    "test": "streamt_ol.cli.test:streamt_test",
    "validate": "streamt_ol.cli.validate:validate",
}
# Commands around a child add little to its time, and collect garbage only while it runs.
AROUND_A_CHILD = ("apply", "run", "test")


def load(name: str) -> tuple[Command, Parsing]:
    """Import the command ``name``, and return it with how its words are read."""
    module_name, _, function = COMMANDS[name].partition(":")
    module = import_module(module_name)
    return getattr(module, function), getattr(module, "PARSING", Parsing())
