"""What a person's answer comes to: a decision is recognised before any value."""

from collections.abc import Mapping, Sequence
from typing import Any

from selfcorrect.context import RunContext
from selfcorrect.effects import Outcome
from selfcorrect.effects.again import Record, Refuse, Run, Verdict
from selfcorrect.effects.equal import digest
from selfcorrect.errors import AnsweredError
from selfcorrect.lazy import load_table
from selfcorrect.model import (
    JSON,
    Call,
    Change,
    Changed,
    Diagnosis,
    GiveUp,
    JsonDict,
    JsonObject,
    Repair,
    Result,
    Retry,
    Safety,
    Terminal,
    change_of,
)
from selfcorrect.names.likeness import typos
from selfcorrect.nodes.round import NO_HELP, PERSON, Round, Rung, take
from selfcorrect.pointer import ARGS, keys_of, look
from selfcorrect.schema.place import Place
from selfcorrect.state import CorrectionState, Question, Update
from selfcorrect.text import bound
from selfcorrect.tools.run import plain

_VOUCH = ("key", "outcome", "attempt")
_AFFIRMS = ("changed", "retry")
"""What an answer comes to that lets the call run; a rejection vouches for nothing."""


async def take_answer(
    answer: object, question: Question, state: CorrectionState, context: RunContext
) -> Update:
    """Return what a person's answer comes to; one that cannot be used is asked for again.

    Raises:
        AnsweredError: If somebody else has answered the question otherwise.
    """
    answer, round_ = plain(answer), Round(state, context)
    # Only the answer to a question about a doubt vouches, and only for that doubt.
    round_.vouch += [{name: doubt[name] for name in _VOUCH} for doubt in question["doubts"]]
    rung = Rung(PERSON, Diagnosis(paths=(question["path"],)))
    outcome = take(_checked_repair(answer, question, round_), rung, round_)
    if outcome not in _AFFIRMS:
        round_.vouch = state["vouch"]
    if outcome in NO_HELP:
        round_.question = {**question, "problem": round_.tried[-1]["reason"]}
    else:
        await _claim(answer, question, context)
        round_.count("questions")
    return round_.update()


def _checked_repair(answer: JSON, question: Question, round_: Round) -> Repair:
    """Return the repair of an answer; the call may run as it stands only if it fits its tool."""
    call, context = round_.call, round_.context
    tool, keys = context.tools.get(call.name), keys_of(question["path"])
    place = tool.arguments.at(keys) if tool is not None and keys else None
    is_first = not round_.counts.get("questions")
    repair = repair_of(answer, question, call, place, is_first=is_first)
    if isinstance(repair, Retry) and (wrong := context.check_call(call)) is not None:
        return GiveUp(f"the call cannot run as it stands: {wrong['findings'][0]['text']}")
    return repair


async def _claim(answer: JSON, question: Question, context: RunContext) -> None:
    """Take the question for this answer: of two that come at once, one counts."""
    if context.task is None:
        return
    own, key = digest(answer), digest("answer", context.task)
    about = f"{own} {bound(question['question'], 200)}"
    record = Record(key, key, "a person's answer", about=about, thread=context.thread or "")

    def decide(history: Sequence[Record]) -> Verdict:
        is_other = any(not record.about.startswith(own) for record in history)
        return Refuse("repeated_failure") if is_other else Run()

    if isinstance(await context.use_ledger(context.ledger.begin, record, decide), Refuse):
        raise AnsweredError(f"the question {question['id']} was answered already")
    await context.use_ledger(context.ledger.settle, key, Outcome.DONE)


def repair_of(
    answer: Any, question: Question, call: Call, place: Place | None, *, is_first: bool
) -> Repair:
    """Read a person's answer; `GiveUp` says why it cannot be used.

    | answer | does |
    |---|---|
    | `{"action": "answer", "value": v}`, or the bare value | puts it where the fault is |
    | `{"action": "choose", "choice": n}` | takes an option, by index or by value |
    | `{"action": "approve"}`, or the word | takes the only option, or runs the call as it stands |
    | `{"action": "edit", "args": {…}}`, or `"call"` | gives arguments, or the whole call, anew |
    | `{"action": "reject", "reason": "…"}`, the word, or None | ends the run |
    | `{"action": "respond", "message": "…"}` | answers for the tool, which is not called |

    LangChain's forms count too: `{"type": …}`, alone or as `{"decisions": [{…}]}`. A bare word such
    as "no" is a value only where the place lists it or is a boolean.

    `"question": id` beside the action names the question, as `{"question": id, "answer": …}` does
    around any of these; only the first question of a run takes an answer without it, so that a
    double click answers nothing twice.

    Args:
        answer: What came.
        question: What was asked.
        call: The call as it stands.
        place: The place that the question is about, where it is about one.
        is_first: Whether it is the first question of the run.
    """
    named, inner = _named(answer)
    item = _item(inner, question, place)
    if isinstance(item, GiveUp):
        return item
    if named != question["id"] and (named is not None or not is_first):
        return GiveUp("the answer is for another question; name this one by its id")
    match item["action"]:
        case "reject":
            reason = item.get("reason") or item.get("message") or "no reason"
            return Terminal(f"A person rejected the call: {reason}")
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
        case "respond" if "message" in item:
            return Result(item["message"])
        case action:
            return GiveUp(f"the action {action!r:.40} does not answer this question")


def _named(answer: Any) -> tuple[Any, Any]:
    """Return the question that an answer names, and what it says."""
    if not isinstance(answer, Mapping):
        return None, answer
    is_around = answer.keys() == {"question", "answer"}
    return answer.get("question"), answer["answer"] if is_around else answer


_TABLE: Mapping[str, Mapping[str, str]] = load_table("people/answers.toml")


def _item(answer: Any, question: Question, place: Place | None) -> JsonDict | GiveUp:
    """Return an answer as an object with one of our actions."""
    if answer is None:
        return {"action": "reject"}
    if isinstance(answer, Mapping) and isinstance(answer.get("decisions"), list):
        answer = answer["decisions"]
        if len(answer) != 1:
            return GiveUp(f"this question takes one decision, not {len(answer)}")
        answer = answer[0]
    if (action := _action_of(answer)) is not None:
        return {**answer, "action": action}
    if isinstance(answer, str | bool):
        return _word(answer, question, place)
    return {"action": "answer", "value": answer}


def _action_of(answer: Any) -> str | None:
    """Return the action that an object names, as we call it; None where it is a value."""
    if not isinstance(answer, Mapping):
        return None
    if "action" in answer and not isinstance(answer["action"], Mapping):
        word = str(answer["action"])
        return _TABLE["actions"].get(word.strip().casefold(), word)
    return _TABLE["actions"].get(str(answer.get("type")).strip().casefold())


def _word(answer: str | bool, question: Question, place: Place | None) -> JsonDict | GiveUp:
    """Tell a decision from a value; where a word may be both, neither is guessed."""
    word = str(answer).strip().strip(".!'\"`").casefold()
    choices = place.choices if place is not None else ()
    listed = [str(value).casefold() for value in (*question["options"], *choices)]
    decision, value = _TABLE["words"].get(word), {"action": "answer", "value": answer}
    if not question["path"]:
        decision = decision or _TABLE["unclear"].get(word)
        return value if decision is None else {"action": decision}
    if decision is not None and word not in listed:
        return {"action": decision}
    is_value = word in listed or (place is not None and "boolean" in place.types)
    is_slip = any(typos(word, other, 1) <= 1 for other in _TABLE["words"])
    if decision is None and (is_value or not (word in _TABLE["unclear"] or is_slip)):
        return value
    return GiveUp(
        f"{answer!r:.40} may be a value or a decision; answer with"
        ' {"action": "answer", "value": …}, {"action": "approve"} or {"action": "reject"}'
    )


def _choice(choice: Any, question: Question, call: Call) -> Repair:
    options = question["options"]
    if isinstance(choice, int) and not isinstance(choice, bool) and 0 <= choice < len(options):
        choice = options[choice]
    elif choice not in options:
        return GiveUp(f"choose one of {len(options)} options, from 0, or by its value")
    return _choose(choice, question, call)


def _choose(option: Any, question: Question, call: Call) -> Repair:
    if isinstance(option, Mapping) and "changes" in option:
        changes = [change_of(item) for item in option["changes"]]
        return Changed(_by_person(old.path, old.before, old.after) for old in changes)
    return _set(question["path"], option, call)


def _set(path: str, value: JSON, call: Call) -> Repair:
    if not path:
        return GiveUp("the question is about no single place: answer with an edit of the call")
    return Changed(_by_person(path, look(call, path), value))


def _edit(item: JsonObject, question: Question, call: Call) -> Repair:
    if "value" in item:
        return _set(question["path"], item["value"], call)
    new = item.get("call") or item.get("edited_action") or item
    args = new.get("args") if isinstance(new, Mapping) else None
    if not isinstance(args, Mapping):
        return GiveUp("an edit needs `args`, or a `call` with name and args")
    changes = [_by_person(ARGS, call.args, {**args})]
    if new.get("name", call.name) != call.name:
        changes.insert(0, _by_person("/name", call.name, new["name"]))
    return Changed(changes)


def _by_person(path: str, before: JSON, after: JSON) -> Change:
    return Change(path, before, after, Safety.HUMAN, "a person's answer")
