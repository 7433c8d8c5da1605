"""select_strategy: the next rungs of each finding's ladder, rules before models before people."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from selfcorrect.context import RunContext
from selfcorrect.effects.again import Refuse, Request, Verdict, Vouch, may_run
from selfcorrect.lazy import load_table
from selfcorrect.limits import check_bound
from selfcorrect.model import UNDECLARED, Diagnosis, JsonObject, Needs, call_of
from selfcorrect.state import CorrectionState, Update, records_of, stop_run
from selfcorrect.text import bound

_AGAIN = ("wait", "retry")
"""Answers after which a strategy may be tried on the same call again."""


async def select_strategy(state: CorrectionState, context: RunContext) -> Update:
    """Choose what the next repair round tries, or stop where nothing is left."""
    if (question := state["question"]) is not None:
        return _ask(state, context, question["question"])
    kinds = [("per_kind", finding["kind"]) for finding in state["findings"]]
    if why := _first_bound([("rounds", None), ("seconds", None), *kinds], state, context):
        return stop_run("limit_reached", why)
    tried = _list_tried(state, context)
    ladders = [_next_rungs(index, tried, state, context) for index in range(len(state["findings"]))]
    # Free rungs of some findings come before a paid one of another: a repair may help both.
    if free := [rungs for rungs in ladders if rungs.needs == "nothing"]:
        return _select(free)
    people = [rungs for rungs in ladders if rungs.needs == "person"]
    if refused := stop_refused(state, context):
        # What is repaired now is only proposed: no model is paid, but a person may vouch for it.
        return _select(people[:1]) if people else refused
    if not ladders or any(rungs.needs is None for rungs in ladders):
        return _give_up(state, ladders)
    if why := check_bound(state["counts"], context.limits, "attempts"):
        # A call that may not run any more is not worth a model call or a question.
        return stop_run("attempts_exhausted", why)
    return _select([rungs for rungs in ladders if rungs.needs == "model"] or people[:1])


def stop_refused(
    state: CorrectionState, context: RunContext, *, is_meant: bool = True
) -> Update | None:
    """End a run whose tool may not be called again, with the repaired call; else return None.

    Args:
        state: The state.
        context: The context.
        is_meant: Whether the same call may be made again on purpose.
    """
    # The run's own executions decide here; `execute` asks the ledger too.
    refusal = may_repeat(state, context, state["vouch"], is_meant=is_meant)
    if not isinstance(refusal, Refuse):
        return None
    current, last = state["current"], state["attempts"][-1]
    detail = load_table("sentences.toml")["refusals"][refusal.reason].format(
        bound(last["text"] or "", 300)
    )
    proposal = {} if current == last["call"] else {"proposal": current}
    return stop_run(refusal.reason, detail, **proposal)


def may_repeat(
    state: CorrectionState,
    context: RunContext,
    vouches: Iterable[JsonObject],
    *,
    is_meant: bool = True,
) -> Verdict:
    """Say whether the tool may be called again, as far as the run's own executions say."""
    current, own = call_of(state["current"]), records_of(state)
    tool = context.tools.get(current.name)
    # A key costs as much as a repair, and before an execution there is nothing to compare.
    asks_key = bool(own) and tool is not None and not is_meant
    doubt = context.intent_of(state, current).doubt if asks_key else ""
    request = Request("", doubt, [Vouch(**vouch) for vouch in vouches], is_meant=is_meant)
    return may_run((), tool.effect if tool else UNDECLARED, own, request)


def fault_of(diagnosis: Diagnosis) -> str:
    """Return what is equal for the same fault at the same place."""
    return f"{diagnosis.category} {diagnosis.code} {' '.join(diagnosis.paths)}"


def _list_tried(state: CorrectionState, context: RunContext) -> set[tuple[str, str]]:
    """Return the strategies that were tried on the call as it stands, by fault."""
    if not state["tried"]:
        return set()
    key = context.key_of(call_of(state["current"]))
    return {
        (trial["strategy"], trial["fault"])
        for trial in state["tried"]
        if trial["key"] == key and trial["outcome"] not in _AGAIN
    }


def _first_bound(
    bounds: Iterable[tuple[str, str | None]], state: CorrectionState, context: RunContext
) -> str | None:
    """Say which of several bounds is reached, or return None."""
    for name, key in bounds:
        if why := check_bound(state["counts"], context.limits, name, key):
            return why
    return None


def _ask(state: CorrectionState, context: RunContext, text: str) -> Update:
    if context.ask is not None:
        return {"outcome": "selected", "selected": [], "note": {"asks": text}}
    return stop_refused(state, context) or stop_run("needs_person", text)


@dataclass(slots=True)
class _Rungs:
    """The next rungs of one ladder: free ones together, others one at a time."""

    finding: int
    strategies: list[str] = field(default_factory=list)
    needs: Needs | None = None


def _next_rungs(
    index: int, tried: set[tuple[str, str]], state: CorrectionState, context: RunContext
) -> _Rungs:
    diagnosis, rungs = Diagnosis.of(state["findings"][index]), _Rungs(index)
    for name in diagnosis.ladder:
        # On a call that has changed since, the same strategy may do better.
        if (name, fault_of(diagnosis)) in tried:
            continue
        needs = context.strategy_for(state, diagnosis.rule, name).needs
        if _is_useless(name, needs, state, context):
            continue
        if rungs.needs is None or rungs.needs == needs == "nothing":
            rungs.strategies.append(name)
            rungs.needs = needs
        else:
            break
    return rungs


def _is_useless(name: str, needs: Needs, state: CorrectionState, context: RunContext) -> bool:
    if needs == "model" and context.model is None:
        return True
    paid = [("model_calls", None), ("tokens", None)] if needs == "model" else []
    return _first_bound([("per_strategy", name), *paid], state, context) is not None


def _select(rungs: list[_Rungs]) -> Update:
    selected = [{"finding": own.finding, "strategies": own.strategies} for own in rungs]
    return {"outcome": "selected", "selected": selected, "note": {"selected": selected[:20]}}


def _give_up(state: CorrectionState, ladders: list[_Rungs]) -> Update:
    indices = [rungs.finding for rungs in ladders if rungs.needs is None]
    texts = [bound(state["findings"][index]["text"], 200) for index in indices[:5]]
    return stop_run("no_strategy", f"No repair applies: {'; '.join(texts) or 'unknown error'}")
