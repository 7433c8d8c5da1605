"""The answers of tools in a conversation, in every provider's form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from selfcorrect.forms.access import get, has, is_record, put
from selfcorrect.forms.calls import FORMS, CallForm
from selfcorrect.model import JsonObject
from selfcorrect.plain import is_one_of

Make: TypeAlias = Callable[[str, str, str], JsonObject]
"""Makes an answer: of the id of its call, the name of the tool, and a text."""

_BLOCKS: Final = ("content", "parts")
_MESSAGES: Final = (("role", "tool"), ("type", "tool"), ("type", "function_call_output"))
"""What tells an answer that is a message of its own, and not a block of the user's."""


def answered(message: Any) -> Iterator[str]:
    """The ids of the calls that a message answers."""
    for part in (message, *(each for key in _BLOCKS for each in _listed(get(message, key)))):
        for where, key in (
            (part, "tool_call_id"),
            (part if get(part, "type") == "function_call_output" else None, "call_id"),
            (part, "tool_use_id"),
            (get(part, "toolResult"), "toolUseId"),
            (get(part, "functionResponse"), "id"),
            (get(part, "function_response"), "id"),
        ):
            found = get(where, key)
            if isinstance(found, str):
                yield found


def named(message: Any, names: Mapping[Any, str]) -> Any:
    """The message, its answers named as their calls are now; the very same where nothing changes.

    Args:
        message: A message of a conversation.
        names: The new names, by the ids of the calls.
    """
    told = get(message, "tool_call_id")
    if told in names and get(message, "name") not in (None, names[told]):
        return put(message, ("name",), names[told])
    for key in _BLOCKS:
        for place, part in enumerate(_listed(get(message, key))):
            for inner in ("functionResponse", "function_response"):
                answer = get(part, inner)
                if is_record(answer) and get(answer, "id") in names:
                    path = (key, place, inner, "name")
                    message = put(message, path, names[get(answer, "id")])
    return message


def with_answers(messages: Sequence[Any], place: int, made: Sequence[Any]) -> list[Any]:
    """The conversation with these answers right behind a message of the model.

    Answers that are blocks go to the front of the next message, if that is the user's own.
    """
    before, after = list(messages[:place]), list(messages[place:])
    if any(get(made[0], key) == value for key, value in _MESSAGES):
        return [*before, *made, *after]
    key = "parts" if has(made[0], "functionResponse") else "content"
    following = after[0] if after else None
    if is_one_of(get(following, "role"), ("user",)):
        held = get(following, key)
        if isinstance(held, str):
            held = [{"type": "text", "text": held} if "type" in made[0] else {"text": held}]
        if isinstance(held, list):
            return [*before, put(following, (key,), [*made, *held]), *after[1:]]
    return [*before, {"role": "user", key: list(made)}, *after]


def answer_of(form: CallForm) -> Make | None:
    """How the answer to a call of this form is written; None where no provider asks for one."""
    return next((make for name, make in _MADE.items() if FORMS[name] is form), None)


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _chat(call_id: str, _: str, text: str) -> JsonObject:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def _responses(call_id: str, _: str, text: str) -> JsonObject:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def _anthropic(call_id: str, _: str, text: str) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": True}


def _bedrock(call_id: str, _: str, text: str) -> JsonObject:
    return {"toolResult": {"toolUseId": call_id, "content": [{"text": text}], "status": "error"}}


def _gemini(call_id: str, name: str, text: str) -> JsonObject:
    return {"functionResponse": {"id": call_id, "name": name, "response": {"error": text}}}


_MADE: Final[Mapping[str, Make]] = {
    "chat": _chat,
    "responses": _responses,
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "gemini": _gemini,
}
