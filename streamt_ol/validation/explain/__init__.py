"""Explain slowly what the fast path refused: modules have the names of those in `accept`."""
