"""Amazon DataZone, and SageMaker: PostLineageEvent, signed as AWS asks.

Address, path, header and limit are those of botocore's model of the service, which a test
compares. The credentials are those that botocore finds, as every tool of AWS does; the extra
`streamt-ol[aws]` installs it.
"""

from __future__ import annotations

import re
from typing import Any

from streamt_ol.delivery.receivers.receiver import Parameter, Receiver, Request
from streamt_ol.delivery.receivers.run_rules import RunRules
from streamt_ol.problems import INVALID, Location, StreamtOlError

MAX_BYTES = 300_000
_REGION = re.compile(r"[a-z]{2}(?:-[a-z]+)+-[0-9]+")


def _signed(request: Request) -> Request:
    """Add ``Client-Token``, which makes a repeated request one, and the signature (SigV4)."""
    signing, awsrequest, session = _botocore()
    region = request.parameters["region"]
    if not _REGION.fullmatch(region):
        raise StreamtOlError(
            INVALID, "the region is not one of AWS", location=Location(option="parameters")
        )
    credentials = session.get_session().get_credentials()
    if credentials is None:
        raise StreamtOlError(
            INVALID, "no credentials of AWS are configured", location=Location(option="to")
        )
    unsigned = awsrequest.AWSRequest(
        method="POST",
        url=request.url,
        data=request.body,
        headers={"Client-Token": request.digest, "Content-Type": "application/json"},
    )
    signing.SigV4Auth(credentials.get_frozen_credentials(), "datazone", region).add_auth(unsigned)
    own = {"content-type"}
    added = ((k, v) for k, v in unsigned.headers.items() if k.lower() not in own)
    return request.with_headers(*added)


def _botocore() -> tuple[Any, Any, Any]:
    try:
        from botocore import auth, awsrequest, session
    except ImportError:
        raise StreamtOlError(
            INVALID,
            "DataZone needs the package botocore, which is not installed",
            location=Location(option="to"),
            suggestion="pip install 'streamt-ol[aws]'",
        ) from None
    return auth, awsrequest, session


DATAZONE = Receiver(
    "datazone",
    "http",
    "Amazon DataZone and SageMaker: RunEvents up to 300,000 bytes",
    RunRules(max_bytes=MAX_BYTES),
    others="refused; what it answers was not found",
    url="https://datazone.{region}.api.aws",
    endpoint="/v2/domains/{domain}/lineage/events",
    parameters=(Parameter("domain"), Parameter("region")),
    dress=_signed,
)
