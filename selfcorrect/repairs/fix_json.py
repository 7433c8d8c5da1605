"""fix-json: reads a call, or its arguments, from the text that a model wrote."""

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from selfcorrect.model import (
    JSON,
    Call,
    Change,
    Changed,
    Diagnosis,
    GiveUp,
    JsonObject,
    Repair,
    Safety,
    frozen,
)
from selfcorrect.pointer import ARGS
from selfcorrect.protocols import RepairContext, tools_named
from selfcorrect.reading.call_object import is_cut
from selfcorrect.reading.choose import Chosen, Unreadable, may_read
from selfcorrect.reading.json_calls import USUAL_KEYS, ToolCallKeys, decode_arguments
from selfcorrect.reading.json_text import CLOSERS, NOTATION
from selfcorrect.reading.literals import JsonTextError
from selfcorrect.reading.text_call import TextCall

_DOUBTS = frozenset({"comment", "inner closer", "inner quote"})
"""What was cut off, holds words or ends nowhere for sure: no tool that acts is called on it."""
_FENCE = re.compile(r"\s*```\w*\n(.*?)\n?```\s*", re.DOTALL)


@frozen
class FixJson:
    """Read broken JSON, Python's notation and markup; what may be cut off is never completed.

    A context reads texts with the keys that the rules of its map name.

    Attributes:
        id_keys: More keys under which a call may hold its id.
        name_keys: More keys under which it may hold the tool's name.
        arguments_keys: More keys under which it may hold its arguments.
    """

    id_keys: Sequence[str] = ()
    name_keys: Sequence[str] = ()
    arguments_keys: Sequence[str] = ()

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        text: Any = call.args
        if not isinstance(text, str):
            return GiveUp("the arguments are not text")
        if call.name:
            return _read_arguments(call, text, context)
        chosen = context.read(text)
        if isinstance(chosen, Unreadable):
            return GiveUp(chosen.reason)
        if not isinstance(chosen, Chosen) or (context.index or 0) >= len(chosen.calls):
            return GiveUp("the text holds no call")
        if context.index is None and len(chosen.calls) > 1:
            # The others would be dropped in silence.
            return GiveUp(f"it holds {len(chosen.calls)} calls, and `index` names none of them")
        written = chosen.calls[context.index or 0]
        is_acting = any(_may_act(each.name, context) for each in chosen.calls)
        if not may_read(chosen, context.reading, acts=is_acting):
            return GiveUp("words stand around the call")
        return _take(written, call, chosen.around, context)


def _read_arguments(call: Call, text: str, context: RepairContext) -> Repair:
    fence = _FENCE.fullmatch(text)
    try:
        read = decode_arguments(fence[1] if fence else text)
    except JsonTextError as error:
        return GiveUp(str(error))
    skipped = ("fence", *read.skipped) if fence else read.skipped
    return _take(TextCall(call.name, read.value, (), skipped), call, "", context)


def _take(written: TextCall, call: Call, around: str, context: RepairContext) -> Repair:
    """Return the changes that make a call of what was read."""
    skipped = frozenset(written.skipped)
    if is_cut(context.finish_reason) and skipped & CLOSERS:
        return GiveUp("the text was cut off at the limit of tokens")
    if _may_act(written.name, context) and skipped & _DOUBTS:
        return GiveUp(f"there is a doubt about the text: {', '.join(sorted(skipped & _DOUBTS))}")
    args = _bind(written, context)
    if not isinstance(args, Mapping):
        return GiveUp("the arguments are not an object")
    is_sure = skipped <= NOTATION and not around and not written.positional
    safety = Safety.EXACT if is_sure else Safety.INFERRED
    reason = f"read with {', '.join(sorted(skipped))}" if skipped else "read from the text"
    # The reading is kept for whoever asks again: what runs is a copy.
    changes = [Change(ARGS, call.args, deepcopy(dict(args)), safety, reason)]
    if written.name != call.name:
        changes.insert(0, Change("/name", "", written.name, Safety.EXACT, "read from the text"))
    return Changed(changes)


def _bind(written: TextCall, context: RepairContext) -> JSON:
    """Give values without a name the arguments in the schema's order."""
    if not written.positional or not isinstance(written.arguments, Mapping):
        return written.arguments
    tools = tools_named(written.name, context.tools)
    places = tools[0].arguments.properties if tools else {}
    first = written.positional[0]
    if isinstance(first, Mapping) and len(written.positional) == 1 and first.keys() & set(places):
        return None if first.keys() & written.arguments.keys() else {**first, **written.arguments}
    bound = dict(zip(places, written.positional, strict=False))
    free = [place for name, place in places.items() if name not in {*bound, *written.arguments}]
    # A value whose place is named as well, or that fits another place instead, is out of order.
    is_torn = any(
        not places[name].accepts(value) and any(place.accepts(value) for place in free)
        for name, value in bound.items()
    )
    if len(bound) < len(written.positional) or bound.keys() & written.arguments.keys() or is_torn:
        return None
    return {**bound, **written.arguments}


def _may_act(name: str, context: RepairContext) -> bool:
    """Say whether a tool that a name means acts, or none is known."""
    tools = tools_named(name, context.tools)
    return not tools or any(each.acts for each in tools)


def call_keys(options: Iterable[JsonObject]) -> ToolCallKeys:
    """Return the keys of calls, with those that the rules' options name for this strategy."""
    keys = USUAL_KEYS
    for each in options:
        for option, names in each.get("fix-json", {}).items():
            part = option.removesuffix("_keys")
            more: Any = {part: (*getattr(keys, part), *names)}
            keys = replace(keys, **more)
    return keys
