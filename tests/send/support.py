"""What the tests of delivery share: the server process, its certificates, events to send."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import trustme

if TYPE_CHECKING:
    from types import TracebackType

PEER = Path(__file__).with_name("peer.py")


class Server:
    """A ``peer.py`` process; ``url``, ``requests()`` as logged, and the CA file with TLS."""

    def __init__(self, folder: Path, *plan: dict[str, Any], tls: str | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "peer.log"
        (folder / "plan.json").write_text(json.dumps(plan))
        self.log.touch()
        arguments = [sys.executable, str(PEER), str(folder / "plan.json"), str(self.log)]
        self.ca_file = folder / "ca.pem"
        if tls:
            authority = trustme.CA()
            authority.cert_pem.write_to_path(str(self.ca_file))
            issued = authority.issue_cert(tls)
            issued.private_key_and_cert_chain_pem.write_to_path(str(folder / "server.pem"))
            arguments.append(str(folder / "server.pem"))
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.port = int(self.process.stdout.readline())
        self.url = f"{'https' if tls else 'http'}://localhost:{self.port}"

    def requests(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def bodies(self) -> list[str]:
        return [request["body"] for request in self.requests()]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()
