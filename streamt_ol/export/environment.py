"""Namespaces from environment variables, where no option gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from streamt_ol.openlineage.names import NAMESPACE_VARIABLES
from streamt_ol.problems import StreamtOlError


def with_environment(
    given: Mapping[str, str | None], environ: Mapping[str, str]
) -> dict[str, str | None]:
    """Return the options of the pipeline: ``given``, else a namespace's variable of ``environ``.

    A variable that is set to nothing is a choice, too; it fails where it is used instead of
    falling through to a derived value.
    """
    options: dict[str, str | None] = {
        name: value for name, value in given.items() if value is not None
    }
    for name, variable in NAMESPACE_VARIABLES.items():
        if name not in options and variable in environ:
            options[name] = environ[variable]
    return options


@contextmanager
def variable_named(given: Mapping[str, str | None], environ: Mapping[str, str]) -> Iterator[None]:
    """Add to an error about a namespace that its value came from an environment variable."""
    try:
        yield
    except StreamtOlError as error:
        name = error.location or ""
        variable = NAMESPACE_VARIABLES.get(name)
        if variable is not None and variable in environ and given.get(name) is None:
            error.suggestion = f"the value came from the environment variable {variable}"
        raise
