"""The files that a delivery keeps beside its input: the checkpoint and the dead letters."""
