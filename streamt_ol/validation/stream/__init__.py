"""The rules over a whole stream of events: facts of one event, state of a part, findings."""
