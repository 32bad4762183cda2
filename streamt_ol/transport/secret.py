"""A credential that no print, log, traceback, copy or pickle shows by accident."""

from __future__ import annotations

from typing import NoReturn, Self, final

from streamt_ol.redaction import MASK


@final
class Secret:
    """Holds one credential; only ``reveal`` gives it back, so every use can be searched for.

    ``repr``, ``str``, ``format`` and ``dataclasses.asdict`` show a mask; pickling is refused.
    """

    __slots__ = ("_reveal",)

    def __init__(self, value: str) -> None:
        # A closure rather than an attribute: nothing that walks over attributes finds the text.
        object.__setattr__(self, "_reveal", lambda: value)

    def reveal(self) -> str:
        """Return the credential: for the wire, and for masking it out of an answer."""
        found: str = self._reveal()  # type: ignore[attr-defined]
        return found

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a secret does not change")

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    def __str__(self) -> str:
        return MASK

    def __format__(self, format_spec: str) -> str:
        return MASK

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a secret cannot be pickled")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other.reveal() == self.reveal()

    def __hash__(self) -> int:
        return hash(self.reveal())
