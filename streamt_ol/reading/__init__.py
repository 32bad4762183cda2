"""Inputs as they come: one reader of events, of whole documents, of JSON and of YAML.

A stream of events (``validate``, ``send``, ``check``, any number of bytes)::

    with opening.open_input(name) as stream:          # a file, a pipe, "-"; never a device
        for event in raw_events(chunks(blocks(stream))):
            event.fault      # None, or a Fault: kind, message (safe to show), pointer, line
            event.data       # the text of one event: no blanks around it, no byte order mark
            event.line       # where it begins, from 1; event.offset: bytes before it, decompressed
            event.pointer    # "/7" for an element of an array, else ""
            strict_json.parse(event.data)    # its value, and faults: duplicate keys, numbers, ...

``blocks`` decompresses gzip and zstd by what the bytes are; ``chunks`` tells JSON Lines from an
array and from pretty-printed events. ``chunks`` alone gives whole lines, for who is in a hurry.
``json_scan.compact`` puts an event of several lines on one, numbers and escapes unchanged.
``sources.Inputs`` reads several inputs as one stream of positions.

A whole document within a bound: ``files.read_file`` (or ``read_input``, where "-" is standard
input), then ``strict_json.loads`` or ``strict_yaml.parse_yaml``;
``files.read_configuration`` for a small YAML file of settings.
A fault is a value here; `validate` makes findings of it, `send` and `check` refusals.
"""
