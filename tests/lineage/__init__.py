"""Tests of the graph of lineage, its pictures, and the difference of two."""
