"""The collections of a YAML file: plain ones that know where they stand."""

from __future__ import annotations

from typing import Any


class YamlMap(dict[Any, Any]):
    """A mapping; ``file`` and ``line`` say where it stands, ``lines`` where each key does.

    ``written`` has the text of each key that YAML 1.1 takes for something else, as ``on``.
    """

    __slots__ = ("file", "line", "lines", "written")

    def __init__(self, file: str, line: int) -> None:
        super().__init__()
        self.file = file
        self.line = line
        self.lines: dict[Any, int] = {}
        self.written: dict[Any, str] = {}

    def key_text(self, key: Any) -> str:
        """Return ``key`` as the file has it."""
        return self.written.get(key, str(key))


class YamlList(list[Any]):
    """A sequence; ``lines`` say where each item stands."""

    __slots__ = ("file", "line", "lines")

    def __init__(self, file: str, line: int) -> None:
        super().__init__()
        self.file = file
        self.line = line
        self.lines: list[int] = []
