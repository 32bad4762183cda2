"""Senders: what carries accepted events to a receiver, one module for each way."""
