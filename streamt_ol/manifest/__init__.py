"""The compiled manifest: its shape, and the part of it that lineage reads."""
