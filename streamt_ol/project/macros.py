"""The macros of a project: templates below `macros/`, and nothing else of the machine."""

from __future__ import annotations

from collections.abc import Mapping

from streamt_ol.project.folder import Folder
from streamt_ol.templates import Renderer, Rendering

FOLDER = "macros"
SUFFIX = ".sql.j2"


class Macros:
    """Renders macros by name; reads each file and compiles each template once."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._texts: dict[str, str | None] = {}
        self._renderer = Renderer(self._text)

    def rendered(self, name: str, params: Mapping[str, object], location: str) -> Rendering | None:
        """Return what the macro ``name`` gives with ``params``, or None where there is none.

        Raises ``StreamtOlError``: E501 for a file that cannot be read, E506 at ``location`` for
        a template that cannot be rendered, with the macro's file and line in its message.
        """
        file = name + SUFFIX
        template = self._text(file)
        if template is None:
            return None
        return self._renderer.render(template, params, location, f"{FOLDER}/{file}")

    def _text(self, name: str) -> str | None:
        if name not in self._texts:
            self._texts[name] = self._folder.text_within(FOLDER, name)
        return self._texts[name]
