"""What a caller hands over to be mended, as what a run takes: calls as objects, or a text.

A message, or a provider's whole response, is read as its JSON text is: there is one reader.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from selfcorrect import reading
from selfcorrect.errors import ModelFailed
from selfcorrect.model import Call
from selfcorrect.plain import problem

WANTED: Final = (
    "pass the text that a model wrote, a call as an object with name and args, a message or a "
    "whole response as an object, or a list of calls"
)
_OWN_KEYS: Final = {"name", "args"}
"""The keys of our own form of a call, which needs no reading."""
_ANSWERS: Final = ("choices", "candidates")
"""Where responses hold one answer or more, which are alternatives of one another."""


class Unusable(Exception):
    """Nothing that a run could take was handed over; the message says what to pass.

    Attributes:
        cut: The model was cut off in its answer.
    """

    def __init__(self, message: str, *, cut: bool = False) -> None:
        super().__init__(message)
        self.cut = cut


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote.

    Attributes:
        text: A text to read, or None where there are calls.
        calls: Calls, each an object.
        finish_reason: Why the model stopped, where what was handed over says so.
    """

    text: str | None = None
    calls: tuple[Mapping[str, Any], ...] = ()
    finish_reason: str | None = None


def written(given: Any) -> Written:
    """What was handed over, as calls or as a text.

    Raises:
        Unusable: If it is neither, or an answer in which the model was cut off.

    >>> written({"name": "find", "args": {"q": "x"}}).calls
    ({'name': 'find', 'args': {'q': 'x'}},)
    >>> written({"tool_calls": [{"name": "find", "args": {"q": "x"}}]}).text
    '{"tool_calls": [{"name": "find", "args": {"q": "x"}}]}'
    """
    if isinstance(given, str):
        return Written(given)
    if isinstance(given, Call):
        return Written(calls=(_as_object(given),)) if given.name else Written(given.raw or "")
    if isinstance(given, Mapping):
        return Written(calls=(given,)) if _is_call(given) else _of_response(given)
    if isinstance(given, list):
        return _of_list(given)
    if _is_message(given):
        return _of_message(given)
    dumps = " (its .model_dump() may be one)" if hasattr(given, "model_dump") else ""
    raise Unusable(f"{WANTED}; not {type(given).__name__}{dumps}")


def arguments_of(call: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The arguments of a call in any of its usual forms, as they stand in it; None if it is none.

    >>> arguments_of({"tool": "find", "parameters": {"q": "x"}})
    {'q': 'x'}
    """
    if type(call) is dict and call.keys() - {"id"} == _OWN_KEYS and type(call["args"]) is dict:
        return call["args"] if type(call["name"]) is str else None
    found = reading.read_call_object(call)
    return None if found is None else found.args


def _is_call(item: Any) -> bool:
    if not isinstance(item, Mapping):
        return isinstance(item, Call)
    try:
        return arguments_of(item) is not None
    except RecursionError:
        raise Unusable("nested too deeply") from None


def _as_object(call: Call | Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(call, Call):
        return call
    args = call.args if call.raw is None else call.raw
    return {"name": call.name, "args": args, "id": call.id}


def _of_list(given: list[Any]) -> Written:
    if len(given) > reading.MOST_CALLS:
        raise Unusable(f"a list of more than {reading.MOST_CALLS} calls")
    if given and all(map(_is_call, given)):
        return Written(calls=tuple(map(_as_object, given)))
    return _of_response(given)


def _of_response(given: Mapping[str, Any] | list[Any]) -> Written:
    """A message or a response as JSON text."""
    value = dict(given) if isinstance(given, Mapping) else given
    if not value:
        raise Unusable(f"an empty {type(given).__name__} holds no call: {WANTED}")
    if (found := problem(value)) is not None:
        raise Unusable(f"at {found[0] or 'the top'}: {found[1]}: {WANTED}")
    if any(not reading.ending_in(said, reading.Ending()).closers for said in _endings(value)):
        raise _cut()
    return Written(json.dumps(value, ensure_ascii=False))


def _endings(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of a response that may say why the model stopped."""
    for item in value if isinstance(value, list) else (value,):
        if not isinstance(item, Mapping):
            continue
        yield item
        for key in _ANSWERS:
            answers = item.get(key)
            if isinstance(answers, list) and len(answers) > 1:
                raise Unusable(f"{key} holds {len(answers)} answers: pass the one that is meant")
            if isinstance(answers, list):
                yield from (each for each in answers if isinstance(each, Mapping))


def _is_message(given: Any) -> bool:
    """Whether this is an answer as LangChain keeps it: its calls are dicts, its text content."""
    calls = getattr(given, "tool_calls", None)
    is_list = isinstance(calls, list) and all(isinstance(call, Mapping) for call in calls)
    return is_list and hasattr(given, "content")


def _of_message(given: Any) -> Written:
    """A LangChain message; the chunks of a streamed one are nearer to what the model wrote."""
    told = {"response_metadata": getattr(given, "response_metadata", None)}
    ending = reading.ending_in(told, reading.Ending())
    reason = "length" if not ending.closers else "stop" if ending.complete else None
    unread = getattr(given, "invalid_tool_calls", None) or ()
    calls = getattr(given, "tool_call_chunks", None) or (*given.tool_calls, *unread)
    if not calls:
        from selfcorrect.models.port import text_of

        try:
            return Written(text_of(given), finish_reason=reason)
        except ModelFailed as error:
            raise Unusable(f"{error}: {WANTED}") from error
    if not ending.closers and not isinstance(calls[-1].get("args"), str):
        raise _cut()  # arguments that somebody parsed show no cut any more
    return Written(calls=tuple(calls), finish_reason=reason)


def _cut() -> Unusable:
    told = (
        "the model was cut off in this answer, whose last call may not be whole; ask for it again, "
        "with room for more output tokens"
    )
    return Unusable(told, cut=True)
