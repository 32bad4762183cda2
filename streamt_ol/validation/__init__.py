"""Check OpenLineage events offline: the fast path, the reference validator's words, the rules."""
