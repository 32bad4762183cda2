"""Check OpenLineage events offline: the compiled yes, the authority's words, the rules."""
