"""The state of the identities in a part of a stream: descriptions, processing types, names."""

from __future__ import annotations

from functools import lru_cache

from streamt_ol.openlineage.events import DATASET_EVENT
from streamt_ol.redaction import shown
from streamt_ol.validation.stream import facts
from streamt_ol.validation.stream.packing import (
    STATIC,
    TYPE_AT,
    job_type,
    packed_type,
    static_position,
)

Identity = tuple[str, str]  # namespace and name
NAMED = 20_000  # identities whose names are kept for messages
_SHORT = 400  # characters of an identity that is kept as it is: most are never put into words


class IdentityState:
    """The state of the identities of jobs and datasets.

    ``statics`` packs a checksum and position by the key of an identity at a time; ``types`` a
    position and the processing type by a job's key. The ``more_...`` tables hold what breaks
    rules: other versions by the key and their checksum, other types. ``names`` has the first
    identities by their keys, or their words: see ``name_of``.
    """

    repeated: list[int]  # positions of events repeated to the byte

    def __init__(self) -> None:
        self.statics: dict[bytes, bytes] = {}
        self.types: dict[int, bytes] = {}
        self.more_statics: dict[bytes, bytes] = {}
        self.more_types: dict[int, dict[str, int]] = {}
        self.names: dict[int | bytes, Identity | str] = {}

    def note_job(
        self, key: int, identity: Identity, processing_type: str | None, position: int
    ) -> None:
        """Note that an event at ``position`` names the job of ``key``, and maybe its type."""
        if len(self.names) < NAMED:
            self._name(key, identity)
        if processing_type is not None:
            known = self.types.get(key)
            if known is None or known[TYPE_AT:] != processing_type.encode(errors="replace"):
                self._add_type(key, processing_type, position)

    def note_static(
        self, kind: str, identity: Identity, event_time: str, checksum: int, position: int
    ) -> None:
        """Note an event of ``kind`` that describes a job or dataset."""
        key = facts.static_key(kind[0], *identity, event_time)
        if len(self.names) < NAMED:
            self._name(key, identity)
        low, high = position & 0xFFFFFFFF, position >> 32
        version = STATIC.pack(checksum, low, high, kind == DATASET_EVENT)
        if self.statics.setdefault(key, version) is not version:
            self._add_version(key, version)

    def name_of(self, key: int | bytes) -> str | None:
        """Return the words for an identity by its key, None where its name was not kept."""
        name = self.names.get(key)
        return _worded(name) if isinstance(name, tuple) else name

    def absorb_identities(self, later: IdentityState) -> None:
        """Join the state of the identities of the part of the stream that follows this one."""
        for static, version in later.statics.items():
            self._add_version(static, version)
        for further, version in later.more_statics.items():
            self._add_version(further[: -facts.CHECKSUM_BYTES], version)
        for key, data in later.types.items():
            self._add_type(key, *job_type(data))
        for key, types in later.more_types.items():
            for name, position in types.items():
                self._add_type(key, name, position)
        for identity, words in later.names.items():
            if len(self.names) == NAMED:
                break
            self.names.setdefault(identity, words)

    def _name(self, key: int | bytes, identity: Identity) -> None:
        if key not in self.names:
            namespace, name = identity
            short = len(namespace) + len(name) <= _SHORT
            self.names[key] = identity if short else _worded(identity)

    def _add_version(self, key: bytes, version: bytes) -> None:
        """Keep the first version of an identity at a time, and later ones that differ."""
        known = self.statics.get(key)
        if known is None:
            self.statics[key] = version
            return
        checksum = version[: facts.CHECKSUM_BYTES]
        if known.startswith(checksum) or key + checksum in self.more_statics:
            self.repeated.append(static_position(version))
        else:
            self.more_statics[key + checksum] = version

    def _add_type(self, key: int, name: str, position: int) -> None:
        """Note that a job has a processing type; keep the first, and where others begin."""
        data = self.types.get(key)
        if data is None:
            self.types[key] = packed_type(name, position)
            return
        first_name, first = job_type(data)
        if name == first_name:
            if position < first:
                self.types[key] = packed_type(name, position)
            return
        if position < first:
            self.types[key] = packed_type(name, position)
            name, position = first_name, first
        more = self.more_types.setdefault(key, {})
        more[name] = min(position, more.get(name, position))


def _worded(identity: Identity) -> str:
    namespace, name = identity
    words = _shown_namespace(namespace) if len(namespace) <= _SHORT else shown(namespace)
    return f"{shown(name)} in {words}"


# Thousands of identities share a few namespaces, in which a search for credentials takes long.
_shown_namespace = lru_cache(maxsize=1024)(shown)
