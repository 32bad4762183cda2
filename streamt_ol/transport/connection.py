"""One kept-alive HTTP/1.1 connection: a request goes out, an answer comes back, in time.

Every wait is part of one deadline, so that a server which sends a byte now and then holds a
request no longer than a silent one. Nothing is followed, retried, or inherited here.
"""

from __future__ import annotations

import select
import ssl
from typing import TYPE_CHECKING, final

from streamt_ol.transport.answer import Answer, BadAnswerError
from streamt_ol.transport.base import DeliveryError
from streamt_ol.transport.sockets import open_socket

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from streamt_ol.transport.address import Address
    from streamt_ol.transport.base import Deadline

_CHUNK = 64 * 1024
# What OpenSSL, older and newer, says of an answer that is not TLS.
_NOT_TLS = ("WRONG_VERSION_NUMBER", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE")


@final
class Connection:
    """A connection to ``address``, opened when first needed; not to be shared by threads."""

    def __init__(self, address: Address, tls: ssl.SSLContext | None) -> None:
        self._address = address
        self._tls = tls
        self._channel: _Channel | None = None

    def exchange(self, request: bytes, deadline: Deadline) -> Answer:
        """Send ``request`` (head and body) and return the whole answer, whatever its status.

        Raises ``DeliveryError`` with the kind ``connect``, ``timeout``, ``tls``, ``broken`` or
        ``protocol``; the connection is then closed.
        """
        try:
            answer = _exchange(self._open(deadline), request, deadline)
        except BaseException:
            # Also after an interrupt: half an exchange must never meet the next one.
            self.close()
            raise
        if not answer.may_reuse:
            self.close()
        return answer

    def close(self) -> None:
        """Close the connection, if there is one."""
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    def _open(self, deadline: Deadline) -> _Channel:
        if self._channel is not None and self._channel.is_stale():
            self.close()
        if self._channel is None:
            self._channel = _Channel(_connect(self._address, self._tls, deadline))
        return self._channel


@final
class _Channel:
    """A connected socket that does not block by itself: each wait is one, within a deadline.

    A socket's own timeout would cost two system calls more for each send and each receive, and
    start again with every record of TLS.
    """

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._socket = connection
        self._is_readable = _readiness(connection, for_reading=True)
        self._pending = connection.pending if isinstance(connection, ssl.SSLSocket) else _nothing

    def send(self, data: bytes, deadline: Deadline) -> None:
        """Send everything, or until the server ends the connection: its answer counts.

        It may refuse a large body before the end of it. Raises ``OSError``, ``TimeoutError``
        among it.
        """
        deadline.left()
        try:
            sent = self._send(data[:_CHUNK], deadline)
            while sent < len(data):
                sent += self._send(memoryview(data)[sent : sent + _CHUNK], deadline)
        except ConnectionError:
            return

    def receive(self, deadline: Deadline) -> bytes:
        """Return what has come, b"" at the end. Raises ``OSError``, ``TimeoutError`` among it."""
        while True:
            if not self._pending() and not self._is_readable(deadline.left()):
                raise TimeoutError
            try:
                return self._socket.recv(_CHUNK)
            except (BlockingIOError, ssl.SSLWantReadError):
                continue
            except ssl.SSLWantWriteError:
                self._wait_to_write(deadline)

    def is_stale(self) -> bool:
        """Tell whether the server closed an idle connection, or sent what nobody asked for."""
        if not self._is_readable(0):
            return False
        if not isinstance(self._socket, ssl.SSLSocket):
            return True
        # A session ticket of TLS 1.3 may come at any time: reading takes it in, finds no data.
        try:
            self._socket.recv(1)
        except ssl.SSLWantReadError:
            return False
        except OSError:
            return True
        return True

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _send(self, data: bytes | memoryview, deadline: Deadline) -> int:
        while True:
            try:
                return self._socket.send(data)
            except (BlockingIOError, ssl.SSLWantWriteError):
                self._wait_to_write(deadline)
            except ssl.SSLWantReadError:
                if not self._is_readable(deadline.left()):
                    raise TimeoutError from None

    def _wait_to_write(self, deadline: Deadline) -> None:
        if not _readiness(self._socket, for_reading=False)(deadline.left()):
            raise TimeoutError


def _nothing() -> int:
    return 0


def _readiness(connection: socket.socket, *, for_reading: bool) -> Callable[[float], bool]:
    """Return a function that waits, at most so many seconds, and tells whether it is ready."""
    try:
        poll = select.poll()
    except AttributeError:  # Windows
        files = [connection]
        sides: tuple[list[socket.socket], list[socket.socket]]
        sides = (files, []) if for_reading else ([], files)
        return lambda seconds: any(select.select(*sides, [], seconds))
    poll.register(connection, select.POLLIN if for_reading else select.POLLOUT)
    return lambda seconds: bool(poll.poll(seconds * 1000))


def _connect(address: Address, tls: ssl.SSLContext | None, deadline: Deadline) -> socket.socket:
    try:
        return open_socket(address, tls, deadline)
    except ssl.SSLCertVerificationError as error:
        reason = f"the certificate is not accepted: {error.verify_message}"
        raise DeliveryError("tls", reason) from None
    except ssl.SSLError as error:
        reason = f"the TLS handshake failed: {error.reason or 'unknown'}"
        if error.reason in _NOT_TLS:
            reason += "; the server seems to speak plain http there"
        raise DeliveryError("tls", reason) from None
    except TimeoutError:
        raise DeliveryError("timeout", "no connection in time") from None
    except OSError as error:
        reason = error.strerror or "the host has no usable address"
        raise DeliveryError("connect", f"no connection: {reason}") from None


def _exchange(channel: _Channel, request: bytes, deadline: Deadline) -> Answer:
    answer = Answer()
    try:
        channel.send(request, deadline)
        while not answer.is_complete:
            answer.feed(channel.receive(deadline))
    except TimeoutError:
        if answer.cut("it did not end in time"):
            return answer
        raise DeliveryError("timeout", "no complete answer in time") from None
    except BadAnswerError as error:
        status = answer.status or None
        raise DeliveryError("protocol", str(error), status=status) from None
    except OSError as error:
        reason = error.strerror or "closed by the server"
        what = f"the end of its answer {answer.status}" if answer.status else "an answer"
        raise DeliveryError("broken", f"the connection broke before {what}: {reason}") from None
    return answer
