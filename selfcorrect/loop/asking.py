"""Everything that a person needs to decide beside the question, and whose answer is taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from selfcorrect.errors import AnsweredBefore
from selfcorrect.kernel.texts import excerpt, safe
from selfcorrect.loop.answers import who_answered
from selfcorrect.loop.context import RunContext
from selfcorrect.model import ANSWERS, JSON
from selfcorrect.plain import digest, plain
from selfcorrect.protocols import Tool
from selfcorrect.state import CorrectionState

_MOST: Final = 20
_NAMELESS_ANSWERS: Final = 3
_LONGEST: Final = 1_000
_NAMELESS: Final = (
    "the answer names no question and may have been meant for the one before; send the id of this "
    "one with it, as `question`"
)


def details(state: CorrectionState, context: RunContext) -> dict[str, JSON]:
    """The call before and after, what is wrong, what was tried, whether the tool may have acted.

    Values of sensitive fields are in it, since who decides must see them; secrets of known forms
    are not. Nothing of it goes to a model or a log.
    """
    call, original = state["current"], state["original"]
    tool = context.tools.get(str(call.get("name") or ""))
    told: dict[str, JSON] = {
        "call": safe(call),
        "errors": [_text(item.get("text")) for item in state["findings"][:_MOST]],
        "tried": [
            {key: _text(item.get(key)) for key in ("strategy", "outcome", "reason")}
            for item in state["tried"][-_MOST:]
        ],
        "refused": safe(state["refused"][-_MOST:]),
        "executions": len(state["attempts"]),
        "acted": acted(state, tool),
        "answers": list(ANSWERS),
        **(_named(state, context) if context.ask_person is not None else {}),
    }
    if tool is not None:
        told["effect"] = tool.effect
    if original != call:
        told["original"] = safe(original)
        made = [*state["changes"], *state["pending"]]
        told["changes"] = safe(made[-_MOST:])
    if request := state["given"].get("request"):
        told["request"] = _text(request)
    return told


def _named(state: CorrectionState, context: RunContext) -> dict[str, JSON]:
    """What tells a question from every other one: its id, and who answered those before it.

    A drop-in walks anew when its host comes back with the answer: its task is the same then.
    """
    answers = [event for event in state.get("trail") or () if event.get("answered")]
    own = state["given"].get("task_id") if context.around is None else None
    number = len(answers) + 1
    before: dict[str, JSON] = {str(each["answered"]): each.get("by") for each in answers}
    # Calls of one step are asked about side by side.
    about = digest(own or state["run"], state["original"].get("id"), number)
    return {"id": f"{number}.{about[:16]}", "before": before}


def asked(ask: Callable[[JSON], JSON], question: JSON) -> JSON:
    """A person's answer to this very question, through a host that does not tell questions apart.

    Without an id it is taken for the first question of a run alone: a double click must not answer
    the next one. Whatever is not for this question is told so, and the question asked anew; after
    three such answers nobody has answered.
    """
    if not isinstance(question, Mapping) or "id" not in question:
        return ask(question)
    told = dict(question)
    for _ in range(_NAMELESS_ANSWERS):  # a host may hand the same answer over again and again
        answer = ask(told)
        is_whole = isinstance(answer, Mapping) and "action" in answer
        named = answer.get("question") if is_whole else None
        if named == question["id"] or not (named or question["before"]):
            return answer
        told["problem"] = _NAMELESS
        if named is not None:
            by = question["before"].get(named, "nobody")
            told["problem"] = f"the answer was for question {_text(named)}, answered by {by or '?'}"
    return {"action": "unanswered", "problem": told["problem"]}


def naming(answer: Any, question: Any) -> Any:
    """The answer with the id of its question, as a host sends it that shows one at a time."""
    if not isinstance(question, Mapping) or not {"id", "answers"} <= question.keys():
        return answer
    if answer is None:
        answer = {"action": "reject"}
    is_whole = isinstance(answer, Mapping) and "action" in answer
    whole = answer if is_whole else {"action": "answer", "value": answer}
    return {"question": question["id"], **whole}


async def take(context: RunContext, question: Mapping[str, Any], answer: Any) -> None:
    """Take an answer, if nobody gave another one to this question.

    Raises:
        AnsweredBefore: If somebody did.
        LedgerError: If the ledger cannot be used.
    """
    if (id_ := question.get("id")) is None:
        return
    said = {**who_answered(answer), "answer": digest(plain(answer))}
    # A fork that a person makes asks anew, and is answered anew.
    board, name = context.board, f"answer:{id_}:{context.place}"
    if await context.of_store(board, board.swap, name, 0, said):
        return
    posted = await context.of_store(board, board.look, name)
    found = posted.value if isinstance(posted.value, dict) else {}
    if found.get("answer") != said["answer"]:
        by = found.get("by") or "somebody"
        raise AnsweredBefore(f"question {id_} was answered by {by}; this answer is not taken")


def acted(state: Mapping[str, Any], tool: Tool | None) -> str:
    """Whether the tool may already have acted in this run: `no`, `refused` or `maybe`.

    Where it may have, and must not act twice, the run is barred from calling it again.
    """
    if not state["attempts"] or (tool is not None and tool.effect == "read_only"):
        return "no"
    if (barred := state["barred"]) is not None:
        return "refused" if barred["reason"] == "refused" else "maybe"
    harmless = tool is not None and tool.effect == "idempotent"
    return "maybe" if harmless else "no"


def _text(value: Any) -> str:
    return excerpt(str(value or ""), _LONGEST)
