"""Delivery: the transport boundary, receivers, send, forward, check; against real peers."""
