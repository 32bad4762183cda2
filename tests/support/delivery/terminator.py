"""TLS in front of a server that has none, as stunnel does it.

    python terminator.py CERT.pem PORT [CLIENTS.pem]

Prints its own port; passes what comes there, decrypted, to PORT. Clients must have a certificate
of the authority in CLIENTS.pem, where it is given.
"""

from __future__ import annotations

import asyncio
import ssl
import sys


async def passed_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def main(certificate: str, port: int, clients: str = "") -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(passed_on(reader, inner_writer), passed_on(inner_reader, writer))

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    if clients:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients)
    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:]))
