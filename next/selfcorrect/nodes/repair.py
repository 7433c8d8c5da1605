"""repair: one pass over what was selected.

Strategies that read arguments share one pass over them, where the ladders list them first; all
others are asked one by one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from inspect import isawaitable
from itertools import chain, groupby, takewhile
from typing import Any

from selfcorrect.context import RunContext
from selfcorrect.effects.failure import ending_of
from selfcorrect.errors import RemoteError
from selfcorrect.limits import check_bound, count, pay
from selfcorrect.model import (
    Change,
    Diagnosis,
    GiveUp,
    Safety,
)
from selfcorrect.nodes.plan import choice_of
from selfcorrect.nodes.round import (
    NO_HELP,
    Round,
    Rung,
    change_call,
    note,
    start_round,
    take,
    update_of,
)
from selfcorrect.nodes.select_strategy import fault_of
from selfcorrect.protocols import RepairContext
from selfcorrect.repairs.arguments import Problem, repair_arguments
from selfcorrect.state import IDLE, CorrectionState, Update
from selfcorrect.text import text_of
from selfcorrect.values.readings import Allow


async def repair(state: CorrectionState, context: RunContext) -> Update:
    """Try what was selected, finding by finding; where a strategy gives up, the next one."""
    if state["question"] is not None and context.ask is not None:
        # An interrupt runs this node again from its top: nothing paid may stand before it.
        from selfcorrect.nodes.answer import take_answer

        return take_answer(context.ask(state["question"]), state["question"], state, context)
    ladders = [
        [Rung(name, diagnosis, state, context) for name in each["strategies"]]
        for each in state["selected"]
        for diagnosis in (Diagnosis.of(state["findings"][each["finding"]]),)
    ]
    round_, unmet = _rewrite(ladders, state, context, start_round(state, context))
    refused = {(each["strategy"], each["fault"]) for each in round_.tried}
    for ladder in ladders:
        if not ladder or ladder[0].is_helped(round_):
            continue
        problems = unmet
        for rung in ladder:
            # Where the pass stopped, the ladder goes on with what cannot be part of it.
            problems = None if rung.primitive is None else problems
            if (rung.strategy, fault_of(rung.diagnosis)) in refused or _is_spent(rung, round_):
                continue
            if problems is not None:
                why = _why(rung, problems)
                round_ = note(round_, rung, IDLE if why is None else "gave_up", why or "")
                continue
            round_ = await _try(rung, round_)
            if round_.end is not None:
                return update_of(round_, state)
            if round_.tried[-1]["outcome"] not in NO_HELP:
                break
    return update_of(round_, state)


def _rewrite(
    ladders: Iterable[Sequence[Rung]], state: CorrectionState, context: RunContext, round_: Round
) -> tuple[Round, Sequence[Problem] | None]:
    """Run one pass over the arguments, with those of its strategies that stand first on ladders.

    Returns:
        The round, and why places do not fit yet; None where there was no pass.
    """
    tool = context.tools.get(round_.call.name)
    heads = (takewhile(lambda rung: rung.primitive is not None, each) for each in ladders)
    rungs = [rung for head in heads for rung in head if not _is_spent(rung, round_)]
    if state["source"] != "schema" or tool is None or not rungs:
        return round_, None
    allowed = context.safety.allow
    if not tool.acts:
        rules = {rung.diagnosis.rule for rung in rungs}
        allowed = allowed.union(*(context.map.rule(rule).allow for rule in rules))
    listed: dict[str, Any] = {}
    for rung in rungs:
        # Where two ladders list a strategy, the words of the first count.
        own = rung.primitive
        words = {**own.words, **listed.get(rung.strategy, own).words}
        listed[rung.strategy] = replace(own, words=words)
    # What the policy forbids is looked for last: a question shows what was refused.
    for classes in (allowed, Safety):
        allow = Allow(tuple(listed.values()), frozenset(classes), tool.acts, tool.description)
        found = repair_arguments(round_.call.args, tool.slot, allow)
        round_ = _take_changes(found.changes, rungs, round_)
        if not found.problems:
            break
    return round_, found.problems


def _is_spent(rung: Rung, round_: Round) -> bool:
    limits = rung.context.limits
    return check_bound(round_.counts, limits, "per_strategy", rung.strategy) is not None


def _take_changes(changes: Iterable[Change], rungs: Sequence[Rung], round_: Round) -> Round:
    """Make the changes of the pass, strategy by strategy and fault by fault."""
    refused: list[str] = []
    for rung, group in groupby(changes, lambda change: _owner(change, rungs)):
        # What builds on a change that was refused has nothing to stand on.
        made = [each for each in group if not any(map(each.path.startswith, refused))]
        if not made:
            continue
        counts = count(round_.counts, "per_strategy", key=rung.strategy)
        round_ = change_call(made, rung, replace(round_, counts=counts))
        if round_.tried[-1]["outcome"] != "changed":
            refused += [each.path for each in made]
    return round_


def _owner(change: Change, rungs: Sequence[Rung]) -> Rung:
    """Return the rung of a change's strategy whose fault it concerns; else the first of it."""
    own = [rung for rung in rungs if rung.strategy == change.strategy]
    places = (change.path, change.moved_from)
    return next((rung for rung in own if rung.concerns(*places)), own[0])


def _why(rung: Rung, unmet: Iterable[Problem]) -> str | None:
    """Return why a strategy did not help a fault; None where it had nothing to look at."""
    own = [each for each in unmet if rung.strategy in each.strategies]
    # Two hundred unknown keys are compared with two hundred problems only where need be.
    exact = (each for each in own if each.path in rung.diagnosis.paths)
    found = next(chain(exact, (each for each in own if rung.concerns(each.path))), None)
    return None if found is None else found.text


async def _try(rung: Rung, round_: Round) -> Round:
    """Ask one strategy, and take its answer into the round."""
    state, context = rung.state, rung.context
    tool = context.tools.get(round_.call.name)
    given = RepairContext(
        tool.parameters if tool else {},
        context.tools,
        tool.effect if tool else "",
        state["given"].get("request"),
        state["given"].get("messages") or (),
        state["given"].get("finish_reason"),
        context.map.reading.text,
        state["given"].get("index"),
        len(state["attempts"]),
        error=_error(state, context),
        reader=context.read,
        must_call=choice_of(state["given"]) not in ("", "auto", "none"),
        is_async=context.is_async,
        calls_left=context.limits.model_calls - state["counts"].get("model_calls", 0),
    )
    if context.model is not None:
        given = replace(given, model=given.port_of(context.model))
    started = context.clock.monotonic()
    try:
        strategy = context.strategy_for(state, rung.diagnosis.rule, rung.strategy).repair
        answer: Any = strategy(round_.call, rung.diagnosis, given)
        answer = await answer if isawaitable(answer) else answer
    except Exception as error:
        # A bug in a strategy costs this rung, never the run.
        answer = ending_of(error) or GiveUp(f"it failed: {type(error).__name__}: {text_of(error)}")
    counts = count(round_.counts, "per_strategy", key=rung.strategy)
    seconds = max(0.0, context.clock.monotonic() - started)
    paid = replace(round_, counts=pay(counts, given.ports, seconds))
    try:
        return take(answer, rung, paid)
    except Exception as error:
        # The same holds for an answer that cannot be read.
        why = f"its answer is unusable: {type(error).__name__}: {text_of(error)}"
        return note(paid, rung, "gave_up", why)


def _error(state: CorrectionState, context: RunContext) -> BaseException | None:
    """Return what the tool raised, if it did; after a resume only its text is known."""
    if state["source"] != "tool":
        return None
    errors = context.live_part(state["run"]).errors
    return errors[-1] if errors else RemoteError(state["findings"][0]["text"])
