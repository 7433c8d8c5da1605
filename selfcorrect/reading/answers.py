"""What a person answered, read as a repair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeGuard

from selfcorrect.json_forms import change_from_json, is_proposal
from selfcorrect.model import (
    ABSENT,
    ANSWERS,
    JSON,
    OWN_CHECKS,
    Call,
    Change,
    Changed,
    Finding,
    GiveUp,
    Repair,
    Safety,
    Terminal,
)
from selfcorrect.plain import clean
from selfcorrect.pointer import join, look
from selfcorrect.reading.contract import ToolCallKeys
from selfcorrect.reading.envelopes import read_call_object
from selfcorrect.schema.subschema import same

_LONGEST: Final = 500
_REJECTED: Final = "rejected"
_NO: Final = ("reject", "rejected", "cancel")


def read_answer(answer: JSON, call: Call, finding: Finding, options: Sequence[JSON] = ()) -> Repair:
    """A person's answer as a repair, of class `human`.

    Args:
        answer: `{"action": "approve"}` takes the only option; `{"action": "choose", "choice": …}`
            an option, by index or by value; `{"action": "answer", "value": …}`, or a bare value,
            goes to the argument at fault; `{"action": "edit"}` brings `args`, `call` or `value`;
            `{"action": "reject"}`, or null, ends the run.
        call: The call as it stands.
        finding: What was asked about.
        options: What there was to choose from.

    >>> finding = Finding("missing", paths=("/args/passengers",))
    >>> read_answer(2, Call("book"), finding).changes[0].after
    2
    >>> read_answer(None, Call("book"), finding)
    Terminal(reason='rejected')
    """
    if _says_no(answer):
        why = answer.get("reason") if isinstance(answer, Mapping) else None
        return Terminal(f"rejected: {clean(why[:_LONGEST])}" if _is_text(why) else _REJECTED)
    if not isinstance(answer, Mapping) or "action" not in answer:
        return _at_fault(answer, call, finding)
    match answer["action"]:
        case "approve":
            if len(options) != 1:
                return GiveUp(f"there is not one proposal to approve, but {len(options)}")
            return _chosen(options[0], call, finding)
        case "choose":
            return _choice(answer.get("choice", ABSENT), call, finding, options)
        case "edit" if "value" not in answer:
            return _edited(answer, call)
    if answer["action"] == "unanswered":
        return GiveUp(clean(str(answer.get("problem"))[:_LONGEST]))
    if answer["action"] not in ("answer", "edit"):
        return GiveUp(f"there is no such action; the actions are {', '.join(ANSWERS)}")
    if "value" not in answer:
        return GiveUp("the answer holds no value")
    return _at_fault(answer["value"], call, finding)


def _says_no(answer: JSON) -> bool:
    """A rejection in any of its spellings; as the text of an argument it is never run."""
    if isinstance(answer, Mapping):
        answer = answer.get("action", answer.get("type", ""))
    return answer is None or (isinstance(answer, str) and answer.strip().lower() in _NO)


def _is_text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip())


def _choice(choice: JSON, call: Call, finding: Finding, options: Sequence[JSON]) -> Repair:
    for option in options:
        if choice is not ABSENT and type(option) is type(choice) and same(option, choice):
            return _chosen(option, call, finding)
    if isinstance(choice, int) and not isinstance(choice, bool) and 0 <= choice < len(options):
        return _chosen(options[choice], call, finding)
    offered = f"one of the {len(options)} options, by its index from 0 or by its value"
    return GiveUp(f"the answer chooses nothing that was offered: choice is {offered}")


def _chosen(option: JSON, call: Call, finding: Finding) -> Repair:
    if not is_proposal(option):
        return _at_fault(option, call, finding)
    try:
        proposed = [change_from_json(item) for item in option]
    except (KeyError, ValueError):
        return GiveUp("the option cannot be read")
    return Changed([_human(call, change.path, change.after) for change in proposed])


def _at_fault(value: JSON, call: Call, finding: Finding) -> Repair:
    """The value at the place that was asked about."""
    path = finding.path
    if path is None or not (path == "/name" or path.startswith("/args/")):
        return GiveUp("the question is about the whole call: answer with an edit")
    if path == "/name" and not _is_text(value):
        return GiveUp("a tool's name is text")
    now = look(call, path)
    is_ours = not OWN_CHECKS.isdisjoint(finding.types[:1])
    if is_ours and type(now) is type(value) and same(now, value):
        return GiveUp("that is the value that cannot be right")
    return Changed(_human(call, path, value))


def _edited(answer: Mapping[str, Any], call: Call) -> Repair:
    """A whole call, or all its arguments, as a person wrote them."""
    if isinstance(answer.get("call"), Mapping):
        edited = read_call_object(answer["call"])
        if edited is None or edited.raw is not None:
            return GiveUp("the edited call cannot be read")
        name, args = edited.name or call.name, edited.args
    else:
        given = [answer[key] for key in ToolCallKeys().arguments if key in answer]
        if len(given) != 1 or not isinstance(given[0], Mapping):
            return GiveUp("an edit brings args, call or value")
        name, args = call.name, given[0]
    changes = [_human(call, "/name", name)] if name != call.name else []
    for key in (*call.args, *(key for key in args if key not in call.args)):
        after = args.get(key, ABSENT)
        before = call.args.get(key, ABSENT)
        if type(before) is not type(after) or not same(before, after):
            changes.append(_human(call, join("args", key), after))
    if call.raw is not None:
        changes.append(_human(call, "/raw", ABSENT))
    return Changed(changes) if changes else GiveUp("the edit changes nothing")


def _human(call: Call, path: str, after: JSON) -> Change:
    return Change(path, look(call, path), after, Safety.HUMAN, "a person's answer")
