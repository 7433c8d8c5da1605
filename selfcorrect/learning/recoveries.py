"""What overcame an error in a run: the calls between it and the next one that got further."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from selfcorrect.evidence import ErrorReport, read
from selfcorrect.kernel.texts import excerpt
from selfcorrect.learning.calls import RecordedCall
from selfcorrect.learning.history import History, Run
from selfcorrect.model import ABSENT, JSON, Call, JsonObject
from selfcorrect.recalling.binding import Sources
from selfcorrect.recalling.template import Template, template

_FAR: Final = 15
"""Calls after a failure that are looked at."""
_LONGEST: Final = 4_000


@dataclass(frozen=True, slots=True)
class Failure:
    """A failing call, with what its error is without its values, and its place in its run."""

    call: RecordedCall
    form: Template
    run: Run
    place: int

    @property
    def sources(self) -> Sources:
        """Where values of what mended it may come from."""
        return Sources(self.call.arguments, self.form.values, self.call.request)


@dataclass(frozen=True, slots=True)
class Recovery:
    """How a failure was overcome.

    Attributes:
        failure: The failing call.
        steps: Calls of other tools in between that succeeded and may have changed something.
        edits: Arguments that the next call had otherwise; `ABSENT` where one was left out.
    """

    failure: Failure
    steps: tuple[RecordedCall, ...]
    edits: Mapping[str, JSON]


def failures(history: History) -> Iterator[Failure]:
    """Every failing call; a last word that is a list elsewhere counts as a list of one."""
    found = [
        Failure(call, form_of(call), run, place)
        for run in history.runs.values()
        for place, call in enumerate(run.calls)
        if call.error is not None
    ]
    lists = {
        (each.call.tool, each.form.text) for each in found if "error.list1" in each.form.values
    }
    for each in found:
        other = each.form.otherwise
        if other is not None and (each.call.tool, other.text) in lists:
            yield replace(each, form=other)
        else:
            yield each


def form_of(call: RecordedCall) -> Template:
    """The error of a failing call without its values."""
    text = own_text(call)
    return template(text, call.arguments, call.tool)


def own_text(call: RecordedCall) -> str:
    """The sentence of the innermost emitter of a call's error, as a run finds it."""
    schema = call.schema if isinstance(call.schema, Mapping) else {}
    made = Call(call.tool, dict(call.arguments))
    found = read(ErrorReport(call.error or ""), made, schema=schema).findings[0]
    return excerpt(found.text, _LONGEST)


def recovery(failure: Failure, forms: Mapping[int, str]) -> Recovery | None:
    """How a failure was overcome in its run, or None if it was not.

    A call that fails in another way got further, if one of the tool succeeds in the same turn.

    Args:
        failure: The failing call.
        forms: The errors of the run's failing calls without their values, by place.
    """
    run, first = failure.run, failure.call
    steps: list[RecordedCall] = []
    following = turn(run.calls, failure.place)
    for place, call in following:
        if call.tool != first.tool:
            if call.error is None and call.effect != "read_only":
                steps.append(call)
            continue
        edits = _edits(first.arguments, call.arguments)
        if call.error is None:
            return Recovery(failure, tuple(steps), edits)
        if forms.get(place) == failure.form.text:
            steps = []
            continue
        if steps and not edits and _succeeds(following, place, first.tool):
            return Recovery(failure, tuple(steps), edits)
        steps = []
    return None


def turn(calls: Sequence[RecordedCall], at: int) -> list[tuple[int, RecordedCall]]:
    """The calls after this one that answer the same request."""
    out = []
    for place in range(at + 1, min(at + 1 + _FAR, len(calls))):
        if calls[place].request != calls[at].request:
            break
        out.append((place, calls[place]))
    return out


def _succeeds(turn: Sequence[tuple[int, RecordedCall]], after: int, tool: str) -> bool:
    return any(place > after and call.tool == tool and call.error is None for place, call in turn)


def _edits(before: JsonObject, after: JsonObject) -> dict[str, JSON]:
    names = dict.fromkeys((*before, *after))
    return {
        name: after.get(name, ABSENT)
        for name in names
        if before.get(name, ABSENT) != after.get(name, ABSENT)
    }
