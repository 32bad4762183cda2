"""The transport boundary: where an event's bytes leave this process, and nothing else.

Implements "Transport boundary" of the specification. Use it in three steps, the first two
before anything irreversible happens::

    config = read_transport_config(os.environ)   # streamt_ol.transport.config
    transport = config.open()
    transport.emit(b'{"eventTime":...}')         # raises DeliveryError

Every one of these takes its environment, clock, and sleep as arguments.
"""
