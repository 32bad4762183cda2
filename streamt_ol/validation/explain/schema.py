"""Findings of the reference validator about one event: the core, each facet, blank names.

Only events that the fast path refused come here. Implements "Core validation alone is
insufficient" of the specification: every standard facet is validated directly against its
pinned definition, chosen by its key and its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from streamt_ol.openlineage import facets, schemas
from streamt_ol.openlineage.events import RUN_EVENT
from streamt_ol.openlineage.formats import is_blank
from streamt_ol.problems import pointer
from streamt_ol.redaction import shown
from streamt_ol.validation import walk
from streamt_ol.validation.accept.local import is_borrowed
from streamt_ol.validation.accept.schema import accepts_core, accepts_facet
from streamt_ol.validation.explain.registry import reference_validator
from streamt_ol.validation.explain.wording import FORMAT_RULES, leaves, said
from streamt_ol.validation.rules import finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamt_ol.validation.findings import Finding


def schema_findings(kind: str, event: walk.Object, *, trusting: bool = True) -> list[Finding]:
    """Return what the pinned schemas and the rule of names find in ``event`` of ``kind``.

    ``trusting`` spares the parts (the core, each facet) of which the fast path is known.
    """
    entities = walk.of_kind(kind, event)
    containers = list(walk.containers(entities))
    judged = {
        (*path, key): (facets.by_place()[place][key], facet)
        for path, place, container in containers
        for key, facet in container.items()
        if key in facets.by_place()[place] and not walk.withdrawn(place, facet)
    }
    map_ = _Map(frozenset(path for path, _, _ in containers), frozenset(judged))
    found = [
        *(() if trusting and accepts_core(kind)(event) else _core(kind, event, map_)),
        *(
            one
            for path, (standard, facet) in judged.items()
            if not (trusting and accepts_facet(standard)(facet))
            for one in _standard(path, standard, facet, map_)
        ),
        *_static(kind, event),
        *_blank(entities),
    ]
    return list(dict.fromkeys(found))


class _Map(NamedTuple):
    """The containers of facets in an event, and the facets that a schema of their own judges."""

    containers: frozenset[walk.Path]
    judged: frozenset[walk.Path]

    def rule(self, path: walk.Path, inside: walk.Path, default: str) -> str | None:
        """Return the rule for a fault at ``path``, seen from the schema of ``inside``.

        None within a standard facet that lies deeper, which is judged by its own schema;
        OL-R023 within any other facet that lies deeper.
        """
        deeper = [path[:length] for length in range(len(inside) + 1, len(path) + 1)]
        if any(prefix in self.judged for prefix in deeper):
            return None
        in_facet = any(prefix in self.containers for prefix in deeper[:-1])
        return "OL-R023" if in_facet else default


def _core(kind: str, event: walk.Object, map_: _Map) -> Iterator[Finding]:
    """Yield what the core says, except within standard facets, which are judged by their own."""
    for error in leaves(reference_validator(schemas.CORE, kind).iter_errors(event)):
        rule = map_.rule(tuple(error.absolute_path), (), "OL-R011")
        if error.validator == "not" or rule is None:
            continue  # what "not" forbids, _static says by name
        for where, message in said(error):
            yield finding(FORMAT_RULES.get(_format(error), rule), pointer(*where), message)


def _standard(
    path: walk.Path, standard: facets.StandardFacet, facet: Any, map_: _Map
) -> Iterator[Finding]:
    """Yield what the pinned schema of a standard facet says."""
    url = facet.get("_schemaURL") if walk.is_object(facet) else None
    pinned = (
        not isinstance(url, str)
        or url.partition("#")[0] == standard.schema_id
        # The schema of another facet is not another version of this one.
        or is_borrowed(standard.place, standard.key, url)
    )
    note = f" (by the pinned {standard.version}; _schemaURL is {shown(url)})"
    for error in leaves(
        reference_validator(standard.document, standard.definition).iter_errors(facet)
    ):
        rule = map_.rule((*path, *error.absolute_path), path, "OL-R021")
        format_rule = FORMAT_RULES.get(_format(error))
        for inner, message in said(error) if rule else ():
            of_base = rule == "OL-R023" or (bool(inner) and str(inner[0]).startswith("_"))
            if pinned or of_base:
                own = format_rule or ("OL-R023" if not pinned else str(rule))
                yield finding(own, pointer(*path, *inner), message)
            else:
                yield finding("OL-R022", pointer(*path, *inner), message + note)


def _format(error: Any) -> str:
    return str(error.validator_value) if error.validator == "format" else ""


def _static(kind: str, event: walk.Object) -> Iterator[Finding]:
    """Yield ``run`` and ``eventType`` in static events, whatever their value."""
    for name in ("run", "eventType"):
        if kind != RUN_EVENT and name in event:
            yield finding("OL-R020", pointer(name), f"a {kind} must not have {name!r}")


def _blank(event: walk.Object) -> Iterator[Finding]:
    """Yield the names and namespaces that are blank."""
    for path, entity in walk.named(event):
        for name in ("namespace", "name"):
            yield from _blank_text((*path, name), entity.get(name))
    for path, fields in walk.field_lists(event):
        for index, field in enumerate(fields):
            if walk.is_object(field):
                yield from _blank_text((*path, index, "name"), field.get("name"))


def _blank_text(path: walk.Path, text: object) -> Iterator[Finding]:
    if isinstance(text, str) and is_blank(text):
        yield finding("OL-R012", pointer(*path), f"expected a name, found the blank {shown(text)}")
