"""The ``transport`` section as the environment gives it: a file, and variables on top of it.

Implements the sources named in the specification's "Transport boundary": ``OPENLINEAGE_CONFIG``
and ``OPENLINEAGE__TRANSPORT...``. The environment arrives as a mapping; nothing here reads the
process's own. Where both name a field the variable wins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamt_ol.reading import strict_json
from streamt_ol.reading.faults import FaultKind
from streamt_ol.reading.files import CONFIGURATION, read_configuration
from streamt_ol.transport.base import refuse

if TYPE_CHECKING:
    from collections.abc import Mapping

CONFIG_FILE = "OPENLINEAGE_CONFIG"
DISABLED = "OPENLINEAGE_DISABLED"
_PREFIX = "OPENLINEAGE__"
_SECTION = "transport"
_LEGACY = ("OPENLINEAGE_URL", "OPENLINEAGE_API_KEY", "OPENLINEAGE_ENDPOINT")
API_KEY_NAMES = ("apiKey", "apikey", "api_key")
# JSON that says two things, or more than can be read.
_REFUSED = {FaultKind.DUPLICATE_KEY, FaultKind.DEPTH, FaultKind.NUMBER}
# Text even where it looks like a JSON number: a key of digits is not rounded.
_TEXT_FIELDS = {
    *API_KEY_NAMES, "compression", "endpoint", "log_file_path", "message_key", "topic", "type",
    "url",
}  # fmt: skip


def read_transport_section(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the ``transport`` section as plain values, not yet checked field by field.

    Raises ``StreamtOlError`` for a legacy variable, a section other than ``transport``, a field
    given twice, an unreadable file, ``OPENLINEAGE_DISABLED=true``, or no configuration at all.
    """
    _refuse_conflicts(environment)
    section: dict[str, Any] = {}
    path = environment.get(CONFIG_FILE, "")
    if path:
        section = _section_of(read_configuration(path, CONFIG_FILE))
    _merge(section, _section_of_variables(environment))
    if not section:
        refuse(
            _SECTION,
            "no transport is configured, and there is no default",
            f"name a file in {CONFIG_FILE}, or set OPENLINEAGE__TRANSPORT__TYPE to http or file",
        )
    return section


def _refuse_conflicts(environment: Mapping[str, str]) -> None:
    if environment.get(DISABLED, "").strip().lower() == "true":
        refuse(DISABLED, "OPENLINEAGE_DISABLED=true conflicts with emitting events", "unset it")
    for name in _LEGACY:
        if environment.get(name):
            refuse(
                name,
                "this variable of older clients is not supported",
                "unset it, and use OPENLINEAGE__TRANSPORT__... instead",
            )


def _section_of(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict):
        refuse(CONFIG_FILE, "the configuration file must hold a mapping with `transport`")
    for name in document:
        if name != _SECTION:
            refuse(name, "only the section `transport` is supported", "remove it")
    section = document.get(_SECTION)
    if not isinstance(section, dict):
        refuse(_SECTION, "the section must be a mapping")
    return section


def _section_of_variables(environment: Mapping[str, str]) -> dict[str, Any]:
    section: dict[str, Any] = {}
    # Sorted, so that OPENLINEAGE__TRANSPORT comes before OPENLINEAGE__TRANSPORT__URL.
    for name in sorted(n for n in environment if n.startswith(_PREFIX)):
        keys = name[len(_PREFIX) :].lower().split("__")
        if keys[0] != _SECTION or not all(keys):
            refuse(name, "only OPENLINEAGE__TRANSPORT... is supported", "unset it")
        value = _value(name, keys[-1], environment[name])
        if len(keys) == 1 and not isinstance(value, dict):
            refuse(name, "the value must be a JSON object")
        _insert(section, keys[1:], value, name)
    return section


def _value(name: str, field: str, raw: str) -> Any:
    if len(raw) > CONFIGURATION:
        refuse(name, f"the value is longer than {CONFIGURATION >> 20} MiB")
    try:
        value = strict_json.loads(raw.encode())
    except UnicodeEncodeError:
        return raw
    except strict_json.JsonFaultError as error:
        if error.fault.kind not in _REFUSED or field in _TEXT_FIELDS:
            return raw  # not JSON: a text
        refuse(name, f"the value: {error.message}")
    is_text = field in _TEXT_FIELDS and not isinstance(value, str)
    return raw if is_text else value


def _insert(section: dict[str, Any], keys: list[str], value: Any, name: str) -> None:
    if not keys:
        section.update(value)
        return
    for key in keys[:-1]:
        section = section.setdefault(key, {})
        if not isinstance(section, dict):
            refuse(name, "the variable gives a field that another variable gives too")
    if keys[-1] in section:
        refuse(name, "the variable gives a field that another variable gives too")
    section[keys[-1]] = value


def _merge(section: dict[str, Any], over: dict[str, Any]) -> None:
    """Lay ``over`` on top of ``section``, mappings field by field."""
    for key, value in over.items():
        for spelling in API_KEY_NAMES if key in API_KEY_NAMES else ():
            section.pop(spelling, None)
        below = section.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            _merge(below, value)
        else:
            section[key] = value
