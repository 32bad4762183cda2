"""Names and namespaces: how identities of datasets and jobs are spelled.

Implements "Dataset identity" and "Stable job identity" of the specification. Nothing here
reads an environment or a manifest; values come in and identities, or one error, come out.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from streamt_ol.problems import INVALID, Location, StreamtOlError

_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?"
_ENDPOINT = re.compile(
    rf"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<host>{_LABEL}(?:\.{_LABEL})*\.?)):0*(?P<port>[1-9][0-9]{{0,4}})"
)
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]*")
_NUMERIC_HOST = re.compile(r"[0-9.]+")
# NAME:SECRET@ in any of its forms (a secret may hold a /), or any user information of a broker.
# NAME@ alone is an identity, e.g. the container of abfss://container@account.
_USER_SECRET = re.compile(
    r"^\s*kafka://[^/?#]*@"
    # Without a scheme; some schemes hold an address without //.
    r"|^\s*(?!(?:urn|arn|tag|mailto|acct|sips?|xmpp):)[^\s:/?#@]+(?::|%3a)[^\s/?#@]+@[^\s@]"
    r"|//(?!\[|[^:/?#@]*:[0-9]{1,5}(?:[/?#]|$))[^:/?#@]*(?::|%3a)[^?#]*@",
    re.IGNORECASE,
)
# A parameter whose name is a secret's; a segment of the path, e.g. x-token=1, is none. The first
# segment of a text without a scheme may be either.
_PARAMETER = re.compile(r"(?<![\w.-])[\w.-]++=")
_SECRET_NAME = re.compile(r"pass|pwd|secret|token|api[_.-]?key|credential", re.IGNORECASE)
_IN_PATH = re.compile(r"//[^?#;]*/[^/?#;]*\Z|\A[^\s?#;=&:'\"/]+/(?:[^\s?#;&]*/)?[^/?#;&=]*\Z")
MAX_PORT = 65_535
JOB_NAMESPACE = Location(option="job_namespace")
# The environment variable behind each namespace option, by "Static export command".
NAMESPACE_VARIABLES = {
    "job_namespace": "OPENLINEAGE_NAMESPACE",
    "kafka_namespace": "STREAMT_OPENLINEAGE_KAFKA_NAMESPACE",
    "gateway_namespace": "STREAMT_OPENLINEAGE_GATEWAY_NAMESPACE",
}


def segment(text: str) -> str:
    """Percent-encode one segment of a job name: UTF-8, uppercase hex, ``-._~`` kept.

    Raises ``UnicodeEncodeError`` for a lone surrogate, which has no UTF-8 form.
    """
    return text if _UNRESERVED.fullmatch(text) else quote(text, safe="")


def model_job_name(project: str, model: str) -> str:
    """Return ``streamt/{project}/models/{model}``, each segment encoded on its own."""
    return f"streamt/{segment(project)}/models/{segment(model)}"


def command_job_name(project: str, command: str) -> str:
    """Return ``streamt/{project}/commands/{command}`` for ``apply`` or ``test``."""
    return f"streamt/{segment(project)}/commands/{segment(command)}"


def is_encodable(text: str) -> bool:
    """Tell whether ``text`` has a UTF-8 form, that is, holds no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_endpoint(text: str) -> bool:
    """Tell whether ``text`` is exactly one ``host:port``, with nothing before or after it.

    A host may end with the dot of an absolute DNS name, a port may begin with zeros.
    """
    match = _ENDPOINT.fullmatch(text)
    if match is None or int(match["port"]) > MAX_PORT:
        return False
    if match["ipv6"] is not None:
        return _is_ip_address(match["ipv6"], version=6)
    if _NUMERIC_HOST.fullmatch(match["host"]):
        return _is_ip_address(match["host"], version=4)
    return True


def _is_ip_address(text: str, version: int) -> bool:
    from ipaddress import ip_address

    try:
        return ip_address(text).version == version
    except ValueError:
        return False


def check_job_namespace(value: str, location: str = JOB_NAMESPACE) -> str:
    """Return ``value`` unchanged, or raise E506: blank, unencodable, or with user information."""
    if not value.strip():
        raise StreamtOlError(INVALID, "the job namespace is blank", location=location)
    if not is_encodable(value):
        raise StreamtOlError(INVALID, "the job namespace is not valid Unicode", location=location)
    check_no_credentials(value, location, "the job namespace")
    return value


def check_no_credentials(namespace: str, location: str, what: str = "the namespace") -> None:
    """Raise E506 for ``scheme://user:password@...`` and the like, without repeating it."""
    has_secret = "=" in namespace and any(
        _SECRET_NAME.search(found[0]) and not _IN_PATH.search(namespace[: found.start()])
        for found in _PARAMETER.finditer(namespace)
    )
    if has_secret or ("@" in namespace and _USER_SECRET.search(namespace)):
        raise StreamtOlError(
            INVALID,
            f"{what} holds user information or a credential, which must not leave this machine",
            location=location,
            suggestion="remove the user information before the @, or the parameter",
        )


def check_dataset_namespace(value: str, location: str) -> str:
    """Return an explicit Kafka or Gateway namespace unchanged, or raise E506.

    The message never repeats the value: it may hold a password.
    """
    scheme, separator, endpoint = value.partition("://")
    if scheme != "kafka" or not separator or not is_endpoint(endpoint):
        raise StreamtOlError(
            INVALID,
            "the namespace is not kafka://HOST:PORT with one host, one port from 1 to 65535, "
            "and no user information, path, query or fragment",
            location=location,
            suggestion="give one stable address of the cluster, e.g. kafka://broker.example:9092",
        )
    return value


def namespace_of_endpoint(value: object, location: str) -> str:
    """Derive ``kafka://host:port`` from exactly one ``host:port``, or raise E506 at ``location``.

    Whitespace around the endpoint is discarded. A list of brokers has no stable identity:
    no broker of it is chosen.
    """
    endpoint = value.strip() if isinstance(value, str) else ""
    if not is_endpoint(endpoint):
        raise StreamtOlError(
            INVALID,
            "the address is not exactly one host:port, so no namespace can be derived from it",
            location=location,
        )
    return f"kafka://{endpoint}"
