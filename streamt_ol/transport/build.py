"""From a checked configuration to a transport that is ready: all that can be refused is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamt_ol.transport.config import FileConfig

if TYPE_CHECKING:
    from streamt_ol.transport.base import Transport
    from streamt_ol.transport.config import TransportConfig
    from streamt_ol.transport.deadline import Deadline


def open_transport(config: TransportConfig, limit: Deadline | None = None) -> Transport:
    """Return the transport of ``config``; no request lasts beyond ``limit``.

    A file is opened (and created) and a CA file is read now, a connection only by the first
    event. Raises ``StreamtOlError``.
    """
    if isinstance(config, FileConfig):
        from streamt_ol.transport.file import FileTransport

        return FileTransport(config)
    from streamt_ol.transport.http import HttpTransport

    return HttpTransport(config, limit=limit)
