"""ask-human: a person decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from selfcorrect.json_forms import is_proposal, to_json
from selfcorrect.kernel.texts import literal, quoted, spelled
from selfcorrect.model import (
    ABSENT,
    JSON,
    Ask,
    Call,
    Change,
    Diagnosis,
    Finding,
    GiveUp,
    Repair,
    Safety,
)
from selfcorrect.pointer import look
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.places import Place, place_of
from selfcorrect.schema.subschema import same

_MOST_OPTIONS: Final = 20
_LONGEST: Final = 500


@dataclass(frozen=True, slots=True)
class AskHuman:
    """Asks a person, with everything that is needed to decide: what, value now, what is allowed.

    What strategies proposed and the policy did not let run comes first among the options.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"cabin": {"enum": ["economy", "business"]}}}
    >>> ask = try_strategy(AskHuman(), schema, {"cabin": "premium"})
    >>> print(ask.question)
    Tool "tool": argument "cabin" is now "premium". The error: "argument 'cabin': not one of the
    allowed values". What should it be?
    >>> ask.options
    ('economy', 'business')
    """

    name = "ask-human"
    safety = (Safety.HUMAN,)
    needs = "person"

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Ask about the first finding."""
        finding = diagnosis.finding
        place = place_of(call, finding, context)
        refused = context.proposals or tuple(map(tuple, _together(context.refused)))
        options = [
            option
            for option in _proposals(finding, refused)
            if isinstance(place, GiveUp) or is_proposal(option) or place.fits(option)
        ]
        options += _values(finding, None if isinstance(place, GiveUp) else place, context)
        distinct: list[JSON] = []
        for option in options:
            if not any(same(option, old) for old in distinct):
                distinct.append(option)
        return Ask(_question(call, finding), tuple(distinct[:_MOST_OPTIONS]))


def _question(call: Call, finding: Finding) -> str:
    parts = [f"Tool {quoted(call.name, 80)}:"] if call.name else []
    told = f"The error: {literal(finding.text, _LONGEST)}."
    if finding.path == "/name":
        parts += ["there is no such tool.", told, "Which tool is meant?"]
    elif finding.path == "/raw":
        text = literal(call.raw or "", _LONGEST)
        parts += [f"a call could not be read: {text}.", told, "What should the call be?"]
    elif finding.params:
        value = look(call, finding.path or "")
        now = "missing" if value is ABSENT else f"now {literal(value, _LONGEST)}"
        parts += [
            f"argument {quoted(spelled(finding.paths[0]), 120)} is {now}.",
            told,
            "What should it be?",
        ]
    else:
        parts += ["it failed.", told, f"The arguments: {literal(dict(call.args), _LONGEST)}."]
        parts.append("How should the call be changed?")
    return " ".join(parts)


def _proposals(finding: Finding, refused: Sequence[Sequence[Change]]) -> Iterator[JSON]:
    """What was refused for this finding: a value, or all changes of one strategy together."""
    for changes in refused:
        if finding.path is not None and not any(c.path == finding.path for c in changes):
            continue
        alone = len(changes) == 1 and changes[0].path == finding.path
        if alone and changes[0].after is not ABSENT:
            yield changes[0].after
        else:
            yield to_json(list(changes))


def _together(refused: Sequence[Change]) -> Iterator[list[Change]]:
    """Changes that only make sense together: what a strategy takes away here and puts there."""
    for _, source in groupby(refused, key=lambda c: (c.strategy, c.rule, c.reason, c.safety)):
        changes = list(source)
        puts = [index for index, change in enumerate(changes) if change.after is not ABSENT]
        if len(puts) in (0, len(changes)):
            yield from ([change] for change in changes)
            continue
        start = 0
        for index, change in enumerate(changes):
            if index > start and change.after is ABSENT and index - 1 in puts:
                yield changes[start:index]
                start = index
        yield changes[start:]


def _values(finding: Finding, place: Place | None, context: RepairContext) -> list[JSON]:
    if finding.path == "/name":
        named = [name for name in finding.suggestions if name in context.tools]
        return [*named, *list(context.tools)[:_MOST_OPTIONS]]
    values = list(finding.suggestions)[:_MOST_OPTIONS]
    if place is None:
        return values
    if isinstance(place.value, str) and not place.members:
        # A suggestion for one name inside a long text would replace the whole text.
        values = [v for v in values if not isinstance(v, str) or 2 * len(v) >= len(place.value)]
    # A person is never offered what the check would refuse afterwards.
    return [value for value in (*values, *place.members[:_MOST_OPTIONS]) if place.fits(value)]
