"""Which key became which (law 2), and which tool was named (law 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from selfcorrect.kernel.joint import Slots, assigned, is_told_apart, renamed_tool
from selfcorrect.kernel.likeness import (
    Naming,
    bare_tool,
    is_behind_namespace,
    is_dispatcher,
    is_nearest,
    is_placeholder,
    is_spelled,
    tool_likeness,
)
from selfcorrect.kernel.spellings import EXACT, INFERRED
from selfcorrect.kernel.verdicts import Path, Step
from selfcorrect.kernel.wrappers import NAMERS
from selfcorrect.model import JSON, Safety
from selfcorrect.text import LONGEST_TYPO, distance, normal, spelling

_MARK: Final = 200


def key_class(step: Step, written: Path, runs: Path, *, slips: bool) -> Safety | None:
    """How certain a written key became the one that runs; None where it says something else.

    Args:
        step: What is judged.
        written: The way to the key that was written.
        runs: The way to the one that runs.
        slips: Whether names are compared by their letters, which costs more.
    """
    key, name = str(written[-1]), str(runs[-1])
    ours, theirs = written[:-1], runs[:-1]
    if _items(ours) != _items(theirs):
        return None  # what one item of a list holds stays in it
    slot, own = step.slot(runs), step.slot(written)
    if ours != theirs and not _is_lower(step, written, runs):
        joined = "_".join(map(str, written[len(theirs) :]))
        return INFERRED if ours[: len(theirs)] == theirs and is_spelled(joined, name) else None
    if key == name:
        return EXACT if ours == theirs else INFERRED
    if own.declared:
        return None  # a word that the schema declares is that parameter
    if step.words.mean(key, name):
        return INFERRED
    if is_spelled(key, name) or not slips:
        return EXACT if is_spelled(key, name) else None
    taken = held(step.written.args, theirs)
    names = [one for one in step.slot(theirs).names if one != name]
    absent = [one for one in names if one not in taken]
    # A name that was written as well is meant by nothing else, unless it is the nearer one.
    edits = distance(key, name, LONGEST_TYPO)
    if edits and any(distance(key, one, edits - 1) is not None for one in names if one in taken):
        return None
    if is_nearest(key, name, Naming(absent, step.topic, slot.required, step.acts)):
        return INFERRED
    if theirs not in step.renames:
        step.renames[theirs] = assigned(taken, step.slot, theirs) or {}
    is_one = is_placeholder(key) and slot.required
    others = (one for one in absent if step.slot((*theirs, one)).required)
    is_meant = step.renames[theirs].get(key) == name or (is_one and next(others, None) is None)
    return INFERRED if is_meant else None


def _is_lower(step: Step, written: Path, runs: Path) -> bool:
    """Whether a key that is unknown where it stood is declared in one object further down.

    Never the other way: what stood under a word of its own (`{"refund": {"amount": 5}}`) was
    said of that word.
    """
    ours, theirs = written[:-1], runs[:-1]
    if written[-1] != runs[-1] or theirs[: len(ours)] != ours or step.slot(written).declared:
        return False
    others = (one for one in step.slot(ours).names if (*ours, one) != runs[: len(ours) + 1])
    homes = [one for one in others if runs[-1] in step.slot((*ours, one)).names]
    return step.slot(runs).declared and not homes


def _items(path: Path) -> list[int]:
    return [token for token in path if isinstance(token, int)]


def marks(path: Path, value: JSON) -> tuple[str, str]:
    """What two places have in common that may be one: the words of the key, the value."""
    return f"key {path[:-1]} {spelling(str(path[-1]))}", f"value {repr(value)[:_MARK]}"


def held(args: Mapping[str, JSON], path: Path) -> Mapping[str, JSON]:
    """The object on the way to a place; an empty one where there is none."""
    found: Any = args
    for token in path:
        try:
            found = found[token]
        except (LookupError, TypeError):
            return {}
    return found if isinstance(found, dict) else {}


def asks_for_all(slots: Slots, args: Mapping[str, JSON], path: Path) -> bool:
    """Whether an object must have all that is declared for it, and has nothing else.

    What asks for one argument of several, and has a default for it, asks for somebody's word; and
    an unknown key may be the missing one, misspelt.
    """
    names = slots(path).names
    is_known = held(args, path).keys() <= {*names}
    return is_known and all(slots((*path, name)).required for name in names)


def tool_class(step: Step) -> Safety | None:
    """How certain the tool that would run is the one that was named; None where it is another."""
    written, runs = step.written.name, step.runs.name
    alike = tool_likeness(written, runs, step.offered, acts=step.acts, declared=step.declared)
    # What destroys something is called by its own words alone: any other may mean another tool.
    if alike is EXACT or step.effect == "destructive":
        return alike if alike is EXACT else None
    near = INFERRED if alike is None and _is_renamed(step) else alike
    if is_behind_namespace(bare_tool(written), runs):
        # Of a name without its namespace, the arguments have to say that it is this tool's.
        near = near if step.runs.args.keys() <= {*step.slot(()).names} else None
    elif near is not None and step.acts:
        near = near if is_told_apart(written, runs) else None
    inner = [value for key, value in step.written.args.items() if key in NAMERS]
    if near is not None or (is_dispatcher(written) and inner == [runs]):
        return INFERRED
    # Of a call without a name the arguments say which tool is meant, if one takes them.
    return INFERRED if not normal(written) and [*step.takes()] == [runs] else None


def _is_renamed(step: Step) -> bool:
    """Whether spelling and structure agree that the named tool has another name now.

    What destroys something is not called by its likeness to anything.
    """
    if step.offers is None or step.foreign or step.effect == "destructive":
        return False
    written = step.written
    found = renamed_tool(written.name, written.args, step.offered, step.offers, lambda _: step.acts)
    return found == step.runs.name
