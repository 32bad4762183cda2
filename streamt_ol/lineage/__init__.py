"""Lineage as a graph of datasets, jobs and columns: built from events, selected, drawn, compared.

Everything here takes and returns plain events or graphs; where they come from, and which options
chose them, is for the command line.
"""
