"""Open a connection within a deadline: names looked up, addresses tried, certificates checked.

No proxy, ``.netrc``, ``SSL_CERT_FILE`` or ``SSLKEYLOGFILE`` of the environment is used: what may
carry a key is configured explicitly ("Transport boundary" of the specification).
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import sys
import threading
from typing import TYPE_CHECKING, Any

from streamt_ol.reading.files import CERTIFICATES, read_file
from streamt_ol.transport.address import is_loopback_host
from streamt_ol.transport.base import refuse

if TYPE_CHECKING:
    from streamt_ol.transport.address import Address
    from streamt_ol.transport.base import Deadline

Resolved = list[tuple[Any, ...]]


def tls_context(ca_file: str | None, location: str) -> ssl.SSLContext:
    """Return a context that verifies certificates and host names, TLS 1.2 or later.

    ``ca_file`` (PEM) replaces the system's authorities. Raises ``StreamtOlError`` at ``location``
    when it cannot be read or holds no certificate.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if ca_file is None:
        _trust_the_system(context)
        return context
    try:
        # What is not ASCII is a comment between the certificates.
        text = read_file(ca_file, CERTIFICATES).decode("ascii", "ignore")
        context.load_verify_locations(cadata=text)
    except (OSError, ValueError) as error:  # an ssl.SSLError is an OSError
        reason = error.strerror if isinstance(error, OSError) and error.errno else None
        refuse(location, f"the CA file cannot be used: {reason or 'not PEM certificates'}")
    if not context.get_ca_certs():
        refuse(location, "the CA file holds no certificate of an authority")
    return context


def _trust_the_system(context: ssl.SSLContext) -> None:
    if sys.platform == "win32":
        context.load_default_certs()
        return
    # load_default_certs would obey SSL_CERT_FILE; these are the paths built into OpenSSL.
    paths = ssl.get_default_verify_paths()
    # Many systems have only one of the two; without either the handshake says so.
    with contextlib.suppress(OSError):
        context.load_verify_locations(cafile=paths.openssl_cafile)
    with contextlib.suppress(OSError):
        context.load_verify_locations(capath=paths.openssl_capath)


def open_socket(address: Address, tls: ssl.SSLContext | None, deadline: Deadline) -> socket.socket:
    """Return a connected socket, TLS-wrapped if ``tls`` is given, within ``deadline``.

    A plain connection to this machine's name goes to loopback addresses only, whatever the name
    resolves to. Raises
    ``OSError`` (``ssl.SSLError``, ``TimeoutError`` and ``socket.gaierror`` among them).
    """
    candidates = _resolve(address.host, address.port, deadline)
    if tls is None and address.is_loopback:
        candidates = [c for c in candidates if is_loopback_host(c[4][0])]
    failure = OSError("no usable address")
    for index, (family, kind, protocol, _, target) in enumerate(candidates):
        connection = socket.socket(family, kind, protocol)
        try:
            # A silent address must not use up the time of those after it.
            connection.settimeout(deadline.left() / (len(candidates) - index))
            connection.connect(target)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return _wrapped(connection, tls, address.host, deadline)
        except ssl.SSLError:
            connection.close()
            raise
        except OSError as error:
            connection.close()
            failure = error
        except BaseException:  # an interrupt too: no connection is left open
            connection.close()
            raise
    raise failure


def _wrapped(
    connection: socket.socket, tls: ssl.SSLContext | None, host: str, deadline: Deadline
) -> socket.socket:
    if tls is None:
        return connection
    connection.settimeout(deadline.left())
    return tls.wrap_socket(connection, server_hostname=host.rstrip("."))


def _resolve(host: str, port: int, deadline: Deadline) -> Resolved:
    """``getaddrinfo`` knows no timeout: a thread asks, and is left behind when it is too slow."""
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except socket.gaierror:
        pass  # a name, not an address
    answer: list[Resolved | OSError] = []

    def ask() -> None:
        try:
            answer.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            answer.append(error)
        except UnicodeError:
            answer.append(OSError("not a host name"))

    thread = threading.Thread(target=ask, name="resolve", daemon=True)
    thread.start()
    thread.join(deadline.left())
    if not answer:
        raise TimeoutError
    found = answer[0]
    if isinstance(found, OSError):
        raise found
    return found
