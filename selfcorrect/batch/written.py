"""What a caller hands over to be mended, as what a run takes, and the way back into its form.

A value in which no structure shows a call is read as its JSON text is: there is one reader.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeAlias, TypeGuard

from selfcorrect.batch.mended import MendedCall
from selfcorrect.errors import ModelFailed
from selfcorrect.forms import langchain
from selfcorrect.forms.access import get, is_record, part
from selfcorrect.forms.answers import answered
from selfcorrect.forms.calls import (
    BARE_FORMS,
    HOLDERS,
    MOST_CALLS,
    Slot,
    copies,
    form_of,
    is_others,
    parsed,
    slots,
)
from selfcorrect.forms.endings import alternatives, is_marked_refused, reasons_in, reasons_said
from selfcorrect.forms.langchain import is_answer, is_words, rewritten, said
from selfcorrect.forms.texts import Words, words_in
from selfcorrect.kernel.metadata import ended
from selfcorrect.kernel.requests import REFUSED, is_refusal
from selfcorrect.model import Call
from selfcorrect.plain import problem
from selfcorrect.reading.contract import ToolCallKeys
from selfcorrect.reading.endings import ended_in
from selfcorrect.reading.envelopes import read_call_object

WANTED: Final = (
    "pass the text that a model wrote, a call as an object with name and args, a message or a "
    "whole response as an object, or a list of calls"
)
_OWN_KEYS: Final = {"name", "args"}
"""The keys of our own form of a call, which needs no reading."""
_KEYS: Final = ToolCallKeys()

Back: TypeAlias = Callable[..., Any]
"""Writes calls into the form in which they came; None leaves what stands there.

Of a message's text, `left` are the words that stay.
"""


class Unusable(Exception):
    """Nothing that a run could take was handed over; the message says what to pass.

    Attributes:
        cut: The model was cut off in its answer.
    """

    def __init__(self, message: str, *, cut: bool = False) -> None:
        super().__init__(message)
        self.cut = cut


@dataclass(frozen=True, slots=True)
class One:
    """One call as it was handed over.

    Attributes:
        given: What a run takes.
        name: The tool's name.
        args: The arguments as they stand there: an object, a text, or nothing.
        id: Its id as it stands there.
        beside: What else is written right beside the arguments.
        status: Why it ends there, where it says so.
        is_whole: Name and arguments are all that counts in it.
        is_marked: It is in a provider's own form, and says so.
    """

    given: Mapping[str, Any]
    name: str
    args: Any
    id: Any = None
    beside: Mapping[str, Any] = field(default_factory=dict)
    status: str | None = None
    is_whole: bool = True
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote.

    Attributes:
        back: The way back into its form.
        text: A text to read, or None where there are calls.
        calls: The calls.
        finish_reason: Why the model stopped, where what was handed over says so.
        cut: It says that it was cut off, and nothing proves that its last call is whole.
        is_said: It is a message, and no structure shows a call in it.
    """

    back: Back
    text: str | None = None
    calls: tuple[One, ...] = ()
    finish_reason: str | None = None
    cut: bool = False
    is_said: bool = False


def written(given: Any) -> Written:
    """What was handed over, as calls or as a text.

    Raises:
        Unusable: If it is neither, or holds several answers.

    >>> [one.name for one in written({"name": "find", "args": {"q": "x"}}).calls]
    ['find']
    >>> written("[find(q='x')]").text
    "[find(q='x')]"
    """
    if isinstance(given, str):
        return Written(_as_text, given)
    if isinstance(given, Call | MendedCall):
        return _of_call(given)
    if is_answer(given):
        return _of_langchain(given)
    if isinstance(given, list) and len(given) > MOST_CALLS:
        raise Unusable(f"a list of more than {MOST_CALLS} calls")
    if (several := alternatives(given)) is not None:
        raise Unusable(f"{several[0]} holds {several[1]} answers: pass the one that is meant")
    if _is_plain(given):
        return Written(partial(_into_plain, given), calls=(_plain(given),))
    if isinstance(given, list) and given and all(map(_is_plain, given)):
        return Written(partial(_into_list, given), calls=tuple(map(_plain, given)))
    found = slots(given)
    if found and not (found := _open(given, found)):
        return Written(_first, "", is_said=True)
    if found and not _says_more(given, found):
        groups = copies(found)
        calls = tuple(_of_slot(group[0]) for group in groups)
        refused, cut = _ended(given)
        back = partial(_into_slots, given, groups)
        return Written(back, calls=calls, finish_reason=refused, cut=cut)
    return _of_value(given)


def arguments_of(call: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The arguments of a call in any of its usual forms, as they stand in it; None if it is none.

    >>> arguments_of({"tool": "find", "parameters": {"q": "x"}})
    {'q': 'x'}
    """
    if type(call) is dict and call.keys() - {"id"} == _OWN_KEYS and type(call["args"]) is dict:
        return call["args"] if type(call["name"]) is str else None
    found = read_call_object(call)
    return None if found is None else found.args


def _of_call(call: Call | MendedCall) -> Written:
    if isinstance(call, MendedCall):
        call = Call(call.name, call.partial or {} if call.args is None else call.args, call.id)
    if not call.name:
        return Written(_first, call.raw or "")
    args = call.args if call.raw is None else call.raw
    given = {"name": call.name, "args": args, "id": call.id}
    return Written(_first, calls=(One(given, call.name, args, call.id),))


def _first(calls: Sequence[Call | None]) -> Any:
    return calls[0]


def _as_text(calls: Sequence[Call | None]) -> str:
    return json.dumps(_as_objects(calls), ensure_ascii=False)


def _is_plain(item: Any) -> TypeGuard[Call | Mapping[str, Any]]:
    """Whether this is a call under plain keys, in no provider's form."""
    if not isinstance(item, Mapping):
        return isinstance(item, Call)
    try:
        return form_of(item) is None and arguments_of(item) is not None
    except RecursionError:
        raise Unusable("nested too deeply") from None


def _plain(item: Call | Mapping[str, Any]) -> One:
    if isinstance(item, Call):
        return _of_call(item).calls[0]
    found = read_call_object(item)
    name = found.name if found is not None else ""
    call_id = next((item[key] for key in (*_KEYS.id, "call_id") if item.get(key)), None)
    args = next((item[key] for key in _arguments_keys(item)), None)
    return One(item, name, args, call_id, is_whole=item.keys() - {"id"} == _OWN_KEYS)


def _arguments_keys(item: Mapping[str, Any]) -> list[str]:
    return [key for key in (*_KEYS.arguments, "input") if key in item]


def _into_plain(item: Call | Mapping[str, Any], calls: Sequence[Call | None]) -> Any:
    call = calls[0]
    if call is None or isinstance(item, Call):
        return call or item
    name_key = next((key for key in _KEYS.name if key in item), "name")
    keys = _arguments_keys(item) or ["args"]
    is_text = isinstance(item.get(keys[0]), str)
    args = json.dumps(call.args, ensure_ascii=False) if is_text else call.args
    # An argument that stood beside the others stands among them now.
    beside = {key: value for key, value in item.items() if key not in call.args or key in keys}
    own = {key: item[key] for key in (*_KEYS.id, name_key) if key in item}
    return {**beside, **own, name_key: call.name, keys[0]: args}


def _into_list(items: Sequence[Any], calls: Sequence[Call | None]) -> list[Any]:
    return [_into_plain(*pair) for pair in zip(items, ([call] for call in calls), strict=True)]


def _of_slot(slot: Slot) -> One:
    given: dict[str, Any] = {"name": slot.name, "args": slot.arguments}
    if slot.id is not None:
        given["id"] = str(slot.id)
    if slot.invalid:
        given["type"] = "invalid_tool_call"
    return One(
        given,
        slot.name,
        slot.arguments,
        slot.id,
        slot.beside,
        slot.status,
        is_whole=not slot.invalid,
        is_marked=slot.form not in BARE_FORMS,
    )


def _says_more(value: Any, found: Sequence[Slot]) -> bool:
    """Whether something that nobody knows stands around calls which nothing shows to be made.

    What a provider adds around the calls of its own form means nothing for them; what stands around
    others, a model may have written.
    """
    from selfcorrect.kernel.metadata import left_out

    for slot in found:
        for depth, key in enumerate(slot.path if slot.form in BARE_FORMS else ()):
            around = part(value, slot.path[:depth])
            if (
                isinstance(around, Mapping)
                and left_out(around, {str(key)}, message=True) is not None
            ):
                return True
    return False


def _into_slots(value: Any, groups: Sequence[Sequence[Slot]], calls: Sequence[Call | None]) -> Any:
    made: list[Slot] = []
    for group, call in zip(groups, calls, strict=True):
        if call is None:
            continue
        for slot in group:
            value = slot.written_into(value, call.name, call.args)
        made += group
    return parsed(value, made)


def _open(value: Any, found: tuple[Slot, ...]) -> tuple[Slot, ...]:
    """The calls that no later message of the same conversation has answered.

    Raises:
        Unusable: If there are too many.
    """
    if len(found) > MOST_CALLS:
        raise Unusable(f"more than {MOST_CALLS} calls")
    depth = 0 if isinstance(value, list) else 1
    listed = get(value, "output") if depth else value
    if not isinstance(listed, list):
        return found
    answers = {each: place for place, item in enumerate(listed) for each in answered(item)}
    return tuple(s for s in found if answers.get(str(s.id), -1) <= int(s.path[depth]))


def _ended(value: Any) -> tuple[str | None, bool]:
    """Why its provider says that nothing of an answer is to be done, and whether it is cut off."""
    reasons = list(reasons_said(value))
    refused = next(filter(is_refusal, reasons), None)
    if refused is None and is_marked_refused(value):
        refused = REFUSED
    return refused, any(ended(each) is False for each in reasons)


def _of_value(given: Any) -> Written:
    """A message without a call of its own: its words, or the JSON text of the whole."""
    value = dict(given) if isinstance(given, Mapping) else given
    if callable(getattr(value, "model_dump", None)) and is_record(value) and not is_others(value):
        return _of_sdk(value)
    if not isinstance(value, dict | list):
        raise Unusable(f"{WANTED}; not {type(given).__name__}")
    if not value:
        raise Unusable(f"an empty {type(given).__name__} holds no call: {WANTED}")
    if (found := problem(value)) is not None:
        raise Unusable(f"at {found[0] or 'the top'}: {found[1]}: {WANTED}")
    refused, cut = _ended(value)
    if (words := words_in(value)) is not None:
        reason = refused or ("length" if cut else None)
        return Written(partial(_into_words, given, words), words.text, finish_reason=reason)
    if cut and refused is None:
        raise cut_off()
    is_said = isinstance(value, dict) and not value.keys().isdisjoint(HOLDERS)
    text = json.dumps(value, ensure_ascii=False)
    return Written(_as_objects, text, finish_reason=refused, is_said=is_said)


def _of_sdk(given: Any) -> Written:
    """A message without a call of its own, as an object of a provider's SDK."""
    old = given.model_dump()
    found = _of_value(old)

    def back(calls: Sequence[Call | None], **more: Any) -> Any:
        new = found.back(calls, **more)
        fresh = type(given).model_validate(new)
        # On a copy of what came: what an SDK keeps beside its fields is kept.
        changed = {key: getattr(fresh, key) for key in new if new[key] != old.get(key)}
        return given.model_copy(update=changed)

    return replace(found, back=back)


def _into_words(given: Any, words: Words, calls: Sequence[Call | None], left: str = "") -> Any:
    return words.replaced(given, [call for call in calls if call is not None], left)


def _as_objects(calls: Sequence[Call | None]) -> Any:
    made = [{"name": call.name, "arguments": call.args} for call in calls if call is not None]
    return made[0] if len(made) == 1 else made


def _of_langchain(given: Any) -> Written:
    """A LangChain message; the chunks of a streamed one are nearer to what the model wrote."""
    told = {"response_metadata": getattr(given, "response_metadata", None)}
    end = ended_in(told)
    reason = "length" if end is False else "stop" if end else None
    if langchain.is_marked_refused(given):
        reason = REFUSED
    reason = next(filter(is_refusal, reasons_in(told)), reason)
    unread = getattr(given, "invalid_tool_calls", None) or ()
    chunks = getattr(given, "tool_call_chunks", None) or ()
    calls = chunks or (*given.tool_calls, *unread)
    if not calls:
        from selfcorrect.models.port import text_of

        try:
            text = text_of(given) if is_words(given.content) else ""
        except ModelFailed as error:
            raise Unusable(f"{error}: {WANTED}") from error
        return Written(partial(_into_said, given), text, finish_reason=reason)
    ones = tuple(
        One(
            call,
            str(call.get("name") or ""),
            call.get("args"),
            call.get("id"),
            is_whole=call.get("type") != "invalid_tool_call" and call.get("error") is None,
        )
        for call in calls
    )
    # Arguments that somebody parsed show no cut any more.
    cut = end is False and not isinstance(calls[-1].get("args"), str)
    return Written(
        partial(_into_langchain, given, calls), calls=ones, finish_reason=reason, cut=cut
    )


def _into_said(message: Any, calls: Sequence[Call | None], left: str = "") -> Any:
    made = [
        (None, {"name": call.name, "args": dict(call.args), "id": call.id})
        for call in calls
        if call is not None
    ]
    return rewritten(message, made, content=said(message.content, left))


def _into_langchain(
    message: Any, given: Sequence[Mapping[str, Any]], calls: Sequence[Call | None]
) -> Any:
    made: list[tuple[str | None, dict[str, Any]]] = []
    unread: list[Mapping[str, Any]] = []
    for old, call in zip(given, calls, strict=True):
        if call is not None:
            new = {"name": call.name, "args": dict(call.args), "id": old.get("id")}
            made.append((old.get("id"), new))
        elif isinstance(old.get("args"), Mapping) and old.get("type") != "invalid_tool_call":
            made.append((old.get("id"), {key: old.get(key) for key in ("name", "args", "id")}))
        else:
            kept = {key: old.get(key) for key in ("name", "args", "id", "error")}
            unread.append({**kept, "type": "invalid_tool_call"})
    return rewritten(message, made, unread=unread)


def cut_off() -> Unusable:
    """Why a call that may have been cut off is not made."""
    told = (
        "the model was cut off in this answer, whose last call may not be whole; ask for it again, "
        "with room for more output tokens"
    )
    return Unusable(told, cut=True)
