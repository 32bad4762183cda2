"""The fast path: accept what is certainly right, without a word; a refusal only asks `explain`."""
