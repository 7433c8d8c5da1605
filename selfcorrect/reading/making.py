"""Which of the calls in a text are made: for where they stand, and for what their tools do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from selfcorrect.effects import destroys
from selfcorrect.kernel.standing import Standing, classes
from selfcorrect.protocols import TextPolicy
from selfcorrect.reading.choosing import Found, once
from selfcorrect.reading.contract import (
    MOST_CALLS,
    Candidate,
    Deviation,
    Ending,
    Fault,
    Oddity,
    Offered,
    has,
)
from selfcorrect.reading.outcome import Reading, broken_at, malformed, no_call_in

_GOES_ON: Final = "the text may go on where it ends"
_NOT_MADE: Final = "the text holds a call; it was not made"


def made(
    found: Found, tools: Offered, ending: Ending, policy: TextPolicy, *, in_context: bool
) -> Reading:
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
    if not ending.complete and _may_go_on(text, calls, tools):
        return Reading((), broken_at(text, Fault(len(text), _GOES_ON, cut=True)))
    return _standing(found, tools, policy, in_context=in_context)


def _standing(found: Found, tools: Offered, policy: TextPolicy, *, in_context: bool) -> Reading:
    """The calls that stand where they have to, for what their tools do."""
    calls, text = found.calls, found.text
    reads = all(tools.only_reads(call.name) for call in calls)
    # The kernel refuses it as well; here such a text is handed on as the answer that it may be.
    edge = policy.text == "edge" and (in_context or not _destroy(calls, tools))
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


def _destroy(calls: Iterable[Candidate], tools: Offered) -> bool:
    found = (tools.meant(call.name) for call in calls)
    return any(tool is not None and destroys(tool) for tool in found)


def _may_go_on(text: str, calls: Sequence[Candidate], tools: Offered) -> bool:
    """Whether a text may be cut off behind its last call, or in a call that destroys something."""
    behind = text[calls[-1].end :].strip()
    if behind == "," and text.lstrip().startswith("["):
        return True
    tool = tools.meant(calls[-1].name)
    added = has(calls[-1].deviations, Oddity.CLOSER_MISSING)
    return not behind and added and tool is not None and destroys(tool)
