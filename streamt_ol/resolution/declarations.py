"""The declarations of a manifest: its sources and models under their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from streamt_ol.contracts import ProjectedColumn
from streamt_ol.openlineage.names import is_encodable
from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.redaction import shown


class Declaration(NamedTuple):
    """A source or a model: ``kind``, ``name``, where it stands, and what stands there."""

    kind: str
    name: str
    place: str
    body: dict[str, Any]


class Declarations:
    """All sources and models by name. Raises E506 for blank names and for a name used twice."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self.sources: dict[str, Declaration] = {}
        self.models: dict[str, Declaration] = {}
        for kind, into in (("source", self.sources), ("model", self.models)):
            for index, body in enumerate(manifest.get(f"{kind}s") or ()):
                self._add(Declaration(kind, body["name"], f"/{kind}s/{index}", body), into)

    def _add(self, declaration: Declaration, into: dict[str, Declaration]) -> None:
        name, place = declaration.name, declaration.place
        required_name(name, f"{place}/name")
        earlier = self.sources.get(name) or self.models.get(name)
        if earlier is not None:
            raise StreamtOlError(
                INVALID,
                f"the name {shown(name)} is already used by the {earlier.kind} at {earlier.place}",
                location=place,
            )
        into[name] = declaration

    def named(self, name: str) -> Declaration | None:
        """Return the source or the model with this name."""
        return self.sources.get(name) or self.models.get(name)


def required_name(name: str, place: str) -> str:
    """Return ``name`` unchanged, or raise E506 for a blank or unencodable one."""
    if not name.strip():
        raise StreamtOlError(INVALID, "the name is blank", location=place)
    if not name.isascii() and not is_encodable(name):
        raise StreamtOlError(INVALID, "the name is not valid Unicode", location=place)
    return name


def documented(declaration: Declaration) -> dict[str, str]:
    """Return the declared ``description`` and ``owner``, each only where it says something.

    An empty one is not declared; one of nothing but whitespace is malformed (E506).
    """
    found = {}
    for field in ("description", "owner"):
        text = declaration.body.get(field)
        if text:
            if text.isspace():
                raise _whitespace(f"{declaration.place}/{field}", field)
            found[field] = text
    return found


def _whitespace(place: str, what: str) -> StreamtOlError:
    return StreamtOlError(INVALID, f"the {what} is nothing but whitespace", location=place)


def columns(declaration: Declaration) -> list[ProjectedColumn]:
    """Return the declared columns in their order; ``[]`` where none are declared.

    Implements "Schema": a contract, even an empty one, comes before a model's own columns.
    Raises E506 for a blank or repeated name and for a malformed description.
    """
    body, place = declaration.body, declaration.place
    contract = body.get("contract") if declaration.kind == "model" else None
    declared = body.get("columns") if contract is None else contract.get("columns")
    if not declared:
        return []
    place += "/columns" if contract is None else "/contract/columns"
    names: set[str] = set()
    projected: list[ProjectedColumn] = []
    for index, column in enumerate(declared):  # the most frequent object of a manifest
        name, kind, text = column["name"], column.get("type"), column.get("description")
        if name in names or not name or name.isspace() or (text and text.isspace()):
            _refuse_column(name, names, f"{place}/{index}")
        names.add(name)
        one: ProjectedColumn = {"name": name}
        if kind and not kind.isspace():
            one["type"] = kind
        if text:
            one["description"] = text
        projected.append(one)
    return projected


def _refuse_column(name: str, earlier: set[str], place: str) -> NoReturn:
    """Raise E506 for what is wrong with a column: its name, or else its description."""
    required_name(name, f"{place}/name")
    if name in earlier:
        message = f"the column name {shown(name)} stands twice"
        raise StreamtOlError(INVALID, message, location=place)
    raise _whitespace(f"{place}/description", "description")
