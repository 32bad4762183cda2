"""Completion as a shell asks for it: its script is loaded by the real shell, where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support.commands import PROGRAM, clean_environment

from streamt_ol.cli.commands import COMMANDS

# What is typed, and what is offered: nothing means that the shell offers files.
LINES = {
    "streamt-ol ": sorted(COMMANDS),
    "streamt-ol --output json va": ["validate"],
    "streamt-ol graph -f ": ["dot", "html", "json", "mermaid", "svg", "text"],
    "streamt-ol validate 'é' --output-f": ["--output-file"],
    "streamt-ol check --": [
        "--as-run-events", "--for", "--help", "--ignore", "--kafka-config", "--namespace-map",
        "--no-validate", "--refuse-invalid",
    ],
    "streamt-ol send --to open": ["openlineage", "openmetadata", "openmetadata-kafka"],
    "streamt-ol export man": [],
    "streamt-ol run --job-name j -- ls m": [],
}  # fmt: skip
BASH = """\
eval "$(streamt-ol --show-completion)"
while IFS= read -r line; do
  IFS=" " read -ra COMP_WORDS <<< "$line"
  [[ $line = *" " ]] && COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _streamt_ol_completion streamt-ol
  echo "${COMPREPLY[@]}"
done
"""
# In the place of zsh's own two functions, which work only while a line is edited: they print
# '*: :(("export":"..." "graph":"..."))', or nothing.
ZSH = """\
autoload -Uz compinit && compinit -u -D
eval "$(streamt-ol --show-completion)"
_arguments() { print -r -- $1 }
_files() { echo }
while IFS= read -r line; do
  words=("${(@s: :)line}")
  CURRENT=$#words
  _streamt_ol_completion
done
"""
FISH = """\
streamt-ol --show-completion | source
while read -l line
  echo (complete -C $line | string split -f 1 \\t)
end
"""


def offered(tmp_path: Path, shell: str, script: str) -> dict[str, list[str]]:
    """Return what ``shell`` offers for each of ``LINES``."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = f"{Path(PROGRAM).parent}:{clean_environment()['PATH']}"
    options = {"bash": ["--norc", "-c"], "zsh": ["-f", "-c"], "fish": ["--no-config", "-c"]}
    ran = subprocess.run(
        [shell, *options[shell], script],
        input="".join(f"{line}\n" for line in LINES),
        env=clean_environment(PATH=path, HOME=str(tmp_path)),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.stderr == ""
    rows = ran.stdout.splitlines()
    words = (re.findall(r'"([\w-]+)"', row) if shell == "zsh" else row.split() for row in rows)
    return {line: sorted(found) for line, found in zip(LINES, words, strict=True)}


@pytest.mark.parametrize(("shell", "script"), [("bash", BASH), ("zsh", ZSH), ("fish", FISH)])
def test_commands_options_and_values_are_offered_and_files_left_to_the_shell(
    tmp_path: Path, shell: str, script: str
) -> None:
    (tmp_path / "manifest.json").touch()
    # Asked for what it would complete, fish names the files, too.
    files = ["manifest.json"] if shell == "fish" else []
    expected = {line: words or files for line, words in LINES.items()}
    assert offered(tmp_path, shell, script) == expected
