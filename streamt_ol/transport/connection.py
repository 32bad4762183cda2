"""One kept-alive HTTP/1.1 connection: a request goes out, an answer comes back, in time.

Every wait is part of one deadline, so that a server which sends a byte now and then holds a
request no longer than a silent one. Nothing is followed, retried, or inherited here.
"""

from __future__ import annotations

import contextlib
import select
import ssl
from typing import TYPE_CHECKING, final

from streamt_ol.transport.answer import Answer, BadAnswerError
from streamt_ol.transport.base import DeliveryError
from streamt_ol.transport.sockets import open_socket

if TYPE_CHECKING:
    import socket

    from streamt_ol.transport.address import Address
    from streamt_ol.transport.base import Deadline

_CHUNK = 64 * 1024


@final
class Connection:
    """A connection to ``address``, opened when first needed; not to be shared by threads."""

    def __init__(self, address: Address, tls: ssl.SSLContext | None) -> None:
        self._address = address
        self._tls = tls
        self._socket: socket.socket | None = None

    def exchange(self, request: bytes, deadline: Deadline) -> Answer:
        """Send ``request`` (head and body) and return the whole answer, whatever its status.

        Raises ``DeliveryError`` with the kind ``connect``, ``timeout``, ``tls``, ``broken`` or
        ``protocol``; the connection is then closed.
        """
        try:
            connection = self._open(deadline)
            answer = _exchange(connection, request, deadline)
        except BaseException:
            # Also after an interrupt: half an exchange must never meet the next one.
            self.close()
            raise
        if not answer.may_reuse:
            self.close()
        return answer

    def close(self) -> None:
        """Close the connection, if there is one."""
        connection, self._socket = self._socket, None
        if connection is not None:
            connection.close()

    def _open(self, deadline: Deadline) -> socket.socket:
        if self._socket is not None and _is_stale(self._socket):
            self.close()
        if self._socket is None:
            self._socket = _connect(self._address, self._tls, deadline)
        return self._socket


def _is_stale(connection: socket.socket) -> bool:
    """Tell whether the server closed an idle connection, or sent what nobody asked for."""
    if not _is_readable(connection):
        return False
    if not isinstance(connection, ssl.SSLSocket):
        return True
    # A session ticket of TLS 1.3 may come at any time: reading takes it in, and finds no data.
    connection.settimeout(0)
    try:
        connection.recv(1)
    except ssl.SSLWantReadError:
        return False
    except OSError:
        return True
    return True


def _is_readable(connection: socket.socket) -> bool:
    try:
        poll = select.poll()
    except AttributeError:  # Windows
        return bool(select.select([connection], [], [], 0)[0])
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))


def _connect(address: Address, tls: ssl.SSLContext | None, deadline: Deadline) -> socket.socket:
    try:
        return open_socket(address, tls, deadline)
    except ssl.SSLCertVerificationError as error:
        reason = f"the certificate is not accepted: {error.verify_message}"
        raise DeliveryError("tls", reason) from None
    except ssl.SSLError as error:
        reason = f"the TLS handshake failed: {error.reason or 'unknown'}"
        raise DeliveryError("tls", reason) from None
    except TimeoutError:
        raise DeliveryError("timeout", "no connection in time") from None
    except OSError as error:
        reason = error.strerror or "the host has no usable address"
        raise DeliveryError("connect", f"no connection: {reason}") from None


def _exchange(connection: socket.socket, request: bytes, deadline: Deadline) -> Answer:
    answer = Answer()
    try:
        # A server may refuse a large body before the end of it: its answer counts.
        with contextlib.suppress(ConnectionError):
            _send(connection, request, deadline)
        while not answer.is_complete:
            connection.settimeout(deadline.left())
            answer.feed(connection.recv(_CHUNK))
    except TimeoutError:
        if answer.cut("it did not end in time"):
            return answer
        raise DeliveryError("timeout", "no complete answer in time") from None
    except BadAnswerError as error:
        status = answer.status or None
        raise DeliveryError("protocol", str(error), status=status) from None
    except OSError as error:
        reason = error.strerror or "closed by the server"
        raise DeliveryError("broken", f"the connection broke before an answer: {reason}") from None
    return answer


def _send(connection: socket.socket, request: bytes, deadline: Deadline) -> None:
    """As ``sendall``, whose timeout on a TLS socket starts again with every record."""
    rest = memoryview(request)
    while rest:
        connection.settimeout(deadline.left())
        rest = rest[connection.send(rest[:_CHUNK]) :]
