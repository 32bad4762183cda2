"""Servers that enforce what is known of each receiver, written from its documentation alone.

``Enforcing(name)`` listens on loopback; ``taken`` are the events that it answered with success.
"""

from __future__ import annotations

import gzip
import hashlib
import hmac
import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from streamt_ol.transport.base import Closing
from support.delivery.core import meets_core

Event = dict[str, Any]
Reply = tuple[int, str]
OK: Reply = (200, "{}")


class Call:
    """One request: ``path``, ``query``, ``headers`` (lower case), ``event``, ``size``."""

    def __init__(self, target: str, headers: dict[str, str], body: bytes) -> None:
        parts = urlsplit(target)
        self.path, self.query = parts.path, parse_qs(parts.query)
        self.headers = headers
        self.event: Event = json.loads(body)
        self.size = len(body)
        self.body = body


def is_run(event: Event) -> bool:
    return "run" in event and "job" in event


def openlineage(call: Call) -> Reply:
    """Enforce the standard: a server of it takes what the core schema allows."""
    if call.path != "/api/v1/lineage":
        return 404, "{}"
    return (201, "") if meets_core(call.event) else (422, '{"errors":["schema"]}')


EIGHT_MIB = 8_388_608


def truewatch(call: Call) -> Reply:
    """Enforce one object, its required fields, its kind, its size; the rest is read later."""
    if call.path != "/v1/write/openlineage":
        return 404, "{}"
    event = call.event
    required = all(isinstance(event.get(k), str) for k in ("eventTime", "producer", "schemaURL"))
    kinds = {"run", "job", "dataset"} & set(event)
    if call.size > EIGHT_MIB:
        return 413, '{"error_code":"too-large"}'
    return (204, "") if required and kinds else (400, '{"error_code":"invalid"}')


def datakit(call: Call) -> Reply:
    """Forward to a DataWay that keeps to the standard, whatever token a client names."""
    if call.path != "/openlineage/api/v1/lineage":
        return 404, "{}"
    if call.size > EIGHT_MIB:
        return 413, '{"error_code":"too-large"}'
    if not meets_core(call.event):
        return 400, '{"error_code":"invalid"}'
    return 200, '{"error_code":"dataway.cached"}'


def marquez(call: Call) -> Reply:
    event = call.event
    kind = str(event.get("schemaURL", "")).split("/")[-1]
    if kind not in ("JobEvent", "DatasetEvent"):
        kind = "RunEvent"
    entities = {"RunEvent": ["run", "job"], "JobEvent": ["job"], "DatasetEvent": ["dataset"]}[kind]
    if any(name not in event for name in entities) or "eventTime" not in event:
        return 422, '{"errors":["must not be null"]}'
    job = event.get("job", {})
    if "jobType" in (facets := job.get("facets", {})):
        facet = facets["jobType"]
        if not all(facet.get(k) for k in ("jobType", "processingType", "integration")):
            return 422, '{"errors":["job.facets.jobType"]}'
    namespace = str(job.get("namespace", ""))
    if kind == "RunEvent" and not re.fullmatch(r"[a-zA-Z:;=/0-9_\-.@+]{1,1024}", namespace):
        return 500, '{"message":"namespace"}'
    return 201, ""


def lacks_a_field(dataset: Event) -> bool:
    """Whether a dataset's facet lacks what OpenMetadata's classes require."""
    facets = dataset.get("facets", {})
    if any("type" not in f for f in facets.get("schema", {}).get("fields", [])):
        return True
    lineage = facets.get("columnLineage", {"fields": {}})
    columns = lineage["fields"].values() if "fields" in lineage else [{}]
    if any("inputFields" not in column for column in columns):
        return True
    required = {"namespace", "name", "field"}
    return any(required - set(f) for column in columns for f in column["inputFields"])


def openmetadata(call: Call) -> Reply:
    event = call.event
    if not is_run(event):
        return 400, '{"message":"Unrecognized event"}'
    if any(map(lacks_a_field, [*event.get("inputs", []), *event.get("outputs", [])])):
        return 400, '{"message":"must not be null"}'
    if "sql" in (facets := event["job"].get("facets", {})) and "query" not in facets["sql"]:
        return 400, '{"message":"sql.query must not be null"}'
    sides = event.get("inputs", []), event.get("outputs", [])
    if event.get("eventType", "COMPLETE") != "COMPLETE" or not all(sides):
        return 200, '{"status":"success","lineageEdgesCreated":0}'

    def resolves(dataset: Event) -> bool:
        fields = dataset.get("facets", {}).get("schema", {}).get("fields")
        mapped = dataset["namespace"] == "postgresql://h:5432"
        # Its catalog is empty: what it can make is a table with columns and a whole name.
        return bool(mapped and fields and dataset["name"].count(".") == 2)

    edges = sum(map(resolves, sides[0])) * sum(map(resolves, sides[1]))
    if not edges:
        return 400, '{"status":"failure","unresolvedDatasets":["x"]}'
    return 200, json.dumps({"status": "success", "lineageEdgesCreated": edges})


def datahub(call: Call) -> Reply:
    event = call.event
    if not is_run(event):
        return 500, '{"error":"no run"}'
    engine = event["run"].get("facets", {}).get("processing_engine", {}).get("name")
    ours = re.match(r"https://github.com/OpenLineage/OpenLineage/.*/(.*)$", event["producer"])
    airflow = event["producer"].startswith("https://github.com/apache/airflow/")
    if not engine and not ours and not airflow:
        return 500, '{"error":"Unable to determine orchestrator"}'
    return 200, ""


def dataplex(call: Call) -> Reply:
    event = call.event
    ids = call.query.get("requestId", [])
    if len(ids) != 1 or not re.fullmatch(r"[!-~]{1,36}", ids[0]):
        return 400, '{"error":"requestId"}'
    if call.path != "/v1/projects/p/locations/eu:processOpenLineageRunEvent":
        return 404, "{}"
    sides = event.get("inputs", []), event.get("outputs", [])
    named = [event.get("job", {}), *sides[0], *sides[1]]
    if not is_run(event) or call.size > 5_000_000 or len(sides[0]) * len(sides[1]) > 100:
        return 400, '{"error":"invalid"}'
    if any(len(e["namespace"]) + len(e["name"]) > 4000 for e in named):
        return 400, '{"error":"too long"}'
    return 200, '{"process":"p","run":"r","lineageEvents":["l"]}'


def datadog(call: Call) -> Reply:
    return (202, "") if is_run(call.event) else (400, '{"errors":["run"]}')


def snowflake(call: Call) -> Reply:
    event = call.event
    kind = call.headers.get("x-snowflake-authorization-token-type")
    if kind not in ("KEYPAIR_JWT", "PROGRAMMATIC_ACCESS_TOKEN"):
        return 401, '{"message":"token type"}'
    sides = event.get("inputs", []), event.get("outputs", [])
    complete = event.get("eventType") == "COMPLETE" and is_run(event) and all(sides)
    named = [event.get("job", {}), *sides[0], *sides[1]]
    if not complete or any(len(e.get("name", "")) > 1000 for e in named):
        return 400, '{"message":"invalid"}'
    return (400, '{"message":"edges"}') if len(sides[0]) * len(sides[1]) > 15_000 else OK


def alation(call: Call) -> Reply:
    """Take everything: what is not processed is answered alike."""
    return OK if call.path == "/open_lineage_event/" else (404, "{}")


def signature(call: Call, secret: str, scope: str, names: str) -> str:
    """Return the signature that AWS works out (Signature Version 4, by its documentation)."""
    date, region, service, last = scope.split("/")
    headers = "".join(f"{name}:{call.headers[name].strip()}\n" for name in names.split(";"))
    path = quote(call.path, safe="/-_.~")
    body = hashlib.sha256(call.body).hexdigest()
    request = f"POST\n{path}\n\n{headers}\n{names}\n{body}"
    digest = hashlib.sha256(request.encode()).hexdigest()
    text = f"AWS4-HMAC-SHA256\n{call.headers['x-amz-date']}\n{scope}\n{digest}"
    key = f"AWS4{secret}".encode()
    for part in (date, region, service, last, text):
        key = hmac.new(key, part.encode(), "sha256").digest()
    return key.hex()


SECRET_KEY = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


def datazone(call: Call) -> Reply:
    signed = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/(\d{8}/eu-west-1/datazone/aws4_request), "
        r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})",
        call.headers.get("authorization", ""),
    )
    if not signed or not {"host", "client-token"} <= set(signed[2].split(";")):
        return 403, '{"message":"Missing Authentication Token"}'
    if signature(call, SECRET_KEY, signed[1], signed[2]) != signed[3]:
        return 403, '{"message":"The signature does not match"}'
    if "client-token" not in call.headers or call.path != "/v2/domains/dzd_1/lineage/events":
        return 404, "{}"
    if call.size > 300_000 or not is_run(call.event):
        return 400, '{"message":"ValidationException"}'
    return 200, '{"id":"1"}'


def atlan(call: Call) -> Reply:
    if call.path != "/events/openlineage/spark/api/v1/lineage":
        return 401, "{}"
    return OK if is_run(call.event) else (400, "{}")


def gravitino(call: Call) -> Reply:
    return (201, "") if is_run(call.event) and call.path == "/api/lineage" else (400, "{}")


SERVERS: dict[str, Callable[[Call], Reply]] = {
    "openlineage": openlineage,
    "truewatch": truewatch,
    "datakit": datakit,
    "marquez": marquez,
    "openmetadata": openmetadata,
    "datahub": datahub,
    "dataplex": dataplex,
    "datadog": datadog,
    "snowflake": snowflake,
    "alation": alation,
    "datazone": datazone,
    "atlan": atlan,
    "gravitino": gravitino,
}
# What `send` needs besides --url.
OPTIONS: dict[str, list[str]] = {
    "dataplex": ["--param", "project=p", "--param", "location=eu"],
    "snowflake": ["--param", "token-type=KEYPAIR_JWT"],
    "datazone": ["--param", "domain=dzd_1", "--param", "region=eu-west-1"],
    "atlan": ["--param", "connector=spark"],
}


class Enforcing(Closing):
    """A server on loopback that answers as the receiver ``name`` does."""

    def __init__(self, name: str) -> None:
        self.taken: list[Event] = []
        self.refused: list[Event] = []
        answer, outer = SERVERS[name], self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                headers = {key.lower(): value for key, value in self.headers.items()}
                call = Call(self.path, headers, body)
                status, text = answer(call)
                (outer.taken if status < 300 else outer.refused).append(call.event)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
