"""Delivery: which receivers there are, what each takes, and how events reach them.

A line of the input becomes an ``Item``; a receiver's rules give it a ``Verdict`` before anything
is sent; a ``Sender`` turns the accepted ones into ``Outcome`` values. All three are plain values.
"""
