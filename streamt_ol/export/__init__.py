"""Export as a use case: options in, canonical events out.

The commands ``export``, ``graph`` and ``diff`` and the Python interface share it. ``options``
names what is read and how; ``canonical`` runs the pipeline up to the canonical state, and
writes it. Nothing here knows flags or exit statuses.
"""
