"""repair: one pass over what was selected.

Strategies that read arguments share one pass over them, where the ladders list them first; all
others are asked one by one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from inspect import isawaitable
from itertools import chain, groupby, takewhile
from typing import TYPE_CHECKING, Any

from selfcorrect.context import RunContext
from selfcorrect.errors import RemoteError
from selfcorrect.limits import check_bound, count
from selfcorrect.model import (
    Change,
    Diagnosis,
    GiveUp,
    JsonDict,
    Safety,
    call_json,
    call_of,
    change_json,
)
from selfcorrect.models.port import ModelPort
from selfcorrect.nodes.round import NO_HELP, PERSON, Round, Rung, change_call, note, take
from selfcorrect.nodes.select_strategy import fault_of
from selfcorrect.protocols import RepairContext
from selfcorrect.state import CorrectionState, Update
from selfcorrect.text import text_of
from selfcorrect.tools.run import plain

if TYPE_CHECKING:
    from selfcorrect.repairs.arguments import Problem


async def repair(state: CorrectionState, context: RunContext) -> Update:
    """Try what was selected, finding by finding; where a strategy gives up, the next one."""
    if state["question"] is not None and context.ask is not None:
        # An interrupt runs this node again from its top: nothing paid may stand before it.
        return _take_answer(context.ask(state["question"]), state["question"], state, context)
    ladders = [
        [Rung(name, diagnosis, state, context) for name in each["strategies"]]
        for each in state["selected"]
        for diagnosis in (Diagnosis.of(state["findings"][each["finding"]]),)
    ]
    round_ = _rewrite(ladders, state, context, _start(state, context))
    known = {(each["strategy"], each["fault"]) for each in round_.tried}
    helped = _helped(round_)
    for ladder in ladders:
        for rung in ladder:
            fault = fault_of(rung.diagnosis)
            if fault in helped:
                break
            if (rung.strategy, fault) in known or _is_spent(rung, round_):
                continue
            round_ = await _try(rung, round_)
            if round_.end is not None:
                return _update(round_, state)
            if round_.tried[-1]["outcome"] not in NO_HELP:
                break
    return _update(round_, state)


def _rewrite(
    ladders: Iterable[Sequence[Rung]], state: CorrectionState, context: RunContext, round_: Round
) -> Round:
    """Run one pass over the arguments, with those of its strategies that stand first on ladders."""
    # A call that needs no repair loads nothing of this.
    from selfcorrect.repairs.arguments import repair_arguments
    from selfcorrect.values.readings import Allow

    tool = context.tools.get(round_.call.name)
    if state["source"] != "schema" or tool is None:
        return round_
    heads = [list(takewhile(lambda rung: rung.reader is not None, each)) for each in ladders]
    rungs = [rung for head in heads for rung in head if not _is_spent(rung, round_)]
    allowed = context.safety.allow
    if not tool.acts:
        rules = {rung.diagnosis.rule for rung in rungs}
        allowed = allowed.union(*(context.map.rule(rule).allow for rule in rules))
    problems: Sequence[Problem] = ()
    # What the policy forbids is looked for last: a question shows what was refused.
    for classes in (allowed, frozenset(Safety)) if rungs else ():
        readers = [rung.reader for rung in rungs]
        allow = Allow.of(readers, classes, acts=tool.acts, description=tool.description)
        found = repair_arguments(round_.call.args, tool.slot, allow)
        round_, problems = _take_changes(found.changes, rungs, round_), found.problems
        if not problems:
            break
    return _note_rest(heads, problems, round_)


def _is_spent(rung: Rung, round_: Round) -> bool:
    limits = rung.context.limits
    return check_bound(round_.counts, limits, "per_strategy", rung.strategy) is not None


def _take_changes(changes: Iterable[Change], rungs: Sequence[Rung], round_: Round) -> Round:
    """Make the changes of the pass, strategy by strategy, and note each for what it helps."""
    refused: list[str] = []
    for owners, group in groupby(changes, lambda change: _owners(change, rungs)):
        # What builds on a change that was refused has nothing to stand on.
        made = [each for each in group if not any(map(each.path.startswith, refused))]
        if not made:
            continue
        first, *others = (rungs[at] for at in owners)
        counts = count(round_.counts, "per_strategy", key=first.strategy)
        round_ = change_call(made, first, replace(round_, counts=counts))
        last = round_.tried[-1]
        if last["outcome"] == "changed":
            for each in others:
                round_ = note(round_, each, "changed", last["reason"])
        else:
            refused += [each.path for each in made]
    return round_


def _owners(change: Change, rungs: Sequence[Rung]) -> list[int]:
    """Return the rungs of a change's strategy whose fault it concerns; else the first of it."""
    own = [at for at, rung in enumerate(rungs) if rung.strategy == change.strategy]
    places = [path for path in (change.path, change.moved_from) if path is not None]
    return [at for at in own if any(map(rungs[at].concerns, places))] or own[:1]


def _note_rest(
    heads: Iterable[Sequence[Rung]], problems: Sequence["Problem"], round_: Round
) -> Round:
    """Note the strategies of the pass on every ladder that it has not helped."""
    helped = _helped(round_)
    known = {(each["strategy"], each["fault"]) for each in round_.tried}
    texts = {each.path: each.text for each in reversed(problems)}
    for head in heads:
        if not head or (fault := fault_of(head[0].diagnosis)) in helped:
            continue
        # Two hundred unknown keys are compared with two hundred problems only where need be.
        exact = (texts[path] for path in head[0].diagnosis.paths if path in texts)
        near = (each.text for each in problems if head[0].concerns(each.path))
        why = next(chain(exact, near), "it finds nothing to change")
        for rung in head:
            if (rung.strategy, fault) not in known:
                round_ = note(round_, rung, "gave_up", why)
    return round_


def _helped(round_: Round) -> set[str]:
    """Return the faults for which something was changed."""
    return {each["fault"] for each in round_.tried if each["outcome"] == "changed"}


def _start(state: CorrectionState, context: RunContext) -> Round:
    counts = count(state["counts"], "rounds")
    for kind in dict.fromkeys(each["kind"] for each in state["findings"]):
        counts = count(counts, "per_kind", key=kind)
    call = call_of(state["current"])
    return Round(call, context.key_of(call), counts, vouch=state["vouch"])


async def _try(rung: Rung, round_: Round) -> Round:
    """Ask one strategy, and take its answer into the round."""
    state, context = rung.state, rung.context
    port = ModelPort(context.model, context.is_async)
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
        port if context.model is not None else None,
        _error(state, context),
        context.read,
    )
    started = context.clock.monotonic()
    try:
        strategy = context.strategy_for(state, rung.diagnosis.rule, rung.strategy).repair
        answer: Any = strategy(round_.call, rung.diagnosis, given)
        answer = await answer if isawaitable(answer) else answer
    except Exception as error:
        # A bug in a strategy costs this rung, never the run.
        answer = GiveUp(f"it failed: {type(error).__name__}: {text_of(error)}")
    counts = count(round_.counts, "per_strategy", key=rung.strategy)
    counts = count(counts, "seconds", max(0.0, context.clock.monotonic() - started))
    counts = count(count(counts, "model_calls", port.calls), "tokens", port.tokens)
    paid = replace(round_, counts=counts)
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


def _take_answer(
    answer: object, question: JsonDict, state: CorrectionState, context: RunContext
) -> Update:
    """Return what a person's answer comes to; one that cannot be used is asked for again."""
    from selfcorrect.questions import repair_of

    start = _start(state, context)
    is_first = not state["counts"].get("questions")
    repaired = repair_of(plain(answer), question, start.call, is_first=is_first)
    rung = Rung(PERSON, Diagnosis(paths=(question["path"],)), state, context)
    round_ = take(repaired, rung, start)
    last = round_.tried[-1]
    if last["outcome"] in NO_HELP:
        return _update(replace(round_, question={**question, "problem": last["reason"]}), state)
    return _update(replace(round_, counts=count(round_.counts, "questions")), state)


def _update(round_: Round, state: CorrectionState) -> Update:
    """Return what the round came to."""
    shown = ("strategy", "rule", "path", "outcome", "reason")
    changes = list(map(change_json, round_.changes))
    tried = [{key: each[key] for key in shown} for each in round_.tried]
    update: Update = {
        "counts": round_.counts,
        "tried": [*state["tried"], *round_.tried],
        "pending": changes,
        "wait": None if changes else round_.wait,
        "vouch": round_.vouch,
        "question": None if changes else round_.question,
        "note": {"tried": tried, "changes": changes},
    }
    if round_.end is not None:
        return update | round_.end
    if changes:
        return update | {"outcome": "changed", "current": call_json(round_.call)}
    return update | {"outcome": "gave_up" if round_.wait is None else "wait"}
