"""Questions to a person: one shape, whoever shows them."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from selfcorrect.effects import Outcome
from selfcorrect.effects.again import doubt_of
from selfcorrect.effects.equal import digest
from selfcorrect.lazy import load_table
from selfcorrect.model import Ask, JsonDict
from selfcorrect.state import CorrectionState, Question, Trial, drop_unused, records_of
from selfcorrect.text import bound, release
from selfcorrect.tools.run import plain

MAX_OPTIONS = 50


def question_about(
    ask: Ask, path: str, state: CorrectionState, trials: Iterable[Trial]
) -> Question:
    """Return a question as JSON; its id is the same when the node is run again after an answer.

    Changes that the policy refused are offered as options behind the strategy's own.

    Args:
        ask: What is asked.
        path: The place that the answer is for.
        state: The state of the run.
        trials: What the strategies of this round came to.
    """
    tried = drop_unused([*state["tried"], *trials])
    # Another round may refuse the same changes again.
    refusals = [trial for trial in tried if trial["outcome"] == "refused"]
    refused = list({str(trial["changes"]): trial for trial in refusals}.values())
    own: Any = plain(list(ask.options)[:MAX_OPTIONS])
    options = [*own, *({"changes": trial["changes"]} for trial in refused[-3:])]
    doubts = _doubts_of(state)
    beside = state["given"]
    # A message may come with the id of an earlier one, and a call with that of another message.
    about = [state["run"], beside.get("message_id"), beside.get("index"), len(state["attempts"])]
    sentences = load_table("sentences.toml")["doubts"]
    outcomes = dict.fromkeys(doubt["outcome"] for doubt in doubts)
    warnings = (sentences.get(outcome, "") for outcome in outcomes)
    return {
        "id": digest(about, path, bound(ask.question, 2_000))[:12],
        "question": release("".join([*warnings, bound(ask.question, 800)]), 1_000),
        "options": options,
        "path": path,
        "call": state["current"],
        "original": state["original"],
        "request": beside.get("request"),
        "errors": [release(finding["text"], 500) for finding in state["findings"][:20]],
        "tried": [{name: trial[name] for name in ("strategy", "reason")} for trial in tried[-20:]],
        "refused": [trial["reason"] for trial in refused[-20:]],
        "changes": state["changes"][-20:],
        "executions": len(state["attempts"]),
        "attempts": [
            {name: attempt[name] for name in ("number", "call", "outcome", "text")}
            for attempt in state["attempts"][-10:]
        ],
        "doubts": doubts,
    }


def _doubts_of(state: CorrectionState) -> list[JsonDict]:
    """Return the records in doubt that nobody has vouched for: the answer vouches for them."""
    records = {record.key: record for record in records_of(state)}
    doubts = [
        doubt_of(replace(record, about=record.tool), record.status)
        for record in records.values()
        if record.status in (Outcome.REFUSED, Outcome.LOST)
    ]
    for finding in state["findings"]:
        doubts += finding.get("doubts", ())
    vouched = [vouch["key"] for vouch in state["vouch"]]
    return [doubt for doubt in doubts if doubt["key"] not in vouched]
