"""Validation of archives: in splits, on any engine that maps a function over a list.

``plan`` cuts the inputs into splits by byte range. ``check`` judges the events of one split and
divides what the stream rules must remember of them over partitions. ``merge`` joins some
partitions of all splits, and ``finish`` makes the report: the same, to the byte, as of one
process that reads everything. What passes between the steps lies in the work directory under
names that are written whole or not at all, so that the same command goes on where it stopped
and an engine needs neither a shuffle nor a cache.
"""
