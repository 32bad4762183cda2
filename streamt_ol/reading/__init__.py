"""Input as it comes: opened, decompressed, split and parsed, with its location."""
