"""OpenLineage 1.53.0: its facets, formats, names and pinned schemas."""
