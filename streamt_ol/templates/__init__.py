"""The Jinja of a model's SQL: which sources and models it calls for.

Nearly all SQL calls them as ``{{ source("x") }}`` and ``{{ ref("y") }}``, which a compiled
expression finds without importing Jinja. Whatever else a template holds is rendered in a bounded
sandbox, so that a call in a branch that is not taken is not a dependency.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from streamt_ol.templates.plain import Call, CallKind, plain_calls, plain_text, table_word

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from streamt_ol.templates.sandbox import Sandbox

__all__ = [
    "Call",
    "CallKind",
    "Renderer",
    "Rendering",
    "calls",
    "plain_calls",
    "render",
    "rendering",
    "table_word",
]


class Rendering(NamedTuple):
    """The text that a template gives, and the calls made on the way, in order, repeats kept."""

    text: str
    calls: list[Call]


def calls(sql: str, location: str | None = None) -> list[Call]:
    """Return the calls that rendering ``sql`` makes, in order, repeats kept.

    Raises ``StreamtOlError`` (``INVALID``, at ``location``) for what cannot be rendered; its
    message quotes no more of the template than the name of something undefined.
    """
    found = plain_calls(sql)
    return render(sql, location=location).calls if found is None else found


def rendering(sql: str, location: str | None = None) -> Rendering:
    """Return the text and the calls of ``sql``, without Jinja where its calls are all plain."""
    found = plain_calls(sql)
    return render(sql, location=location) if found is None else Rendering(plain_text(sql), found)


def render(
    template: str,
    *,
    params: Mapping[str, object] | None = None,
    location: str | None = None,
) -> Rendering:
    """Render one ``template`` that loads no other one; see ``Renderer``."""
    return Renderer().render(template, params, location)


class Renderer:
    """Renders templates in the sandbox.

    ``load`` returns the text of another template by name (for ``include`` and ``import``), or
    None where there is none; in messages its name stands below `macros/`.
    """

    def __init__(self, load: Callable[[str], str | None] = lambda _: None) -> None:
        self._load = load
        self._sandbox: Sandbox | None = None

    def render(
        self,
        template: str,
        params: Mapping[str, object] | None = None,
        location: str | None = None,
        file: str | None = None,
    ) -> Rendering:
        """Return what ``template`` gives with ``params``, and the calls made on the way.

        A call gives a word made from its name (see ``table_word``). Raises ``StreamtOlError``
        (``INVALID``, at ``location``) whose message names the line, and the file where the
        template has one (``file``) or was loaded; and whatever ``StreamtOlError`` loading raises.
        """
        if self._sandbox is None:
            from streamt_ol.templates.sandbox import Sandbox

            self._sandbox = Sandbox(self._load)
        return Rendering(*self._sandbox.render(template, params or {}, location, file))
