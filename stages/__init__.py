"""The stages of the export, one module each; installs as ``streamt_ol.stages``.

A stage is a function from a plain dict to a plain dict. No stage imports another one.
"""
