"""Questions to a person: one shape, whoever shows them."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from selfcorrect.context import RunContext
from selfcorrect.effects.equal import digest
from selfcorrect.lazy import load_table
from selfcorrect.model import Ask, JsonDict
from selfcorrect.state import CorrectionState, seen
from selfcorrect.text import bound, release
from selfcorrect.tools.run import plain

MAX_OPTIONS = 50


def question_about(
    ask: Ask, path: str, state: CorrectionState, context: RunContext, answers: Iterable[JsonDict]
) -> JsonDict:
    """Return a question as JSON; its id is the same when the node is run again after an answer.

    Changes that the policy refused are offered as options behind the strategy's own.

    Args:
        ask: What is asked.
        path: The place that the answer is for.
        state: The state of the run.
        context: Its parts.
        answers: What strategies answered in this round.
    """
    tried = seen([*state["tried"], *answers])
    # Another round may refuse the same changes again.
    refused = list({str(e["changes"]): e for e in tried if e["outcome"] == "refused"}.values())
    own: Any = plain(list(islice(ask.options, MAX_OPTIONS)))
    offered = [*own, *({"changes": each["changes"]} for each in refused[-3:])]
    # The answer vouches for their records.
    doubts = context.doubts_of(state)
    given = state["given"]
    # A message may come with the id of an earlier one, and a call with that of another message.
    about = [state["run"], given.get("message_id"), given.get("index"), len(state["attempts"])]
    doubtful = load_table("sentences.toml")["doubts"]
    told = (doubtful.get(outcome, "") for outcome in {each["outcome"]: 0 for each in doubts})
    return {
        "id": digest(about, path, bound(ask.question, 2_000))[:12],
        "question": release("".join([*told, bound(ask.question, 800)]), 1_000),
        "options": offered,
        "path": path,
        "call": state["current"],
        "original": state["original"],
        "request": given.get("request"),
        "errors": [release(each["text"], 500) for each in state["findings"][:20]],
        "tried": [{"strategy": each["strategy"], "reason": each["reason"]} for each in tried[-20:]],
        "refused": [each["reason"] for each in refused[-20:]],
        "changes": state["changes"][-20:],
        "executions": len(state["attempts"]),
        "attempts": [
            {name: each[name] for name in ("number", "call", "outcome", "text")}
            for each in state["attempts"][-10:]
        ],
        "doubts": doubts,
    }
