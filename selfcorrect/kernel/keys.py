"""Which key became which: law 2, and which values may be compared at all."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from selfcorrect.kernel.likeness import Naming, is_placeholder, is_spelled, key_likeness
from selfcorrect.kernel.spellings import EXACT, INFERRED
from selfcorrect.kernel.verdicts import Path, Step
from selfcorrect.model import Safety
from selfcorrect.text import LONGEST_TYPO, distance


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
    taken = _beside(step, theirs)
    names = [one for one in step.slot(theirs).names if one != name]
    absent = [one for one in names if one not in taken]
    # A name that was written as well is meant by nothing else, unless it is the nearer one.
    edits = distance(key, name, LONGEST_TYPO)
    if edits and any(distance(key, one, edits - 1) is not None for one in names if one in taken):
        return None
    alike = key_likeness(key, name, Naming(absent, step.topic, slot.required, step.acts))
    if alike is None and is_placeholder(key) and slot.required:
        is_lone = not any(step.slot((*theirs, one)).required for one in absent)
        return INFERRED if is_lone else None
    return alike


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


def _beside(step: Step, path: Path) -> Collection[str]:
    """The keys that were written in an object."""
    found: Any = step.written.args
    for token in path:
        try:
            found = found[token]
        except (LookupError, TypeError):
            return ()
    return found.keys() if isinstance(found, dict) else ()
