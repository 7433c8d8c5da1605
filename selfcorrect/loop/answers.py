"""What strategies answer, checked before anything is made of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from selfcorrect.errors import is_control_flow
from selfcorrect.json_forms import to_json
from selfcorrect.loop.context import RunContext
from selfcorrect.model import (
    ABSENT,
    JSON,
    Ask,
    Call,
    Change,
    Changed,
    Diagnosis,
    Escalate,
    Finding,
    First,
    GiveUp,
    Repair,
    Retry,
    Safety,
    Severity,
    Terminal,
    Wait,
)
from selfcorrect.plain import as_text, clean, plain, problem, storable
from selfcorrect.pointer import apply, look, split
from selfcorrect.protocols import RepairContext
from selfcorrect.sizes import json_bytes

_MOST: Final = 8
_LONGEST: Final = 100
"""Readings of a value, and characters of one."""


def who_answered(answer: Any) -> dict[str, str]:
    """Who gave a person's answer, where it says so: `{"action": …, "by": "ann"}`."""
    by = answer.get("by") if isinstance(answer, Mapping) else None
    return {"by": clean(by[:_LONGEST])} if isinstance(by, str) and by.strip() else {}


def all_who_answered(trail: Sequence[Any] | None) -> str | None:
    """Everybody who said that an answer in this run is theirs, in order; None where nobody did."""
    said = [event.get("by") for event in trail or () if isinstance(event, Mapping)]
    names = dict.fromkeys(clean(by) for by in said if isinstance(by, str))
    return ", ".join(names)[:_LONGEST] or None


def usable_answer(answer: Any) -> Repair:
    """The answer, or a `GiveUp` that says why it cannot be used. Never raises."""
    if not isinstance(answer, Repair):
        return GiveUp(f"answered {type(answer).__name__}, which is not a Repair")
    try:
        return _checked(answer)
    except (TypeError, ValueError, AttributeError) as error:
        return GiveUp(f"answered {type(answer).__name__} that cannot be used: {as_text(error)}")


async def answered(
    strategy: Any, call: Call, diagnosis: Diagnosis, given: RepairContext, context: RunContext
) -> Repair:
    """What a strategy answers; a `GiveUp` where it raised, or its answer cannot be used."""
    try:
        answer = await context.host.call(strategy, call, diagnosis, given)
    except Exception as error:
        if is_control_flow(error):
            raise
        return GiveUp(f"raised {type(error).__name__}: {as_text(error)[:200]}")
    return usable_answer(answer)


def _checked(answer: Repair) -> Repair:
    match answer:
        case Changed(changes, extents):
            return Changed([_change(change) for change in changes], extents=extents)
        case Wait(seconds):
            return Wait(_seconds(seconds))
        case Retry(times):
            if type(times) is not int or times < 1:
                raise ValueError(f"times must be a whole number from 1 up, not {times!r}")
        case First():
            return _first(answer)
        case GiveUp(reason, readings):
            few = list(readings.items())[:_MOST]
            return GiveUp(as_text(reason), {as_text(key)[:_LONGEST]: value for key, value in few})
        case Terminal(reason):
            return Terminal(as_text(reason))
        case Escalate(reason, severity):
            return Escalate(as_text(reason), Severity(severity))
        case Ask(question, options):
            return Ask(as_text(question), tuple(options or ()))
        case _:
            pass
    return answer


def _seconds(given: Any) -> float:
    seconds = float(given)
    if not math.isfinite(seconds) or seconds < 0:
        raise ValueError(f"seconds must be a number from 0 up, not {given!r}")
    return seconds


def _first(answer: First) -> First:
    return First(
        tuple(_call(call) for call in answer.calls),
        tuple(_change(change) for change in answer.then),
        as_text(answer.told),
        None if answer.entry is None else as_text(answer.entry),
        bool(answer.suggest),
    )


def _call(call: Any) -> Call:
    if not isinstance(call, Call) or call.raw is not None or not isinstance(call.name, str):
        raise TypeError("a call that comes first is a Call with a name and arguments")
    if (wrong := problem(call.args)) is not None or not storable(call.args):
        raise ValueError(f"{call.name}: {wrong[1] if wrong else 'a number of more than 64 bits'}")
    return call


def _change(change: Any) -> Change:
    if not isinstance(change, Change):
        raise TypeError(f"a change is a Change, not {type(change).__name__}")
    split(change.path)
    return replace(change, safety=Safety(change.safety), reason=as_text(change.reason))


def options_of(options: Sequence[Any], most: int) -> list[JSON]:
    """The options of a question as JSON; changes stay recognisable, alone or together.

    Together they take as many bytes as arguments may: no call could hold more.
    """
    kept = []
    for item in options:
        option = plain([to_json(item)] if isinstance(item, Change) else to_json(item))
        if (size := json_bytes(option)) <= most:
            most -= size
            kept.append(option)
    return kept


def mended(call: Call, changes: tuple[Any, ...], group: list[Finding]) -> Call | str:
    """The call after these changes, or why they cannot be made."""
    if not changes:
        return "changed nothing"
    now = call
    for change in changes:
        if look(now, change.path) != change.before:
            return f"{change.path} is not what the strategy took it for"
        if not storable(change.after):
            return f"{change.path}: a number of more than 64 bits"
        if change.after is not ABSENT and (wrong := problem(change.after)) is not None:
            return f"{change.path}: {wrong[1]}"
        if change.safety is Safety.MODEL and not _within(change.path, group):
            return f"the model changed {change.path}, which it was not asked about"
        try:
            now = apply(now, (change,))
        except (LookupError, ValueError) as error:
            return str(error)
    args: Any = now.args
    if not isinstance(args, Mapping):
        return "the arguments would no longer be an object"
    return now


def _within(path: str, group: list[Finding]) -> bool:
    """Whether a model was asked about this place; of a call that cannot be read, about all."""
    asked = [place for item in group for place in item.paths]
    return "/raw" in asked or any((path + "/").startswith(place + "/") for place in asked)
