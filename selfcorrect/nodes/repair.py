"""repair: one pass over what was selected.

Strategies that read arguments share one pass over them, where the ladders list them first; all
others are asked one by one.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from inspect import isawaitable
from itertools import groupby, takewhile
from typing import Any

from selfcorrect.context import LOG, RunContext
from selfcorrect.effects.failure import ending_of
from selfcorrect.errors import RemoteError
from selfcorrect.limits import Spending, add_spending
from selfcorrect.model import (
    Call,
    Change,
    Diagnosis,
    GiveUp,
    JsonDict,
    JsonObject,
    Safety,
    change_of,
)
from selfcorrect.models.port import ModelPort, value_of
from selfcorrect.nodes.round import NO_HELP, Round, Rung, make_changes, take
from selfcorrect.nodes.select_strategy import fault_of
from selfcorrect.protocols import RepairContext
from selfcorrect.reading.call_object import choice_of
from selfcorrect.repairs.arguments import Problem, repair_arguments
from selfcorrect.state import UNUSED, CorrectionState, Update
from selfcorrect.text import release, text_of
from selfcorrect.values.readings import Permission


async def repair(state: CorrectionState, context: RunContext) -> Update:
    """Try what was selected, finding by finding; where a strategy gives up, the next one."""
    if state["question"] is not None and context.ask is not None:
        from selfcorrect.people.answers import take_answer

        # An interrupt runs this node again from its top: nothing paid may stand before it.
        answer = await value_of(context.ask(state["question"]))
        return await take_answer(answer, state["question"], state, context)
    round_ = Round(state, context)
    ladders = [_ladder_of(selected, round_) for selected in state["selected"]]
    problems = _run_pass(ladders, round_)
    refused = {(trial["strategy"], trial["fault"]) for trial in round_.tried}
    for ladder in ladders:
        if ladder and not round_.is_helped(ladder[0]):
            open_rungs = (r for r in ladder if (r.strategy, fault_of(r.diagnosis)) not in refused)
            await _climb(open_rungs, problems, round_)
        if round_.end is not None:
            break
    return round_.update()


def _ladder_of(selected: JsonObject, round_: Round) -> list[Rung]:
    """Return the rungs that are to be tried for one finding."""
    state, context = round_.state, round_.context
    diagnosis = Diagnosis.of(state["findings"][selected["finding"]])
    rungs = []
    for name in selected["strategies"]:
        if options := selected.get("options"):
            # A person has written these in place of the options of the rule.
            strategy = context.map.strategies.bind(diagnosis.rule, name, options)
        else:
            strategy = context.strategy_for(state, diagnosis.rule, name)
        rungs.append(Rung(name, diagnosis, strategy.repair))
    return rungs


async def _climb(rungs: Iterable[Rung], problems: Sequence[Problem] | None, round_: Round) -> None:
    """Try one rung of a ladder after the other, until one of them helps."""
    left = [rung for rung in rungs if not round_.is_spent(rung)]
    shared = [*takewhile(_is_shared, left)] if problems is not None else []
    for rung in shared:
        round_.note(rung, UNUSED)
    if shared and (why := _problem_of(shared[0], problems or ())):
        # What keeps the strategies of the pass from helping is told once.
        names = ", ".join(rung.strategy for rung in shared)
        round_.note(replace(shared[0], strategy=names), "gave_up", why)
    for rung in left[len(shared) :]:
        if await _try(rung, round_) not in NO_HELP:
            break


def _is_shared(rung: Rung) -> bool:
    """Say whether a strategy is part of the pass over arguments."""
    return rung.primitive is not None


def _run_pass(ladders: Iterable[Sequence[Rung]], round_: Round) -> list[Problem] | None:
    """Run one pass over the arguments, with those of its strategies that stand first on ladders.

    Returns:
        Why places do not fit yet; None where there was no pass.
    """
    context = round_.context
    tool = context.tools.get(round_.call.name)
    heads = (takewhile(_is_shared, ladder) for ladder in ladders)
    rungs = [rung for head in heads for rung in head if not round_.is_spent(rung)]
    if round_.state["source"] != "schema" or tool is None or not rungs:
        return None
    allowed = context.safety.allow
    if not tool.acts:
        rules = {rung.diagnosis.rule for rung in rungs}
        allowed = allowed.union(*(context.map.rule(rule).allow for rule in rules))
    faults = [ladder[0] for ladder in ladders if ladder]
    problems: list[Problem] = []
    for words, own in _group_by_words(rungs):
        # What the policy forbids is looked for last: a question shows what was refused.
        for classes in (allowed, Safety):
            allow = Permission(words, frozenset(classes), tool.acts, tool.description)
            repaired = repair_arguments(round_.call.args, tool.arguments, allow)
            _take_changes(repaired.changes, own, faults, round_)
            if not repaired.problems:
                break
        problems += repaired.problems
    return problems


def _group_by_words(rungs: Sequence[Rung]) -> Iterator[tuple[JsonDict, list[Rung]]]:
    """Yield the words of strategies with the rungs that use them.

    Rules that give a strategy other words cannot share a pass.
    """
    while rungs:
        words: JsonDict = {}
        for rung in rungs:
            words.setdefault(rung.strategy, rung.repair.words)
        yield words, [rung for rung in rungs if rung.repair.words == words[rung.strategy]]
        rungs = [rung for rung in rungs if rung.repair.words != words[rung.strategy]]


def _take_changes(
    changes: Sequence[Change], rungs: Sequence[Rung], faults: Sequence[Rung], round_: Round
) -> None:
    """Make the changes of the pass, strategy by strategy and fault by fault."""
    refused: list[str] = []
    # Nobody has judged yet what stands under its name only since this pass.
    moved = tuple(f"{change.path}/" for change in changes if change.moved_from is not None)

    def owner(change: Change) -> Rung | None:
        is_moved = f"{change.path}/".startswith(moved)
        return _owner(change, rungs, () if is_moved else faults)

    for rung, group in groupby(changes, owner):
        # What builds on a change that was refused has nothing to stand on.
        own = [change for change in group if not f"{change.path}/".startswith(tuple(refused))]
        if rung is not None and own:
            round_.count("per_strategy", key=rung.strategy)
            if make_changes(own, rung, round_) == "changed":
                continue
        refused += [f"{change.path}/" for change in own]


def _owner(change: Change, rungs: Sequence[Rung], faults: Iterable[Rung]) -> Rung | None:
    """Return the rung of a change's strategy whose fault it concerns.

    Where it concerns no fault, that is the first rung of the strategy; where it concerns a fault
    whose ladder does not list the strategy, there is none.
    """
    own = [rung for rung in rungs if rung.strategy == change.strategy]
    places = (change.path, change.moved_from)
    for rung in own:
        if rung.concerns(*places):
            return rung
    return None if any(fault.concerns(*places) for fault in faults) else own[0]


def _problem_of(rung: Rung, problems: Sequence[Problem]) -> str:
    """Return why the pass did not help a fault; empty where it says nothing."""
    # Two hundred unknown keys are compared with two hundred problems only where need be.
    near = [problem for problem in problems if problem.path in rung.diagnosis.paths]
    near = near or [problem for problem in problems if rung.concerns(problem.path)]
    return near[0].text if near else ""


async def _try(rung: Rung, round_: Round) -> str:
    """Ask one strategy, and take its repair into the round; return what it came to."""
    clock, spending = round_.context.clock, round_.context.spending(round_.counts)
    started = clock.monotonic()
    try:
        answer: Any = rung.repair(round_.call, rung.diagnosis, _view_of(round_, spending))
        answer = await answer if isawaitable(answer) else answer
        outcome = take(answer, rung, round_)
    except Exception as error:
        # A bug in a strategy costs this rung, never the run.
        outcome = take(ending_of(error) or _failure(error, rung), rung, round_)
    round_.count("per_strategy", key=rung.strategy)
    round_.counts = add_spending(round_.counts, spending)
    round_.count("seconds", max(0.0, clock.monotonic() - started - spending.seconds))
    return outcome


def _view_of(round_: Round, spending: Spending) -> RepairContext:
    """Return what a strategy sees beside the call and its diagnosis."""
    state, context = round_.state, round_.context
    beside = state["given"]
    tool, error = context.tools.get(round_.call.name), None
    if state["source"] == "tool":
        # After a resume only its text is left.
        errors = context.live_part(state["run"]).errors
        error = errors[-1] if errors else RemoteError(state["findings"][0]["text"])
    return RepairContext(
        schema=tool.parameters if tool else {},
        tools=context.tools,
        effect=tool.effect if tool else "",
        request=beside.get("request"),
        messages=beside.get("messages") or (),
        finish_reason=beside.get("finish_reason"),
        reading=context.map.reading.text,
        index=beside.get("index"),
        attempts=len(state["attempts"]),
        model=ModelPort(context.model, spending) if context.model is not None else None,
        spending=spending,
        error=error,
        read=partial(context.read, finish_reason=beside.get("finish_reason")),
        must_call=choice_of(beside) not in ("", "auto", "none"),
    )


def _failure(error: Exception, rung: Rung) -> GiveUp:
    """Log a strategy that raised; return what the trail says of it."""
    why = f"it failed: {type(error).__name__}: {text_of(error)}"
    if LOG.hasHandlers():  # otherwise Python prints it
        LOG.warning("The strategy %s: %s", rung.strategy, release(why, 500))
    return GiveUp(why)


def teach(state: CorrectionState, call: Call, context: RunContext) -> None:
    """Tell the strategies that were tried, and learn, of a call that ended well."""
    changes = [change_of(change) for change in state["changes"]]
    for rule, name in {(trial.get("rule"), trial.get("strategy")) for trial in state["tried"]}:
        # A bug in a strategy costs what it would have learnt, never the run.
        with suppress(Exception):
            strategy = context.strategy_for(state, rule, str(name)).repair
            if (learn := getattr(strategy, "learn", None)) is not None:
                learn(state["original"], call, changes, context.tools)
