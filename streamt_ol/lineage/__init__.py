"""Lineage compared: what differs between two lists of events."""
