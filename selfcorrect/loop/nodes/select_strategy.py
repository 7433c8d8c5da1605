"""select_strategy: the next rung of each finding's ladder, rules before models before people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from selfcorrect.errors import StrategyNotFound
from selfcorrect.json_forms import call_from_json, finding_from_json
from selfcorrect.kernel.texts import literal, spelled
from selfcorrect.limits import spent
from selfcorrect.loop.answers import answered, options_of
from selfcorrect.loop.asking import details
from selfcorrect.loop.context import RunContext, Update
from selfcorrect.loop.progress import readings_of, refusal_of, stopped, try_key
from selfcorrect.loop.repair_context import repair_context
from selfcorrect.model import JSON, Ask, Call, Diagnosis, Finding, Safety
from selfcorrect.plain import own_copy
from selfcorrect.pointer import look
from selfcorrect.policies.safety import no_model
from selfcorrect.schema.equality import call_key
from selfcorrect.schema.subschema import same
from selfcorrect.state import CorrectionState

_COST = {"nothing": 0, "model": 1, "person": 2}
_MOST_NAMED = 12
_OF_A_QUESTION = ("finding", "rule", "strategy", "path")
_NOT_OVER = ("wait", "prepared")
"""Outcomes after which the same strategy may be tried against the same finding again."""


async def select_strategy(state: CorrectionState, context: RunContext) -> Update:
    """Choose what the next repair round does, or stop where nothing is left to try."""
    findings = [finding_from_json(item) for item in state["findings"]]
    bounds = [("rounds", None), ("seconds", None), *(("per_kind", each.kind) for each in findings)]
    for bound in bounds:
        if why := spent(state["counts"], context.limits, *bound):
            return _stopped("limit_reached", why)
    selection = _Selection(state, context, findings)
    return selection.pending() if state["question"] else await selection.cheapest()


@dataclass(slots=True)
class _Selection:
    """What is looked for, and what was found.

    Attributes:
        skipped: Rungs that cannot help, and why.
    """

    state: CorrectionState
    context: RunContext
    findings: list[Finding]
    skipped: list[dict[str, str]] = field(default_factory=list)

    async def cheapest(self) -> Update:
        """Take the cheapest rungs only; pay for nothing while some finding is beyond help."""
        state, context = self.state, self.context
        call = call_from_json(state["current"])
        tool, barred = context.tools.get(call.name), state["barred"]
        key = call_key(call, tool)
        tried = {i["key"] for i in state["tried"] if i["outcome"] not in _NOT_OVER}
        rungs = []
        for index, finding in enumerate(self.findings):
            left = [name for name in finding.ladder if try_key(key, finding, name) not in tried]
            rungs.append(self._next_rung(index, left, tool))
        found = [rung for rung in rungs if rung is not None]
        free = [rung for rung in found if rung["cost"] == 0]
        if free:
            return self._selected(free)
        people = [rung for rung in found if rung["cost"] == 2]
        if barred is not None:
            # What is mended now is only proposed: nothing is paid for it, and nobody is asked,
            # unless a person's answer lifts the bar.
            found = people if barred["reason"] == "refused" else []
        elif found and (bound := spent(state["counts"], context.limits, "attempts")):
            # Nothing is paid, and nobody is asked, for a call that may not run any more.
            return _stopped("attempts_exhausted", bound)
        if None in rungs or not found:
            if barred is not None:
                return _stopped(barred["reason"], barred["detail"])
            return self._nothing_left(rungs)
        models = [rung for rung in found if rung["cost"] == 1]
        if models and (context.ask_person is not None or not people):
            return self._selected(models)
        question = await self._question(people[0], call)
        if context.ask_person is None:
            stopped = self._needs_person(question)
            return stopped if barred is None else {**stopped, "stop": barred}
        return self._selected([people[0] | {"question": question}])

    def _next_rung(self, index: int, left: list[str], tool: Any) -> dict[str, Any] | None:
        finding = self.findings[index]
        found: dict[str, Any] | None = None
        for name in left:
            strategy = self._strategy(finding, name)
            needs = getattr(strategy, "needs", "nothing")
            why = self._forbidden(needs, name) or self._useless(strategy, finding, tool)
            if strategy is None:
                why = "the map no longer has this strategy"
            cost = _COST.get(needs, 0)
            if why is not None:
                self.skipped.append({"strategy": name, "why": why})
            elif found is None:
                rung = {"rule": finding.rule, "strategy": name, "path": finding.path}
                found = {"finding": index, **rung, "cost": cost, "then": []}
            elif cost == 0:
                found["then"].append(name)
            if found is not None and (cost or found["cost"]):
                break
        return found

    def _strategy(self, finding: Finding, name: str) -> Any:
        try:
            return self.context.rung(finding.rule, name)
        except (KeyError, StrategyNotFound):
            return None

    def _forbidden(self, needs: str, name: str) -> str | None:
        counts, limits = self.state["counts"], self.context.limits
        if bound := spent(counts, limits, "per_strategy", name):
            return bound
        if needs != "model":
            return None
        if self.context.model is None:
            return "there is no model"
        return spent(counts, limits, "model_calls") or spent(counts, limits, "tokens")

    def _useless(self, strategy: Any, finding: Finding, tool: Any) -> str | None:
        """Why paying a model for this finding would come to nothing, whatever it says."""
        classes = getattr(strategy, "safety", None) or (Safety.MODEL,)
        if getattr(strategy, "needs", None) != "model" or set(classes) != {Safety.MODEL}:
            return None
        safety = self.context.safety
        if self.state["barred"] is None and (doubt := safety.unsure(finding)) is not None:
            return doubt
        if why := no_model(tool, safety.allow | self.context.strategies.allowed(finding.rule)):
            return why
        name = next(
            (n for path in finding.paths if (n := safety.sensitive_field(path, tool))), None
        )
        return f"{name} is sensitive" if name else None

    def _nothing_left(self, rungs: list[dict[str, Any] | None]) -> Update:
        pairs = zip(self.findings, rungs, strict=True)
        named = sorted({_name(finding) for finding, rung in pairs if rung is None})
        more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
        what = f"{'; '.join(named[:_MOST_NAMED])}{more}" if named else "the error"
        return _stopped("no_strategy", f"no strategy is left for {what}", self.skipped)

    async def _question(self, rung: Mapping[str, Any], call: Call) -> dict[str, Any]:
        state, context, finding = self.state, self.context, self.findings[rung["finding"]]
        strategy = context.rung(finding.rule, rung["strategy"])
        given = repair_context(state, context, None)
        answer = await answered(strategy, own_copy(call), Diagnosis((finding,)), given, context)
        ask = answer if isinstance(answer, Ask) else Ask(literal(finding.text, 500))
        tried, paths = state["tried"], (finding.path,)
        readings = readings_of(tried, paths)
        hint = f" It could be {' or '.join(readings)}." if readings else ""
        if why := refusal_of(tried, paths):
            hint += f" An automatic correction was refused: {why}."
        now = look(call, finding.path or "")
        options = [*readings.values(), *options_of(ask.options, context.limits.argument_bytes)]
        return {
            "question": f"{ask.question}{hint}",
            "options": [option for option in options if not same(option, now)],
            **{key: rung[key] for key in _OF_A_QUESTION},
            **details(state, context),
        }

    def pending(self) -> Update:
        """A strategy asked a question of its own, or the last answer could not be used."""
        question = (self.state["question"] or {}) | details(self.state, self.context)
        if self.context.ask_person is None:
            return self._needs_person(question)
        rung = {key: question.get(key) for key in _OF_A_QUESTION}
        return self._selected([rung | {"question": question}])

    def _selected(self, rungs: list[dict[str, Any]]) -> Update:
        chosen = [{key: value for key, value in rung.items() if key != "cost"} for rung in rungs]
        shown = [{key: rung.get(key) for key in ("rule", "strategy", "path")} for rung in chosen]
        return {
            "outcome": "selected",
            "selected": chosen,
            "trail": [{"selected": shown, "skipped": self.skipped}],
        }

    def _needs_person(self, question: Mapping[str, Any]) -> dict[str, Any]:
        place = question.get("finding")
        about = [f": {_name(each)}" for index, each in enumerate(self.findings) if index == place]
        nobody = "" if self.context.asked_later else ", and nobody can be asked here"
        detail = f"a person has to decide{nobody}{''.join(about)}"
        return _stopped("needs_person", detail, self.skipped) | {"question": dict(question)}


def _name(finding: Finding) -> str:
    places = (spelled(path) for path in finding.paths if path.startswith("/args/"))
    place = ", ".join(places) or finding.path or "the call"
    from selfcorrect.models.advice import ask_again
    from selfcorrect.models.describing import own_words

    said = own_words(finding.types, finding.text)
    then = ask_again(finding.types, finding.code)
    return f"{finding.category} at {place}{': ' if said else ''}{said}{'; ' if then else ''}{then}"


def _stopped(reason: str, detail: str, skipped: Sequence[JSON] = ()) -> dict[str, Any]:
    return stopped(reason, detail) | {"selected": [], "trail": [{"skipped": [*skipped]}]}
