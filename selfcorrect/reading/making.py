"""Which of the calls in a text are made: for where they stand, and for what their tools do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from selfcorrect.kernel.calls import whole
from selfcorrect.kernel.covering import GOES_ON
from selfcorrect.kernel.metadata import ended
from selfcorrect.kernel.standing import Standing, classes
from selfcorrect.kernel.verdicts import Step
from selfcorrect.protocols import TextPolicy
from selfcorrect.reading.choosing import Found, once
from selfcorrect.reading.contract import (
    MOST_CALLS,
    Candidate,
    Deviation,
    Fault,
    Oddity,
    Offered,
)
from selfcorrect.reading.outcome import Asked, Reading, broken_at, malformed, no_call_in
from selfcorrect.schema.slots import slots_of

_NOT_MADE: Final = "the text holds a call; it was not made"


def made(found: Found, tools: Offered, asked: Asked, *, in_context: bool) -> Reading:
    """The calls that are made, of those that were found, or why none is."""
    calls, text = found.calls, found.text
    if not calls:
        return Reading((), no_call_in(text))
    if len(calls) > MOST_CALLS:
        many = f"the text holds more than {MOST_CALLS} calls"
        return Reading((), malformed("several_calls", many))
    standing = Standing(text, found.written)
    broken = next((call for call in calls if call.fault is not None), None)
    if broken is not None and broken.fault is not None:
        talk = not broken.fault.cut and standing.before(calls[0].start)
        if talk and not tools.only_reads(broken.name):
            return Reading((), malformed("no_call", _NOT_MADE), wordy=True)
        return Reading((), broken_at(text, broken.fault), wordy=not standing.alone())
    if _is_cut(found, tools, asked):
        return Reading((), broken_at(text, Fault(len(text), GOES_ON, cut=True)))
    return _standing(found, tools, asked.policy, in_context=in_context)


def _standing(found: Found, tools: Offered, policy: TextPolicy, *, in_context: bool) -> Reading:
    """The calls that stand where they have to, for what their tools do."""
    calls, text = found.calls, found.text
    reads = all(tools.only_reads(call.name) for call in calls)
    # The kernel refuses it as well; here such a text is handed on as the answer that it may be.
    destroys = any(tools.effect_of(call.name) == "destructive" for call in calls)
    edge = policy.text == "edge" and (in_context or not destroys)
    certain = classes(text, found.written, reads=reads, edge=edge)
    if Standing(text, found.written).alone():
        return _noted(calls, Deviation(0, "markup around the call", Oddity.WRAPPING))
    around = Deviation(0, "words around the call", Oddity.WRAPPING)
    made = [call for call, safety in zip(found.written, certain, strict=True) if safety]
    # Of a call that is written again where it may be made, the first is no mention of it.
    if reads:
        starts = {one.start for one in made}
        made = [call for call in calls if call.start in starts]
    if made:
        return replace(_noted(once(made), around), wordy=True)
    return Reading((), malformed("no_call", _NOT_MADE), wordy=True, doubted=calls)


def _noted(calls: Iterable[Candidate], note: Deviation) -> Reading:
    return Reading(tuple(replace(each, deviations=(*each.deviations, note)) for each in calls))


def _is_cut(found: Found, tools: Offered, asked: Asked) -> bool:
    """Whether more may have followed in the last call, or behind it, as the kernel sees it."""
    text, last = found.text, found.calls[-1]
    step = Step(
        last.call,
        last.call,
        slots_of({}),
        effect=tools.effect_of(last.name),
        ended=ended(asked.finish_reason),
        extents=found.written,
        keys=asked.keys.own,
    )
    return whole(step, text).left == GOES_ON
