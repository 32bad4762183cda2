"""A way to a receiver: its name, and what makes the senders."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from streamt_ol.codes import UNENCRYPTED
from streamt_ol.problems import WarningRecord, warning
from streamt_ol.transport.config import UNENCRYPTED_MESSAGE

if TYPE_CHECKING:
    from streamt_ol.delivery.receivers.receiver import Receiver
    from streamt_ol.delivery.senders.sender import Sender


class Route(NamedTuple):
    """A way to a receiver: ``make`` returns one of at most ``workers`` senders.

    ``target`` names it, safe to show. ``configured`` is the address of a transport's
    configuration, which is never shown.
    """

    receiver: Receiver
    target: str
    workers: int
    make: Callable[[], Sender]
    is_unencrypted: bool = False
    configured: str = ""

    @property
    def identity(self) -> str:
        """The name of the way in a checkpoint; a configured address stays unsaid."""
        if not self.configured:
            return f"{self.receiver.name} {self.target}"
        digest = hashlib.blake2b(self.configured.encode(errors="replace"), digest_size=16)
        return f"{self.receiver.name} {digest.hexdigest()}"

    def warnings(self) -> list[WarningRecord]:
        """Return what is to be known of this way before anything is sent."""
        if not self.is_unencrypted:
            return []
        return [warning(UNENCRYPTED, UNENCRYPTED_MESSAGE)]
