"""Questions to a person, and the answers that `resume` may carry."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

from selfcorrect.model import (
    JSON,
    Call,
    Change,
    Changed,
    GiveUp,
    JsonDict,
    JsonObject,
    Repair,
    Retry,
    Safety,
    Terminal,
    change_of,
)
from selfcorrect.pointer import ARGS, look
from selfcorrect.state import CorrectionState
from selfcorrect.text import bound, release

MAX_OPTIONS: Final = 50


def question_about(
    text: str,
    options: Sequence[JSON],
    path: str,
    state: CorrectionState,
    answers: Iterable[JsonDict],
    doubts: Sequence[JsonDict] = (),
) -> JsonDict:
    """Return a question as JSON; its id is the same when the node is run again after an answer.

    Changes that the policy refused are offered as options behind the strategy's own.

    Args:
        text: What is asked.
        options: Values to choose from.
        path: The place that the answer is for.
        state: The state of the run.
        answers: What strategies answered in this round.
        doubts: The records for which the answer vouches: `key`, `outcome`, `about`.
    """
    tried = [*state["tried"], *answers]
    # Another round may refuse the same changes again.
    refused = list({str(e["changes"]): e for e in tried if e["outcome"] == "refused"}.values())
    offered = [*options[:MAX_OPTIONS], *({"changes": each["changes"]} for each in refused[-3:])]
    key = f"{state['run']} {len(state['attempts'])} {path} {bound(text, 2_000)}"
    told = (_DOUBTS.get(outcome, "") for outcome in {each["outcome"]: 0 for each in doubts})
    return {
        "id": sha256(key.encode("utf-8", "replace")).hexdigest()[:12],
        "question": release("".join([*told, bound(text, 800)]), 1_000),
        "options": offered,
        "path": path,
        "call": state["current"],
        "original": state["original"],
        "request": state["given"].get("request"),
        "errors": [release(each["text"], 500) for each in state["findings"][:20]],
        "tried": [{"strategy": each["strategy"], "reason": each["reason"]} for each in tried[-20:]],
        "refused": [each["reason"] for each in refused[-20:]],
        "changes": state["changes"][-20:],
        "executions": len(state["attempts"]),
        "doubts": [*doubts],
    }


_DOUBTS: Final = {
    "lost": "Nobody knows whether the call was done before; if it runs now, it may be done twice. ",
    "refused": "The tool refused the call before, and a part of it may have been done. ",
}
"""What a person reads of a doubt, in front of the question."""


def repair_of(answer: Any, question: JsonObject, call: Call, *, is_first: bool) -> Repair:
    """Read a person's answer; `GiveUp` says why it cannot be used.

    | answer | does |
    |---|---|
    | `{"action": "answer", "value": v}`, or the bare value | puts it where the fault is |
    | `{"action": "choose", "choice": n}` | takes an option, by index or by value |
    | `{"action": "approve"}` | takes the only option; without one, runs the call as it stands |
    | `{"action": "edit", "args": {…}}`, or `"call"` | gives arguments, or the whole call, anew |
    | `{"action": "reject", "reason": "…"}`, or None | ends the run |

    `"question": id` beside the action names the question; only the first question of a run takes
    an answer without it, so that a double click answers nothing twice.
    """
    item = answer if isinstance(answer, Mapping) and "action" in answer else None
    if item is None:
        item = {"action": "reject"} if answer is None else {"action": "answer", "value": answer}
    named = item.get("question")
    if named != question["id"] and (named is not None or not is_first):
        return GiveUp("the answer is for another question; name this one by its id")
    match item["action"]:
        case "reject":
            return Terminal(f"A person rejected the call: {item.get('reason') or 'no reason'}")
        case "approve" if not question["options"]:
            return Retry(1)
        case "approve" if len(question["options"]) == 1:
            return _choose(question["options"][0], question, call)
        case "choose":
            return _choice(item.get("choice"), question, call)
        case "answer" if "value" in item:
            return _set(question["path"], item["value"], call)
        case "edit":
            return _edit(item, question, call)
        case action:
            return GiveUp(f"the action {action!r:.40} does not answer this question")


def _choice(choice: Any, question: JsonObject, call: Call) -> Repair:
    options = question["options"]
    if isinstance(choice, int) and not isinstance(choice, bool) and 0 <= choice < len(options):
        return _choose(options[choice], question, call)
    if choice in options:
        return _choose(choice, question, call)
    return GiveUp(f"choose one of {len(options)} options, from 0, or by its value")


def _choose(option: JSON, question: JsonObject, call: Call) -> Repair:
    if isinstance(option, Mapping) and "changes" in option:
        changes = [change_of(each) for each in option["changes"]]
        return Changed(_by_person(each.path, each.before, each.after) for each in changes)
    return _set(question["path"], option, call)


def _set(path: str, value: JSON, call: Call) -> Repair:
    if not path:
        return GiveUp("the question is about no single place: answer with an edit of the call")
    return Changed(_by_person(path, look(call, path), value))


def _edit(item: JsonObject, question: JsonObject, call: Call) -> Repair:
    if "value" in item:
        return _set(question["path"], item["value"], call)
    new = item.get("call") or item
    args = new.get("args") if isinstance(new, Mapping) else None
    if not isinstance(args, Mapping):
        return GiveUp("an edit needs `args`, or a `call` with name and args")
    changes = [_by_person(ARGS, call.args, {**args})]
    if new.get("name", call.name) != call.name:
        changes.insert(0, _by_person("/name", call.name, new["name"]))
    return Changed(changes)


def _by_person(path: str, before: JSON, after: JSON) -> Change:
    return Change(path, before, after, Safety.HUMAN, "a person's answer")
