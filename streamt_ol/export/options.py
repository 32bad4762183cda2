"""The options of an export."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from streamt_ol.problems import USAGE, StreamtOlError


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """The source of the manifest, and what the export needs beside it. None: not given.

    ``manifest`` is the name of a compiled manifest; ``-`` is standard input. ``project_dir`` is
    the folder of a project that is read instead, and ``env`` its environment. Exactly one of
    the two sources is given. Raises E500 otherwise.
    """

    manifest: str | None = None
    project_dir: str | None = None
    env: str | None = None
    job_namespace: str | None = None
    kafka_namespace: str | None = None
    gateway_namespace: str | None = None
    event_time: str | None = None

    def __post_init__(self) -> None:
        if self.manifest is not None and self.project_dir is not None:
            message = "a manifest and a project are both given"
            raise StreamtOlError(USAGE, message, location="project_dir")
        if self.manifest is None and self.project_dir is None:
            raise StreamtOlError(USAGE, "no manifest and no project is given", location="manifest")
        if self.env is not None and self.project_dir is None:
            message = "only a project has environments to choose from"
            raise StreamtOlError(USAGE, message, location="env")

    def given(self) -> dict[str, str | None]:
        """Return the options that have a value, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}
