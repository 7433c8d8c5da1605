"""suggest-alternative: what the tool itself, or a hook of its own, proposes instead."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, get_args

from selfcorrect.kernel.texts import quoted
from selfcorrect.kernel.verdicts import FOLLOWS
from selfcorrect.model import (
    JSON,
    Call,
    Change,
    Changed,
    Diagnosis,
    GiveUp,
    Repair,
    Safety,
    edit,
)
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.places import place_of
from selfcorrect.text import VALUE_SLIP, is_spelling_of, spelling, tokens, typo

_MOST = 100
_PROPOSED: Final = "the alternative that is proposed"
_UNLIKE: Final = "the suggestion does not resemble what was written"


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

    name = "suggest-alternative"
    safety = (*FOLLOWS, Safety.LOSSY, Safety.MODEL)
    needs = "nothing"

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
    several = isinstance(answer, list | tuple | set | frozenset)
    options = list(answer)[:_MOST] if several else [answer]
    if options and all(isinstance(one, Change) for one in options):
        return Changed(options)
    place = place_of(call, diagnosis.finding, context)
    if isinstance(place, GiveUp):
        return place
    if len(options) != 1:
        return _none_or_many(options)
    claim = None if _resembles(place.value, options[0]) else Safety.LOSSY
    return place.mend(options[0], _PROPOSED, claim)


def _own_suggestion(call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
    options = list(diagnosis.finding.suggestions)[:_MOST]
    if len(options) != 1:
        return _none_or_many(options)
    if diagnosis.finding.path == "/name":
        return _other_tool(call, options[0], context)
    place = place_of(call, diagnosis.finding, context)
    if isinstance(place, GiveUp):
        return place
    # Another city than the one that was asked for is nothing to approve: the next rung is asked.
    if not _resembles(place.value, options[0]):
        return GiveUp(_UNLIKE)
    return place.mend(options[0], _PROPOSED)


def _other_tool(call: Call, name: JSON, context: RepairContext) -> Repair:
    if not isinstance(name, str) or name not in context.tools or name == call.name:
        return GiveUp("the suggested tool is not on offer")
    if spelling(name) != spelling(call.name) and typo(call.name, name) is None:
        return GiveUp(_UNLIKE)
    return Changed(edit("/name", call.name, name, _PROPOSED))


def _resembles(value: JSON, other: JSON) -> bool:
    """Whether a suggested value may be the one that was meant."""
    if not isinstance(value, str) or not isinstance(other, str):
        return False
    if is_spelling_of(value, other) or typo(value, other, VALUE_SLIP) is not None:
        return True
    return set(tokens(value)) == set(tokens(other)) != set()


def _none_or_many(options: Iterable[Any]) -> GiveUp:
    listed = ", ".join(quoted(str(one), 60) for one in list(options)[:5])
    return GiveUp(f"several alternatives are proposed: {listed}" if listed else "none is proposed")
