"""Calls in chat messages: read out of an assistant's message, and written back mended.

Providers keep a call in up to three places of one message (`tool_calls`, content blocks,
`additional_kwargs`); all of them have to say the same, or the next request is refused.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage

from selfcorrect.forms import langchain
from selfcorrect.forms.access import get, is_record
from selfcorrect.forms.endings import reasons_in
from selfcorrect.kernel.metadata import ended, is_silent
from selfcorrect.kernel.requests import REFUSED, is_refusal
from selfcorrect.model import JSON
from selfcorrect.plain import TwoValues, digest, one_value

OURS: Final = "selfcorrect"
"""The key under which a message's `response_metadata` tells what was mended or why not."""

_MOST_MESSAGES: Final = 6
_LONGEST_MESSAGE: Final = 4_000


@dataclass(frozen=True, slots=True)
class Written:
    """One call as a model wrote it.

    Attributes:
        name: The tool's name.
        args: The arguments: an object, or the text that could not be read as one.
        id: The call's id; never empty, and no other call of the message has it.
        given_id: The id that the model gave.
        cut: The message ended early, and nothing proves that these arguments are whole.
        invalid: LangChain could not parse these arguments.
    """

    name: str
    args: JSON
    id: str
    given_id: str | None
    cut: bool = False
    invalid: bool = False

    def as_input(self) -> dict[str, JSON]:
        """The call as the loop takes it."""
        call = {"name": self.name, "args": self.args, "id": self.id}
        return {**call, "type": "invalid_tool_call"} if self.invalid else call


def new_id(message: str | None = None, place: int = 0) -> str:
    """An id for a call that has none: the same for the same place in the same message."""
    seed = uuid.uuid4().hex if message is None else digest(message, place)
    return f"call_{seed[:24]}"


def finish_reason(message: AIMessage) -> str | None:
    """Why the model stopped, in the provider's word, or None if it did not say.

    A refusal is told before everything else.
    """
    metadata = message.response_metadata or {}
    told = [reason.lower() for reason in reasons_in(metadata)]
    if langchain.is_marked_refused(message):
        return REFUSED
    if (refused := next(filter(is_refusal, told), None)) is not None:
        return refused
    if isinstance(metadata.get("incomplete_details"), Mapping):
        return "length"
    return next((reason for reason in told if ended(reason) is False), next(iter(told), None))


def written_calls(message: AIMessage, known: frozenset[str] = frozenset()) -> list[Written]:
    """Every call of a message, the ones that LangChain could not parse included, in order.

    Args:
        message: The assistant's message.
        known: Ids that other messages already use.
    """
    raw = _raw_arguments(message)
    reason = finish_reason(message)
    is_cut = ended(reason) is False and not is_refusal(reason)
    found: list[Written] = []
    seen = set(known)
    for place, call in enumerate((*message.tool_calls, *message.invalid_tool_calls)):
        given = call.get("id")
        args: JSON = call.get("args")
        text = raw.get(given or "")
        if text is not None and text.strip() and not langchain.is_object(text):
            args = text
        own = given if given and given not in seen else new_id(message.id, place)
        seen.add(own)
        invalid = place >= len(message.tool_calls)
        found.append(Written(str(call.get("name") or ""), args, own, given, invalid=invalid))
    if is_cut and found and not isinstance(found[-1].args, str):
        last = found[-1]
        if raw.get(last.given_id or "") is None:
            found[-1] = replace(last, cut=True)
    order = _order(message)
    return sorted(found, key=lambda call: order.get(call.given_id or "", len(order)))


def _raw_arguments(message: AIMessage) -> dict[str, str]:
    """The arguments as text by id, where a message still has them and they cannot be trusted."""
    if isinstance(message, AIMessageChunk):
        texts = [(chunk.get("id"), chunk.get("args")) for chunk in message.tool_call_chunks]
        return {found: text for found, text in texts if found and isinstance(text, str)}
    raw = message.additional_kwargs.get("tool_calls")
    calls = [call for call in raw if is_record(call)] if isinstance(raw, list) else []
    found = {str(call.get("id")): get(call.get("function"), "arguments") for call in calls}
    return {each: text for each, text in found.items() if _has_two_values(text)}


def _has_two_values(text: Any) -> bool:
    """Whether a key has two values, of which whoever parsed the text took one."""
    try:
        json.loads(text, object_pairs_hook=one_value, strict=False)
    except TwoValues:
        return True
    except (TypeError, ValueError, RecursionError):
        return False
    return False


def _order(message: AIMessage) -> dict[str, int]:
    """The order in which the provider listed the calls, as far as the content tells."""
    if not isinstance(message.content, list):
        return {}
    ids = [langchain.block_id(block) for block in message.content]
    return {found: place for place, found in enumerate(ids) if found}


def is_blank(message: AIMessage) -> bool:
    """Whether a message says nothing and calls nothing; thoughts alone say nothing."""
    if message.tool_calls or message.invalid_tool_calls or message.additional_kwargs.get("refusal"):
        return False
    content = message.content
    return all(map(is_silent, [content] if isinstance(content, str) else content))


def rewritten(
    message: AIMessage,
    calls: Sequence[tuple[str | None, dict[str, Any]]],
    *,
    content: Any = None,
    told: Mapping[str, JSON] | None = None,
) -> AIMessage:
    """A copy of a message that makes these calls and no others, in every place that has calls.

    Args:
        message: What the model wrote.
        calls: The calls as `{"name", "args", "id"}`, each with the id that the model gave it.
        content: The content to take the message's place, or None to keep it.
        told: What is noted in the message's metadata under `selfcorrect`.
    """
    metadata = dict(message.response_metadata or {})
    if told:
        metadata[OURS] = {**metadata.get(OURS, {}), **told}
    made: AIMessage = langchain.rewritten(message, calls, content=content, metadata=metadata)
    return made


def refusal(call: Mapping[str, Any], text: str, told: Mapping[str, JSON]) -> ToolMessage:
    """The answer to a call that was not done, or did not succeed."""
    return ToolMessage(
        content=text,
        name=call["name"] or "unknown",
        tool_call_id=call.get("id") or "",
        status="error",
        response_metadata={OURS: dict(told)},
    )


def note_of(message: BaseMessage) -> Mapping[str, Any]:
    """What selfcorrect noted in a message."""
    found = (message.response_metadata or {}).get(OURS)
    return found if isinstance(found, Mapping) else {}


def last_person(messages: Sequence[BaseMessage]) -> int:
    """The place of the last message of a person; -1 where there is none."""
    places = range(len(messages) - 1, -1, -1)
    return next((place for place in places if messages[place].type == "human"), -1)


def this_run(messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """The messages since the last one of the user, without it."""
    return messages[last_person(messages) + 1 :]


def request_of(messages: Sequence[BaseMessage]) -> str | None:
    """What the user asked for last."""
    place = last_person(messages)
    return None if place < 0 else str(messages[place].text)[:_LONGEST_MESSAGE]


def last_messages(messages: Sequence[BaseMessage]) -> list[JSON]:
    """The last few messages as plain JSON, for the prompt of a repair; answers with their tool."""
    return [
        {"role": message.type, "content": str(message.text)[:_LONGEST_MESSAGE]}
        | (
            {"name": message.name, "status": message.status}
            if isinstance(message, ToolMessage)
            else {}
        )
        for message in messages[-_MOST_MESSAGES:]
    ]
