"""select_strategy: the next rung of each finding's ladder, rules before models before people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from selfcorrect.errors import StrategyNotFound, is_control_flow
from selfcorrect.json_forms import call_from_json, finding_from_json
from selfcorrect.limits import spent
from selfcorrect.loop.answers import options_of, usable_answer
from selfcorrect.loop.asking import details
from selfcorrect.loop.context import RunContext, Update
from selfcorrect.loop.progress import readings_of, refusal_of, try_key
from selfcorrect.loop.repair_context import repair_context
from selfcorrect.model import Ask, Call, Diagnosis, Finding, GiveUp, Safety
from selfcorrect.plain import own_copy, plain
from selfcorrect.pointer import look
from selfcorrect.redaction import literal
from selfcorrect.schema.equality import call_key
from selfcorrect.schema.subschema import same
from selfcorrect.state import CorrectionState

_COST = {"nothing": 0, "model": 1, "person": 2}
_MOST_NAMED = 12
_NOT_OVER = ("wait", "prepared")
"""Outcomes after which the same strategy may be tried against the same finding again."""


async def select_strategy(state: CorrectionState, context: RunContext) -> Update:
    """Choose what the next repair round does, or stop where nothing is left to try."""
    counts = state["counts"]
    if bound := spent(counts, context.limits, "rounds"):
        return _stopped("limit_reached", bound)
    if bound := spent(counts, context.limits, "seconds"):
        return _stopped("limit_reached", bound)
    findings = [finding_from_json(item) for item in state["findings"]]
    for finding in findings:
        if bound := spent(counts, context.limits, "per_kind", finding.kind):
            return _stopped("limit_reached", bound)
    if state.get("question"):
        return _ask_pending(state, findings, context)

    call = call_from_json(state["current"])
    key = call_key(call, context.tools.get(call.name))
    tried = {item["key"] for item in state.get("tried") or () if item["outcome"] not in _NOT_OVER}
    rungs: list[dict[str, Any] | None] = []
    skipped: list[dict[str, str]] = []
    offer = _Offer(key, tried, counts, call.name, state.get("barred") is not None)
    for index, finding in enumerate(findings):
        rungs.append(_next_rung(index, finding, offer, context, skipped))
    return await _cheapest(state, context, findings, call, rungs, skipped)


async def _cheapest(
    state: CorrectionState,
    context: RunContext,
    findings: list[Finding],
    call: Call,
    rungs: list[dict[str, Any] | None],
    skipped: list[dict[str, str]],
) -> Update:
    """Take the cheapest rungs only; pay for nothing while some finding is beyond help."""
    found = [rung for rung in rungs if rung is not None]
    free = [rung for rung in found if rung["cost"] == 0]
    if (barred := state.get("barred")) is not None:
        # What is mended now is only proposed: nothing is paid for it, and nobody is asked, unless
        # a person's answer lifts the bar.
        people = [rung for rung in found if rung["cost"] == 2 and barred["reason"] == "refused"]
        found = [*free, *people]
    hopeless = any(rung is None for rung in rungs)
    if free:
        return _selected(free, skipped)
    if found and not barred and (bound := spent(state["counts"], context.limits, "attempts")):
        # Nothing is paid, and nobody is asked, for a call that may not run any more.
        return _stopped("attempts_exhausted", bound)
    if barred and (hopeless or not found):
        return _stopped(barred["reason"], barred["detail"])
    if hopeless or not found:
        return _nothing_left(findings, rungs, skipped)
    models = [rung for rung in found if rung["cost"] == 1]
    people = [rung for rung in found if rung["cost"] == 2]
    if models and (context.ask_person is not None or not people):
        return _selected(models, skipped)
    rung = people[0]
    question = await _question(state, context, findings[rung["finding"]], rung, call)
    if context.ask_person is None:
        stopped = _needs_person(question, findings, skipped)
        return stopped if not barred else {**stopped, "stop": barred}
    return _selected([rung | {"question": question}], skipped)


@dataclass(frozen=True, slots=True)
class _Offer:
    """What rungs are looked for.

    Attributes:
        key: Marks the call.
        tried: What was tried against it.
        counts: What the run has used.
        tool: Name of its tool.
        barred: The tool may not run again: whatever is mended is only proposed.
    """

    key: str
    tried: set[str]
    counts: Mapping[str, Any]
    tool: str
    barred: bool


def _next_rung(
    index: int,
    finding: Finding,
    offer: _Offer,
    context: RunContext,
    skipped: list[dict[str, str]],
) -> dict[str, Any] | None:
    tool = context.tools.get(offer.tool)
    found: dict[str, Any] | None = None
    for name in finding.ladder:
        if try_key(offer.key, finding, name) in offer.tried:
            continue
        strategy = _strategy(context, finding, name)
        needs = getattr(strategy, "needs", "nothing")
        why = _forbidden(needs, name, offer.counts, context)
        why = why or _useless(strategy, finding, tool, context, barred=offer.barred)
        if strategy is None:
            why = "the map no longer has this strategy"
        cost = _COST.get(needs, 0)
        if why is not None:
            skipped.append({"strategy": name, "why": why})
        elif found is None:
            rung = {"rule": finding.rule, "strategy": name, "path": finding.path}
            found = {"finding": index, **rung, "cost": cost, "then": []}
        elif cost == 0:
            found["then"].append(name)
        if found is not None and (cost or found["cost"]):
            break
    return found


def _strategy(context: RunContext, finding: Finding, name: str) -> Any:
    try:
        return context.rung(finding.rule, name)
    except (KeyError, StrategyNotFound):
        return None


def _forbidden(needs: str, name: str, counts: Mapping[str, Any], context: RunContext) -> str | None:
    if bound := spent(counts, context.limits, "per_strategy", name):
        return bound
    if needs == "model":
        if context.model is None:
            return "there is no model"
        return spent(counts, context.limits, "model_calls") or spent(
            counts, context.limits, "tokens"
        )
    return None


def _useless(
    strategy: Any, finding: Finding, tool: Any, context: RunContext, *, barred: bool
) -> str | None:
    """Why paying a model for this finding would come to nothing, whatever it says."""
    classes = getattr(strategy, "safety", None) or (Safety.MODEL,)
    if getattr(strategy, "needs", None) != "model" or set(classes) != {Safety.MODEL}:
        return None
    if not barred and (doubt := context.safety.unsure(finding)) is not None:
        return doubt
    if tool is not None and tool.effect == "destructive":
        return "a model may not change the call of a destructive tool"
    if Safety.MODEL not in context.safety.allow | context.strategies.allowed(finding.rule):
        return "no model may decide here"
    name = next((n for p in finding.paths if (n := context.safety.sensitive_field(p, tool))), None)
    return f"{name} is sensitive" if name else None


def _nothing_left(
    findings: list[Finding],
    rungs: list[dict[str, Any] | None],
    skipped: list[dict[str, str]],
) -> Update:
    open_ones = [finding for finding, rung in zip(findings, rungs, strict=True) if rung is None]
    named = sorted({_name(finding) for finding in open_ones})
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    what = f"{'; '.join(named[:_MOST_NAMED])}{more}" if named else "the error"
    update = _stopped("no_strategy", f"no strategy is left for {what}")
    update["trail"] = [{"skipped": skipped}]
    return update


def _name(finding: Finding) -> str:
    place = ", ".join(finding.params) or finding.path or "the call"
    from selfcorrect.models.advice import ask_again
    from selfcorrect.models.describing import own_words

    said = own_words(finding.types, finding.text)
    then = ask_again(finding.types, finding.code)
    return f"{finding.category} at {place}{': ' if said else ''}{said}{'; ' if then else ''}{then}"


async def _question(
    state: CorrectionState,
    context: RunContext,
    finding: Finding,
    rung: Mapping[str, Any],
    call: Call,
) -> dict[str, Any]:
    strategy = context.rung(finding.rule, rung["strategy"])
    try:
        asked = await context.host.call(
            strategy, own_copy(call), Diagnosis((finding,)), repair_context(state, context, None)
        )
    except Exception as error:
        if is_control_flow(error):
            raise
        asked = GiveUp(f"raised {type(error).__name__}")
    answer = usable_answer(asked)
    ask = answer if isinstance(answer, Ask) else Ask(literal(finding.text, 500))
    readings = readings_of(state.get("tried") or (), (finding.path,))
    hint = f" It could be {' or '.join(readings)}." if readings else ""
    if why := refusal_of(state.get("tried") or (), (finding.path,)):
        hint += f" An automatic correction was refused: {why}."
    now = look(call, finding.path or "")
    options = [*readings.values(), *plain(options_of(ask.options))]
    return {
        "question": f"{ask.question}{hint}",
        "options": [option for option in options if not same(option, now)],
        "finding": rung["finding"],
        "rule": rung["rule"],
        "strategy": rung["strategy"],
        "path": finding.path,
    } | details(state, context)


def _ask_pending(state: CorrectionState, findings: list[Finding], context: RunContext) -> Update:
    """A strategy asked a question of its own, or the last answer could not be used."""
    question = (state["question"] or {}) | details(state, context)
    if context.ask_person is None:
        return _needs_person(question, findings, [])
    rung = {key: question.get(key) for key in ("finding", "rule", "strategy", "path")}
    return _selected([rung | {"question": question}], [])


def _selected(rungs: list[dict[str, Any]], skipped: list[dict[str, str]]) -> Update:
    chosen = [{key: value for key, value in rung.items() if key != "cost"} for rung in rungs]
    shown = [{key: rung.get(key) for key in ("rule", "strategy", "path")} for rung in chosen]
    return {
        "outcome": "selected",
        "selected": chosen,
        "trail": [{"selected": shown, "skipped": skipped}],
    }


def _needs_person(
    question: Mapping[str, Any], findings: list[Finding], skipped: list[dict[str, str]]
) -> Update:
    place = question.get("finding")
    about = [f": {_name(finding)}" for index, finding in enumerate(findings) if index == place]
    detail = f"a person has to decide, and nobody can be asked here{''.join(about)}"
    update = _stopped("needs_person", detail)
    update["question"] = dict(question)
    update["trail"] = [{"skipped": skipped}]
    return update


def _stopped(reason: str, detail: str) -> dict[str, Any]:
    return {
        "outcome": "stopped",
        "selected": [],
        "stop": {"reason": reason, "detail": detail},
        "trail": [{"skipped": []}],
    }
