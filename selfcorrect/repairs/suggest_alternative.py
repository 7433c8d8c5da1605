"""suggest-alternative: what the tool itself, or a hook of its own, proposes instead."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

from selfcorrect.model import (
    JSON,
    Call,
    Change,
    Changed,
    Diagnosis,
    GiveUp,
    Repair,
    Safety,
)
from selfcorrect.protocols import RepairContext
from selfcorrect.redaction import quoted
from selfcorrect.schema.places import Place, place_of
from selfcorrect.text import VALUE_SLIP, is_spelling_of, spelling, tokens, typo

_MOST = 100


@dataclass(frozen=True, slots=True)
class SuggestAlternative:
    """Takes the one alternative that is proposed, if there is exactly one.

    A hook knows the tool: it answers with a repair (which may choose another tool, by a change of
    `/name`) or with values to put in place of the one at fault. Without a hook the error's own
    suggestion is taken, but only where it resembles what was written; several are refused.

    Attributes:
        hook: Called with the call, the diagnosis and the context, sync or async.

    >>> from selfcorrect.model import Finding
    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"city": {"type": "string"}}}
    >>> unknown = Finding("no such city", paths=("/args/city",), suggestions=("Berlin",))
    >>> try_strategy(SuggestAlternative(), schema, {"city": "berlin"}, unknown).changes[0].after
    'Berlin'
    """

    name: ClassVar[str] = "suggest-alternative"
    safety: ClassVar[tuple[Safety, ...]] = (
        *(Safety.EXACT, Safety.INFERRED, Safety.LOSSY, Safety.MODEL),
    )
    needs: ClassVar[str] = "nothing"

    hook: Callable[[Call, Diagnosis, RepairContext], Any] | None = None

    def __call__(
        self, call: Call, diagnosis: Diagnosis, context: RepairContext
    ) -> Repair | Awaitable[Repair]:
        """Take the alternative for the first finding."""
        if self.hook is None:
            return _own_suggestion(call, diagnosis, context)
        answer = self.hook(call, diagnosis, context)
        if inspect.isawaitable(answer):
            return _later(answer, call, diagnosis, context)
        return _read(answer, call, diagnosis, context)


async def _later(
    answer: Awaitable[Any], call: Call, diagnosis: Diagnosis, context: RepairContext
) -> Repair:
    return _read(await answer, call, diagnosis, context)


def _read(answer: Any, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
    """A hook's answer as a repair."""
    if isinstance(answer, get_args(Repair)):
        repair: Repair = answer
        return repair
    if answer is None:
        return GiveUp("the hook proposes nothing")
    if isinstance(answer, Change):
        return Changed(answer)
    several = isinstance(answer, list | tuple | set | frozenset)
    options = list(answer)[:_MOST] if several else [answer]
    if options and all(isinstance(one, Change) for one in options):
        return Changed(options)
    place = place_of(call, diagnosis.finding, context)
    if isinstance(place, GiveUp):
        return place
    if len(options) != 1:
        return _none_or_many(options)
    return _put(place, options[0], Safety.LOSSY)


def _own_suggestion(call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
    options = list(diagnosis.finding.suggestions)[:_MOST]
    if len(options) != 1:
        return _none_or_many(options)
    if diagnosis.finding.path == "/name":
        return _other_tool(call, options[0], context)
    place = place_of(call, diagnosis.finding, context)
    if isinstance(place, GiveUp):
        return place
    if _likeness(place.value, options[0]) is None:
        return GiveUp("the suggestion does not resemble what was written")
    return _put(place, options[0], Safety.INFERRED)


def _put(place: Place, value: JSON, otherwise: Safety) -> Repair:
    safety = _likeness(place.value, value) or otherwise
    return place.mend(value, safety, "the alternative that is proposed")


def _other_tool(call: Call, name: JSON, context: RepairContext) -> Repair:
    if not isinstance(name, str) or name not in context.tools or name == call.name:
        return GiveUp("the suggested tool is not on offer")
    if context.tools[name].effect == "destructive":
        return GiveUp("a call is never renamed onto a destructive tool")
    safety = Safety.EXACT if spelling(name) == spelling(call.name) else None
    if safety is None and typo(call.name, name) is not None:
        safety = Safety.INFERRED
    if safety is None:
        return GiveUp("the suggestion does not resemble what was written")
    return Changed(Change("/name", call.name, name, safety, "the tool that is proposed"))


def _likeness(value: JSON, other: JSON) -> Safety | None:
    """How surely a suggested value is the one that was meant, or None if it is another."""
    if not isinstance(value, str) or not isinstance(other, str):
        return None
    if is_spelling_of(value, other):
        return Safety.EXACT
    if typo(value, other, VALUE_SLIP) is not None:
        return Safety.INFERRED
    ours, theirs = set(tokens(value)), set(tokens(other))
    return Safety.INFERRED if ours and ours == theirs else None


def _none_or_many(options: Iterable[Any]) -> GiveUp:
    listed = ", ".join(quoted(str(one), 60) for one in list(options)[:5])
    return GiveUp(f"several alternatives are proposed: {listed}" if listed else "none is proposed")
