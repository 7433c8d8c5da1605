"""A person's answer on its way into a round of repair."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from selfcorrect.context import RunContext
from selfcorrect.effects.again import Record, Refuse, Run, Verdict
from selfcorrect.effects.equal import canonical
from selfcorrect.effects.outcome import Outcome
from selfcorrect.errors import AnsweredError
from selfcorrect.limits import count
from selfcorrect.model import JSON, Call, Changed, Diagnosis, GiveUp, JsonDict, Retry
from selfcorrect.nodes.plan import check_call
from selfcorrect.nodes.round import NO_HELP, PERSON, Rung, start_round, take, update_of
from selfcorrect.person import repair_of
from selfcorrect.pointer import apply, keys_of
from selfcorrect.state import CorrectionState, Update
from selfcorrect.text import bound
from selfcorrect.tools.run import plain


async def take_answer(
    answer: object, question: JsonDict, state: CorrectionState, context: RunContext
) -> Update:
    """Return what a person's answer comes to; one that cannot be used is asked for again.

    Raises:
        AnsweredError: If somebody else has answered the question otherwise.
    """
    start = start_round(state, context)
    # Only the answer to a question about a doubt vouches, and only for that doubt.
    vouch = (*start.vouch, *({name: each[name] for name in _VOUCH} for each in question["doubts"]))
    is_first = not state["counts"].get("questions")
    tool, keys = context.tools.get(start.call.name), keys_of(question["path"])
    place = tool.slot.at(keys) if tool is not None and keys else None
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
    digest = _hash(canonical(answer))
    key = _hash(f"answer {context.task}")
    about = f"{digest} {bound(question['question'], 200)}"
    record = Record(key, key, "a person's answer", about=about, thread=context.thread or "")

    def decide(known: Sequence[Record]) -> Verdict:
        is_other = any(not each.about.startswith(digest) for each in known)
        return Refuse("repeated_failure") if is_other else Run()

    if isinstance(await context.use_ledger(context.ledger.begin, record, decide), Refuse):
        raise AnsweredError(f"the question {question['id']} was answered already")
    await context.use_ledger(context.ledger.settle, key, Outcome.DONE)


def _hash(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def _stays(call: Call, answer: Changed) -> bool:
    """Say whether a person edits a call into what it is."""
    try:
        return apply(call, answer.changes) == call
    except LookupError:
        return False


_VOUCH = ("key", "outcome", "attempt")
_AFFIRMS = ("changed", "retry")
"""What an answer comes to that lets the call run; a rejection vouches for nothing."""
