"""The pinned OpenLineage release: its URLs, facets, formats, names and pinned schemas."""
