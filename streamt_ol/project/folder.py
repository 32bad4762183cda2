"""The files of a project: found below its folder, links to files followed, and nothing written."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISREG
from typing import Any

from streamt_ol.problems import PARSE, Location, StreamtOlError
from streamt_ol.project import PROJECT_FILES
from streamt_ol.reading.faults import not_utf8
from streamt_ol.reading.files import PROJECT_FILE, read_file
from streamt_ol.reading.yaml_values import YamlMap
from streamt_ol.redaction import shown_path

_YAML_SUFFIXES = (".yml", ".yaml")


class Folder:
    """The folder of a project; names of files are relative to it, with ``/``."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def project_file(self) -> str:
        """Return the name of the project's main file.

        Raises ``StreamtOlError`` (``PARSE``) where there is none.
        """
        message = None
        for name in PROJECT_FILES:
            try:
                (self._root / name).lstat()
            except FileNotFoundError:
                continue
            except OSError as error:
                message = f"the project's folder cannot be read: {error.strerror}"
                break
            except ValueError:  # a null byte
                message = "the project's folder cannot be read: it is not the name of a folder"
                break
            return name
        if message is None:
            missing = f"there is no {PROJECT_FILES[0]} in it"
            message = missing if self._root.is_dir() else "there is no such folder"
        raise StreamtOlError(
            PARSE,
            message,
            location=Location(file=shown_path(str(self._root))),
            suggestion=f"name the folder that has the {PROJECT_FILES[0]}",
        )

    def text(self, name: str) -> str | None:
        """Return the text of a file, or None where there is none.

        Raises ``StreamtOlError`` (``PARSE``, at the file) where it cannot be read as UTF-8.
        """
        path = self._root / name
        try:
            if not S_ISREG(path.stat().st_mode):  # a pipe is never opened
                raise _unreadable(name, "it is not a file")
            return read_file(str(path), PROJECT_FILE).decode()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise _unreadable(name, f"it is {not_utf8(error.object)}", line) from None
        except OSError as error:
            raise _unreadable(name, error.strerror or "it cannot be opened") from None

    def yaml_map(self, name: str) -> YamlMap:
        """Return the mapping in a YAML file; an empty file has an empty one.

        Raises ``StreamtOlError`` (``PARSE``, at the file) for a file that is not there, too.
        """
        text = self.text(name)
        if text is None:  # it was when the folder was listed
            raise _unreadable(name, "it is gone, or a link that leads nowhere")
        from streamt_ol.reading.strict_yaml import parse_yaml

        value: Any = parse_yaml(text, shown_path(name))
        if value is None:
            return YamlMap(shown_path(name), 1)
        if not isinstance(value, YamlMap):
            at = Location(file=shown_path(name), line=1)
            raise StreamtOlError(PARSE, "the file must hold a mapping", location=at)
        return value

    def yaml_files(self, name: str) -> list[str]:
        """Return the YAML files below the folder ``name``, at any depth, sorted."""

        def refuse(error: OSError) -> None:
            if not isinstance(error, FileNotFoundError):
                raise _unreadable(name, error.strerror or "it cannot be listed") from None

        return sorted(
            (Path(folder) / file).relative_to(self._root).as_posix()
            for folder, _, files in os.walk(self._root / name, onerror=refuse)
            for file in files
            if file.endswith(_YAML_SUFFIXES)
        )

    def text_within(self, folder: str, name: str) -> str | None:
        """Return the text of the file ``name`` below ``folder``, or None where there is none.

        A name that leads out of ``folder``, by ``..`` or by a symbolic link, is none there.
        """
        try:
            inside = (self._root / folder).resolve()
            if (inside / name).resolve().is_relative_to(inside):
                return self.text(f"{folder}/{name}")
        except (ValueError, RuntimeError):  # no name of a file; links that lead in a circle
            pass
        return None


def _unreadable(name: str, reason: str, line: int | None = None) -> StreamtOlError:
    at = Location(file=shown_path(name), line=line)
    return StreamtOlError(PARSE, f"the file cannot be read: {reason}", location=at)
