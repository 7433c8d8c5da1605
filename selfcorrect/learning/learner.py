"""Learning: the plans on which enough independent runs agree, as entries of a map."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from selfcorrect.learning.calls import RecordedCall
from selfcorrect.learning.history import History
from selfcorrect.learning.plans import Seen, Skeleton, Slot, seen
from selfcorrect.learning.recoveries import Failure, Recovery, failures, recovery
from selfcorrect.mapping.recalls import RecallEntry, RecallStep
from selfcorrect.recalling.named import joint_mark
from selfcorrect.recalling.template import words

SUPPORT: Final = 2
AGREEMENT: Final = 0.3
_MOST_OF_THEM: Final = 0.5
"""Where less than this went one way, most runs went another: it is told, and not done unasked."""
_MOST_PLANS: Final = 3
"""Plans that are kept for one error of one tool."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learnt.

    Attributes:
        entries: The entries, by tool and error, the most agreed on first.
        calls: Calls that were read.
        failures: How many of them failed.
        overcome: How many of these were overcome in their run.
        unvouched: Errors of which a word may be somebody's data; nothing of them is kept.
    """

    entries: tuple[RecallEntry, ...]
    calls: int = 0
    failures: int = 0
    overcome: int = 0
    unvouched: int = 0


@dataclass(slots=True)
class Error:
    """All that was seen of one error of one tool: who failed with it, and what overcame it."""

    tool: str
    text: str
    failures: list[Failure] = field(default_factory=list)
    recoveries: list[Recovery] = field(default_factory=list)


def learn(
    calls: Iterable[RecordedCall], *, support: int = SUPPORT, agreement: float = AGREEMENT
) -> Learned:
    """Learn from recorded calls; nothing is executed and nobody is asked.

    Args:
        calls: The calls of all runs, successes too, in any order.
        support: Tasks in which a plan must have mended an error; runs that share a request are
            attempts at one task.
        agreement: The share of the runs that overcame the error which the plan must have, from 0
            to 1, each task with the same weight.
    """
    history = History.of(calls)
    errors = errors_in(history)
    entries: list[RecallEntry] = []
    unvouched = 0
    said: dict[str, list[Error]] = defaultdict(list)
    for error in errors:
        said[error.text].append(error)
    for error in errors:
        plans = list(_plans(error, history, support, agreement))
        if not plans and len(said[error.text]) > 1:
            plans = list(_plans(_together(error, said[error.text]), history, support, agreement))
        if plans and not is_vouched(error, history):
            unvouched += 1
            continue
        entries += plans
    entries.sort(key=lambda each: (each.tool, each.error, -each.agreement, each.id))
    return Learned(
        tuple(entries),
        sum(1 for _ in history.calls),
        sum(len(error.failures) for error in errors),
        sum(len(error.recoveries) for error in errors),
        unvouched,
    )


def errors_in(history: History) -> list[Error]:
    """The errors of all runs, those of one tool that are the same without their values as one."""
    errors: dict[tuple[str, str], Error] = {}
    forms: dict[str, dict[int, str]] = defaultdict(dict)
    found = list(failures(history))
    for each in found:
        forms[each.run.task_id][each.place] = each.form.text
    for each in found:
        key = (each.call.tool, each.form.text)
        error = errors.setdefault(key, Error(*key))
        error.failures.append(each)
        how = recovery(each, forms[each.run.task_id])
        if how is not None:
            error.recoveries.append(how)
    return list(errors.values())


def _together(error: Error, alike: Sequence[Error]) -> Error:
    """An error of a tool with what overcame it where other tools said the very same.

    Only of tools whose calls have the same arguments: the plan speaks of them by name.
    """
    own = {tuple(sorted(each.call.arguments)) for each in error.failures}
    recoveries = [
        each
        for other in alike
        for each in other.recoveries
        if other is error or tuple(sorted(each.failure.call.arguments)) in own
    ]
    return Error(error.tool, error.text, error.failures, recoveries)


def _plans(error: Error, history: History, support: int, agreement: float) -> Iterator[RecallEntry]:
    """The plans for one error, the most agreed on first."""
    found = [each for each in (seen(how, history) for how in error.recoveries) if each]
    by_skeleton: dict[Skeleton, list[Seen]] = defaultdict(list)
    for each in found:
        by_skeleton[each.skeleton].append(each)
    plans: list[tuple[float, int, int, Skeleton, dict[Slot, str]]] = []
    for skeleton, group in by_skeleton.items():
        left = group
        for _ in range(_MOST_PLANS):
            ways, agreeing = _agreed(left)
            kin = {each.recovery.failure.run.kin for each in agreeing}
            if len(kin) < support:
                break
            share = _share(agreeing, error.recoveries)
            if share >= agreement:
                plans.append((share, len(kin), len(agreeing), skeleton, ways))
            left = [each for each in left if each not in agreeing]
    plans.sort(key=lambda plan: (-plan[0], -plan[1], -plan[2]))
    for share, tasks, runs, skeleton, ways in plans[:_MOST_PLANS]:
        yield _entry(error, skeleton, ways, (tasks, runs, share), history)


def _agreed(group: Sequence[Seen]) -> tuple[dict[Slot, str], list[Seen]]:
    """For each place the way that most recoveries can be said in, and those that then agree."""
    chosen: dict[Slot, str] = {}
    left = list(group)
    for slot in group[0].ways if group else ():
        counts: dict[str, float] = defaultdict(float)
        rank: dict[str, int] = {}
        for each in left:
            weight = 1.0 / sum(
                other.recovery.failure.run.kin == each.recovery.failure.run.kin for other in left
            )
            for place, way in enumerate(each.ways[slot]):
                counts[way] += weight
                rank[way] = min(rank.get(way, place), place)
        best = max(counts, key=lambda way: (round(counts[way], 9), -rank[way], way))
        chosen[slot] = best
        left = [each for each in left if best in each.ways[slot]]
    return chosen, left


def _share(agreeing: Sequence[Seen], recoveries: Sequence[Recovery]) -> float:
    """How much of what overcame the error went this way, each task with the same weight."""
    went: Counter[str] = Counter(each.recovery.failure.run.kin for each in agreeing)
    every: Counter[str] = Counter(each.failure.run.kin for each in recoveries)
    return sum(went[kin] / every[kin] for kin in every) / len(every)


def _entry(
    error: Error,
    skeleton: Skeleton,
    ways: Mapping[Slot, str],
    seen_in: tuple[int, int, float],
    history: History,
) -> RecallEntry:
    def said(number: int, names: Iterable[str]) -> dict[str, Any]:
        return {name: json.loads(ways[number, name]) for name in names}

    tasks, runs, share = seen_in
    first = tuple(
        RecallStep(tool=tool, args=said(number, names))
        for number, (tool, names) in enumerate(skeleton.steps)
    )
    tools = [error.tool, *(tool for tool, _ in skeleton.steps)]
    marks = [history.marks[tool] for tool in tools if tool in history.marks]
    return RecallEntry(
        tool=error.tool,
        error=error.text,
        schemas=joint_mark(marks) if len(marks) == len(tools) else None,
        first=first,
        edits=said(-1, skeleton.edits),
        support=tasks,
        runs=runs,
        seen=len(error.recoveries),
        agreement=round(share, 2),
        suggest=share < _MOST_OF_THEM,
    )


def is_vouched(error: Error, history: History) -> bool:
    """Whether every word of the error is the tool's own.

    A word is, if it stands in a schema or a tool's name, or if the tool said it in a run in which
    nobody else did.
    """
    return all(
        word in history.spoken or any(word not in each.run.data for each in error.failures)
        for word in {found.casefold() for found in words(error.text)}
    )
