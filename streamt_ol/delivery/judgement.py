"""The verdict about one event before it is sent: the same one for `send`, `forward` and `check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamt_ol.delivery.outcome import ACCEPTED, DEPENDS, REFUSED, Verdict
from streamt_ol.delivery.receivers.acceptance import Candidate
from streamt_ol.delivery.validity import Fault, Validity, said

if TYPE_CHECKING:
    from streamt_ol.delivery.items import Item
    from streamt_ol.delivery.receivers.receiver import Receiver


def judge(
    receiver: Receiver, candidate: Candidate, faults: tuple[Fault, ...], validity: Validity
) -> Verdict:
    """Return what ``receiver`` does with an event in which ``faults`` were found.

    A verdict that rests on validation names its rules; what else is found becomes notes.
    """
    if not faults:
        return receiver.acceptance(candidate)
    refusing = validity.refusing(faults, core=receiver.requires_core)
    if refusing:
        rules = tuple(dict.fromkeys(fault.rule for fault in refusing))
        return Verdict(REFUSED, (said(refusing),), rules=rules)
    verdict = receiver.acceptance(candidate)
    if receiver.asks_for_core and verdict.status == ACCEPTED:
        verdict = _asked(verdict, tuple(fault for fault in faults if fault.is_core))
    notes = tuple(f"`validate` finds {fault}" for fault in faults)
    return verdict._replace(notes=(*verdict.notes, *notes))


def _asked(verdict: Verdict, faults: tuple[Fault, ...]) -> Verdict:
    """Return the verdict of a receiver that asks for the core schema; its answer is not known."""
    if not faults:
        return verdict
    reasons = tuple(f"it asks for events of the specification: {fault}" for fault in faults)
    return verdict._replace(status=DEPENDS, reasons=reasons)


def judged(
    receiver: Receiver, item: Item, size: int, validity: Validity
) -> tuple[Verdict, tuple[Fault, ...]]:
    """Return the verdict about an event of ``size`` bytes, and its faults."""
    faults = validity.faults(item)
    return judge(receiver, Candidate(item, size), faults, validity), faults
