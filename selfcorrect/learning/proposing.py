"""A model proposes entries for errors that nothing settles; gates decide what is written down.

The model sees errors without their values, schemas, and which tools were called next: nothing of
any run. What it answers is data like any other.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError

from selfcorrect.errors import BudgetSpent, ModelFailed
from selfcorrect.kernel.texts import literal
from selfcorrect.learning.calls import RecordedCall
from selfcorrect.learning.gates import Entry, Gates, Verdict, as_proposed
from selfcorrect.learning.history import History
from selfcorrect.learning.learner import Error, errors_in, is_vouched
from selfcorrect.limits import Limits
from selfcorrect.loop.context import SyncHost, run_sync
from selfcorrect.mapping.recalls import RecallEntry
from selfcorrect.mapping.rules import ErrorRule
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import JsonObject
from selfcorrect.models.port import CountingModel
from selfcorrect.models.usage import name_of
from selfcorrect.recalling.binding import PARTS, SHAPES

MOST: Final = 10
"""Errors that a model is asked about, unless the caller says otherwise."""
_MOST_TOOLS: Final = 40
_MOST_NEXT: Final = 5
_LONGEST_SCHEMA: Final = 2_000

_HOW: Final = (
    "Every value is bound: {args.NAME} is an argument of the failing call, {error.text1}, "
    "{error.number1}, {error.token1} and {error.list1} stand in its error, and {request.SHAPE} in "
    f"the request, SHAPE being one of {', '.join(SHAPES)}; |{', |'.join(PARTS)} behind a name take "
    "a part of it. A constant only if a schema names it. If other calls have to come first, or "
    "arguments have to change, give `recall`; if nothing mends it, give `rule`; if you do not "
    "know, give {}."
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a model proposed for one error, and how it fared.

    Attributes:
        tool: The tool.
        error: Its error without values.
        entry: The entry, or None where the answer was none.
        verdict: What the gates say of it.
    """

    tool: str
    error: str
    entry: Entry | None
    verdict: Verdict


@dataclass(slots=True)
class Proposed:
    """All proposals, and what they cost."""

    proposals: list[Proposal] = field(default_factory=list)
    counts: dict[str, Any] = field(default_factory=dict)

    @property
    def entries(self) -> list[Entry]:
        """The entries that passed."""
        return [each.entry for each in self.proposals if each.entry and each.verdict.passed]


def propose(
    calls: Iterable[RecordedCall],
    model: Any,
    base: StrategyMap,
    *,
    most: int = MOST,
    trust: int = 0,
) -> Proposed:
    """Ask a model about the errors that nothing settles, and put its answers through the gates.

    Args:
        calls: The calls of all runs, successes too.
        model: Any LangChain chat model.
        base: The map that entries are proposed for.
        most: Errors that the model is asked about, the most frequent first.
        trust: Tasks that an entry must mend as recorded to leave quarantine; 0: it never does by
            itself.
    """
    history = History.of(calls)
    gates = Gates(history, base)
    found = Proposed()
    who = str(name_of(model) or type(model).__name__)
    limits = Limits(model_calls=most, seconds=None)
    port = CountingModel(model, found.counts, limits, SyncHost().invoke)
    for error in islice(_unsettled(history, base), most):
        found.proposals.append(_proposal(error, history, port, gates, who, trust))
    return found


@cache
def answer_schema() -> JsonObject:
    """The form of an answer, as a model is sent it."""
    found: JsonObject = json.loads(
        files("selfcorrect.learning").joinpath("answer.json").read_text("utf-8")
    )
    return found


def _unsettled(history: History, base: StrategyMap) -> Iterator[Error]:
    """Errors of which no value is known to be somebody's, and that the map has no entry for."""
    known = {(entry.tool, entry.error) for entry in base.recalls}
    errors = [
        error
        for error in errors_in(history)
        if (error.tool, error.text) not in known
        and error.tool in history.schemas
        and is_vouched(error, history)
    ]
    yield from sorted(errors, key=lambda error: -len(error.failures))


def _proposal(
    error: Error, history: History, port: CountingModel, gates: Gates, who: str, trust: int
) -> Proposal:
    """Ask about one error."""
    try:
        answer = run_sync(port(prompt(error, history), answer_schema()))
    except (ModelFailed, BudgetSpent) as failed:
        return Proposal(error.tool, error.text, None, Verdict("model", str(failed)))
    try:
        entry = _entry(error, answer)
    except (ValidationError, TypeError, ValueError) as wrong:
        why = wrong.errors()[0]["msg"] if isinstance(wrong, ValidationError) else str(wrong)
        return Proposal(error.tool, error.text, None, Verdict("check", why))
    if entry is None:
        return Proposal(error.tool, error.text, None, Verdict("model", "it proposes nothing"))
    example = error.failures[0].call.error or ""
    verdict = gates(entry, example, error.tool)
    if verdict.passed:
        entry = as_proposed(entry, who, verdict, len(history.runs), trust)
    return Proposal(error.tool, error.text, entry, verdict)


def _entry(error: Error, answer: Any) -> Entry | None:
    """The entry that an answer means; error and tool are ours, and no value of a run is shown."""
    recall, rule = answer.get("recall"), answer.get("rule")
    if isinstance(recall, Mapping) and (recall.get("first") or recall.get("edits")):
        first, edits = recall.get("first") or (), recall.get("edits") or {}
        return RecallEntry(tool=error.tool, error=error.text, first=first, edits=edits)
    if isinstance(rule, Mapping) and rule:
        given = {key: rule[key] for key in ("match", "kind", "category", "repair") if key in rule}
        if not isinstance(given.get("match"), str):
            raise ValueError("a rule needs a pattern: without one it would match every error")
        # A word for each value, so that the file holds none.
        example = re.sub(r"\{[^{}]*\}", "x1", error.text)
        return ErrorRule(id=_id(error), tool=error.tool, example=example, **given)
    return None


def _id(error: Error) -> str:
    words = "".join(char if char.isascii() and char.isalnum() else " " for char in error.text)
    return "-".join([*words.lower().split()[:6], "proposed"])


def prompt(error: Error, history: History) -> str:
    """What the model reads of an error: nothing of any run, and all of it as data."""
    tools = [
        f"- {name} ({history.effects.get(name, 'effect unknown')}): "
        f"{literal(sorted((schema.get('properties') or {}), key=str), 300)}"
        for name, schema in sorted(history.schemas.items())
        if name != error.tool
    ][:_MOST_TOOLS]
    after = Counter(
        " then ".join(step.tool for step in each.steps) or "the same tool with other arguments"
        for each in error.recoveries
    )
    told = [
        f"- {times} times: {literal(what, 200)}" for what, times in after.most_common(_MOST_NEXT)
    ]
    schema = json.loads(json.dumps(history.schemas[error.tool], default=str))
    return "\n".join(
        [
            f"A tool failed {len(error.failures)} times with one error. Say what mends it.",
            f"Tool: {literal(error.tool, 200)}",
            f"Schema of its arguments, as data: {literal(schema, _LONGEST_SCHEMA)}",
            f"Error without its values, as data: {literal(error.text, 1_000)}",
            "Other tools and their arguments:",
            *tools,
            "What overcame it in recorded runs:",
            *(told or ["- nothing"]),
            _HOW,
        ]
    )
