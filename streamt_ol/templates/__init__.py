"""The Jinja of a model's SQL: which sources and models it calls for.

Nearly all SQL calls them as ``{{ source("x") }}`` and ``{{ ref("y") }}``, which a compiled
expression finds without Jinja. Whatever else a template holds is rendered by another process, in
Jinja's sandbox and within limits. A call that is made but not printed is not a dependency: streamt
reads the rendered SQL.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.templates.plain import Call, CallKind, plain_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from streamt_ol.templates.process import RenderingProcess

__all__ = [
    "Call",
    "CallKind",
    "Renderer",
    "Rendering",
    "calls",
    "one_process",
    "plain_calls",
    "render",
]


class Rendering(NamedTuple):
    """The text that a template gives, and the calls printed in it, in order, repeats kept."""

    text: str
    calls: list[Call]


class _Shared:
    """The process of a ``with one_process()``, made when it is needed."""

    process: RenderingProcess | None = None

    def made(self) -> RenderingProcess:
        from streamt_ol.templates.process import RenderingProcess

        if self.process is None:
            self.process = RenderingProcess()
        return self.process


_SHARED: ContextVar[_Shared | None] = ContextVar("shared rendering process", default=None)


@contextmanager
def one_process() -> Iterator[None]:
    """Render everything inside by one process, which is started when it is needed.

    It ends with the outermost ``with``. Outside of any, each template has a process of its own.
    """
    if _SHARED.get() is not None:
        yield
        return
    shared = _Shared()
    token = _SHARED.set(shared)
    try:
        yield
    finally:
        _SHARED.reset(token)
        if shared.process is not None:
            shared.process.close()


def calls(sql: str, location: str | None = None) -> list[Call]:
    """Return the calls that are printed by rendering ``sql``, in order, repeats kept.

    Raises ``StreamtOlError`` (``INVALID``, at ``location``) for what cannot be rendered; its
    message quotes no more of the template than the name of something undefined.
    """
    found = plain_calls(sql)
    return render(sql, location=location).calls if found is None else found


def render(
    template: str,
    *,
    params: Mapping[str, object] | None = None,
    location: str | None = None,
) -> Rendering:
    """Render one ``template`` that loads no other one; see ``Renderer``."""
    return _ALONE.render(template, params, location)


class Renderer:
    """Renders templates in the sandbox of another process.

    ``load`` returns the text of another template by name (for ``include`` and ``import``), or
    None where there is none; it is asked once for each. In messages its name stands below
    `macros/`.
    """

    _numbers = count()

    def __init__(self, load: Callable[[str], str | None] = lambda _: None) -> None:
        self._load = load
        self._number = next(self._numbers)

    def render(
        self,
        template: str,
        params: Mapping[str, object] | None = None,
        location: str | None = None,
        file: str | None = None,
    ) -> Rendering:
        """Return what ``template`` gives with ``params``, and the calls that are printed in it.

        A call gives a word made from its name (see ``plain.table_word``). Raises ``StreamtOlError``
        (``INVALID``, at ``location``) whose message names the line, and the file where the
        template has one (``file``) or was loaded; and whatever ``load`` raises.
        """
        from streamt_ol.templates.process import FaultError, Request

        request = Request(self._number, template, file, params or {})
        try:
            with one_process():
                shared = _SHARED.get()
                assert shared is not None
                return Rendering(*shared.made().render(request, self._load))
        except FaultError as error:
            message = error.fault.message()
        raise StreamtOlError(INVALID, message, location=location)


_ALONE = Renderer()
