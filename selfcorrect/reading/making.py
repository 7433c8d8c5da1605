"""Which of the calls in a text are made: for where they stand, and for what their tools do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from selfcorrect.effects import destroys
from selfcorrect.model import Safety
from selfcorrect.protocols import TextPolicy
from selfcorrect.reading.choosing import once
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
from selfcorrect.reading.standing import Standing, commented, end_of_turn

_GOES_ON: Final = "the text may go on where it ends"
_NOT_MADE: Final = "the text holds a call; it was not made"


class Found(NamedTuple):
    """What was found in a text: see `choose`."""

    calls: tuple[Candidate, ...]
    written: tuple[Candidate, ...]
    text: str


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
    return _standing(found, standing, tools, policy, in_context=in_context)


def _standing(
    found: Found, standing: Standing, tools: Offered, policy: TextPolicy, *, in_context: bool
) -> Reading:
    """The calls that stand where they have to, for what their tools do."""
    calls, text = found.calls, found.text
    reads_only = all(tools.only_reads(call.name) for call in calls)
    remarked = any(has(call.deviations, Oddity.COMMENT) for call in calls) and not reads_only
    if standing.alone() and not remarked:
        return _noted(calls, Deviation(0, "markup around the call", Safety.EXACT, Oddity.WRAPPING))
    around = Deviation(0, "words around the call", Safety.INFERRED, Oddity.WRAPPING)
    if reads_only:
        hidden = commented(text, found.written)
        own = [call for call in calls if standing.own_lines(call) and call not in hidden]
        if own:
            return replace(_noted(own, around), wordy=True)
    elif policy.text == "edge" and not remarked and (in_context or not _destroy(calls, tools)):
        end = end_of_turn(text, found.written)
        before = [call for call in found.written if call.start < end]
        if block := standing.at_edge(before, end):
            return replace(_noted(once(block), around), wordy=True)
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
