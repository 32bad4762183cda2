"""OpenLineage for streamt projects: export, validate, deliver, report runs."""

__version__ = "0.1.0"
