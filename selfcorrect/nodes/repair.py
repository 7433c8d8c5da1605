"""repair: one pass over what was selected.

Strategies that read arguments share one pass over them, where the ladders list them first; all
others are asked one by one.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from inspect import isawaitable
from itertools import chain, groupby, takewhile
from typing import Any

from selfcorrect.context import LOG, RunContext
from selfcorrect.effects.again import Record, Refuse, Run, Verdict
from selfcorrect.effects.equal import digest
from selfcorrect.effects.failure import ending_of
from selfcorrect.effects.outcome import Outcome
from selfcorrect.errors import AnsweredError, RemoteError
from selfcorrect.limits import add_spending, check_bound, count
from selfcorrect.model import (
    JSON,
    Call,
    Change,
    Changed,
    Diagnosis,
    GiveUp,
    JsonDict,
    Retry,
    Safety,
    change_of,
)
from selfcorrect.models.port import ModelPort
from selfcorrect.nodes.round import (
    NO_HELP,
    PERSON,
    Round,
    Rung,
    change_call,
    note,
    start_round,
    take,
    update_of,
)
from selfcorrect.nodes.select_strategy import fault_of
from selfcorrect.nodes.validate import check_call
from selfcorrect.pointer import apply, keys_of
from selfcorrect.protocols import RepairContext
from selfcorrect.reading.call_object import choice_of
from selfcorrect.repairs.arguments import Problem, repair_arguments
from selfcorrect.state import IDLE, CorrectionState, Update
from selfcorrect.text import bound, release, text_of
from selfcorrect.tools.run import plain
from selfcorrect.values.readings import Permission


async def repair(state: CorrectionState, context: RunContext) -> Update:
    """Try what was selected, finding by finding; where a strategy gives up, the next one."""
    if state["question"] is not None and context.ask is not None:
        # An interrupt runs this node again from its top: nothing paid may stand before it.
        return await take_answer(context.ask(state["question"]), state["question"], state, context)
    ladders = [
        [Rung(name, diagnosis, state, context, each.get("options")) for name in each["strategies"]]
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
    faults = [each[0] for each in ladders if each]
    problems: list[Problem] = []
    for own in _by_words(rungs):
        listed = tuple({rung.strategy: rung.primitive for rung in own}.values())
        # What the policy forbids is looked for last: a question shows what was refused.
        for classes in (allowed, Safety):
            allow = Permission(listed, frozenset(classes), tool.acts, tool.description)
            found = repair_arguments(round_.call.args, tool.arguments, allow)
            round_ = _take_changes(found.changes, own, faults, round_)
            if not found.problems:
                break
        problems += found.problems
    return round_, problems


def _by_words(rungs: Iterable[Rung]) -> list[list[Rung]]:
    """Return the rungs that may share a pass: rules that give a strategy other words may not."""
    groups: list[list[Rung]] = []
    words: list[dict[str, Any]] = []
    for rung in rungs:
        own = rung.primitive.words
        at = next((at for at, each in enumerate(words) if each.get(rung.strategy, own) == own), -1)
        if at < 0:
            groups.append([])
            words.append({})
        groups[at].append(rung)
        words[at][rung.strategy] = own
    return groups


def _is_spent(rung: Rung, round_: Round) -> bool:
    limits = rung.context.limits
    return check_bound(round_.counts, limits, "per_strategy", rung.strategy) is not None


def _take_changes(
    changes: Sequence[Change], rungs: Sequence[Rung], faults: Sequence[Rung], round_: Round
) -> Round:
    """Make the changes of the pass, strategy by strategy and fault by fault."""
    refused: list[str] = []
    # Nobody has judged yet what stands under its name only since this pass.
    moved = tuple(f"{each.path}/" for each in changes if each.moved_from is not None)

    def owner(change: Change) -> Rung | None:
        is_moved = f"{change.path}/".startswith(moved)
        return _owner(change, rungs, () if is_moved else faults)

    for rung, group in groupby(changes, owner):
        # What builds on a change that was refused has nothing to stand on.
        made = [each for each in group if not f"{each.path}/".startswith(tuple(refused))]
        if rung is not None and made:
            counts = count(round_.counts, "per_strategy", key=rung.strategy)
            round_ = change_call(made, rung, replace(round_, counts=counts))
        if rung is None or (made and round_.tried[-1]["outcome"] != "changed"):
            refused += [f"{each.path}/" for each in made]
    return round_


def _owner(change: Change, rungs: Sequence[Rung], faults: Iterable[Rung]) -> Rung | None:
    """Return the rung of a change's strategy whose fault it concerns.

    Where it concerns no fault, that is the first rung of the strategy; where it concerns a fault
    whose ladder does not list the strategy, there is none.
    """
    own = [rung for rung in rungs if rung.strategy == change.strategy]
    places = (change.path, change.moved_from)
    found = next((rung for rung in own if rung.concerns(*places)), None)
    is_foreign = found is None and any(each.concerns(*places) for each in faults)
    return None if is_foreign else found or own[0]


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
    said, spending = state["given"], context.spending(round_.counts)
    tool, error = context.tools.get(round_.call.name), None
    if state["source"] == "tool":
        # After a resume only its text is known.
        errors = context.live_part(state["run"]).errors
        error = errors[-1] if errors else RemoteError(state["findings"][0]["text"])
    given = RepairContext(
        schema=tool.parameters if tool else {},
        tools=context.tools,
        effect=tool.effect if tool else "",
        request=said.get("request"),
        messages=said.get("messages") or (),
        finish_reason=said.get("finish_reason"),
        reading=context.map.reading.text,
        index=said.get("index"),
        attempts=len(state["attempts"]),
        model=ModelPort(context.model, spending) if context.model is not None else None,
        spending=spending,
        error=error,
        read=partial(context.read, finish_reason=said.get("finish_reason")),
        must_call=choice_of(said) not in ("", "auto", "none"),
    )
    started = context.clock.monotonic()
    try:
        answer: Any = rung.repair(round_.call, rung.diagnosis, given)
        answer = await answer if isawaitable(answer) else answer
    except Exception as error:
        # A bug in a strategy costs this rung, never the run.
        answer = ending_of(error) or _failure(error, rung)
    counts = count(round_.counts, "per_strategy", key=rung.strategy)
    counts = add_spending(counts, spending)
    took = max(0.0, context.clock.monotonic() - started - spending.seconds)
    paid = replace(round_, counts=count(counts, "seconds", took))
    try:
        return take(answer, rung, paid)
    except Exception as error:
        # The same holds for an answer that cannot be read.
        why = f"its answer is unusable: {type(error).__name__}: {text_of(error)}"
        return note(paid, rung, "gave_up", why)


def _failure(error: Exception, rung: Rung) -> GiveUp:
    """Log a strategy that raised, with its class and place; return what the trail says of it."""
    from selfcorrect.report import frame_of

    why = f"it failed: {type(error).__name__}: {text_of(error)}"
    if LOG.hasHandlers():  # otherwise Python prints it
        where = frame_of(error) or "a strategy of the package"
        LOG.warning("The strategy %s (%s): %s", rung.strategy, where, release(why, 500))
    return GiveUp(why)


def teach(state: CorrectionState, made: Call, context: RunContext) -> None:
    """Tell the strategies that were tried, and learn, of a call that ended well."""
    for rule, name in {(each.get("rule"), each.get("strategy")): 0 for each in state["tried"]}:
        # A bug in a strategy costs what it would have learnt, never the run.
        with suppress(Exception):
            strategy = context.strategy_for(state, rule, str(name)).repair
            if (learn := getattr(strategy, "learn", None)) is not None:
                learn(state["original"], made, [*map(change_of, state["changes"])], context.tools)


async def take_answer(
    answer: object, question: JsonDict, state: CorrectionState, context: RunContext
) -> Update:
    """Return what a person's answer comes to; one that cannot be used is asked for again.

    Raises:
        AnsweredError: If somebody else has answered the question otherwise.
    """
    from selfcorrect.people.answers import repair_of

    start = start_round(state, context)
    # Only the answer to a question about a doubt vouches, and only for that doubt.
    vouch = (*start.vouch, *({name: each[name] for name in _VOUCH} for each in question["doubts"]))
    is_first = not state["counts"].get("questions")
    tool, keys = context.tools.get(start.call.name), keys_of(question["path"])
    place = tool.arguments.at(keys) if tool is not None and keys else None
    repaired = repair_of(plain(answer), question, start.call, place, is_first=is_first)
    if isinstance(repaired, Changed) and _stays(start.call, repaired):
        repaired = Retry(1)
    if isinstance(repaired, Retry) and (wrong := check_call(start.call, context)) is not None:
        repaired = GiveUp(f"the call cannot run as it stands: {wrong['findings'][0]['text']}")
    rung = Rung(PERSON, Diagnosis(paths=(question["path"],)), state, context)
    round_ = take(repaired, rung, replace(start, vouch=vouch))
    last = round_.tried[-1]
    if last["outcome"] not in _AFFIRMS:
        round_ = replace(round_, vouch=start.vouch)
    if last["outcome"] in NO_HELP:
        asked = {**question, "problem": last["reason"]}
        return update_of(replace(round_, question=asked), state)
    await _claim(plain(answer), question, context)
    return update_of(replace(round_, counts=count(round_.counts, "questions")), state)


async def _claim(answer: JSON, question: JsonDict, context: RunContext) -> None:
    """Take the question for this answer: of two that come at once, one counts."""
    if context.task is None:
        return
    said = digest(answer)
    key = digest("answer", context.task)
    about = f"{said} {bound(question['question'], 200)}"
    record = Record(key, key, "a person's answer", about=about, thread=context.thread or "")

    def decide(known: Sequence[Record]) -> Verdict:
        is_other = any(not each.about.startswith(said) for each in known)
        return Refuse("repeated_failure") if is_other else Run()

    if isinstance(await context.use_ledger(context.ledger.begin, record, decide), Refuse):
        raise AnsweredError(f"the question {question['id']} was answered already")
    await context.use_ledger(context.ledger.settle, key, Outcome.DONE)


def _stays(call: Call, answer: Changed) -> bool:
    """Say whether a person edits a call into what it is."""
    try:
        return apply(call, answer.changes) == call
    except LookupError:
        return False


_VOUCH = ("key", "outcome", "attempt")
_AFFIRMS = ("changed", "retry")
"""What an answer comes to that lets the call run; a rejection vouches for nothing."""
