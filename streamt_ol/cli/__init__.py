"""The command line: parse options, build objects, execute. Nothing imports it."""
