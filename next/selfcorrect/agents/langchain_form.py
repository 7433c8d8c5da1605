"""LangChain's messages as a form of threads."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, ToolCall, ToolMessage

from selfcorrect.agents.calls import calls_of, with_calls
from selfcorrect.agents.forms import ThreadCall, Unit, without_half_characters
from selfcorrect.model import JSON

_SENT = frozenset(
    ("content", "additional_kwargs", "tool_calls", "invalid_tool_calls", "tool_call_id", "name")
)
"""What of a message goes to a provider."""


class LangChainForm:
    """LangChain's messages: a message for each answer."""

    def clean(self, message: Any) -> Any:
        held = {part: each for part, each in vars(message).items() if part in _SENT}
        made: Any = without_half_characters(held)
        return message if made == held else message.model_copy(update=made)

    def is_written(self, args: JSON) -> bool:
        return isinstance(args, dict)

    def split(self, messages: Sequence[Any]) -> list[Unit]:
        return [self._unit(at, each) for at, each in enumerate(messages)]

    def _unit(self, at: int, message: Any) -> Unit:
        if isinstance(message, ToolMessage):
            return Unit(at, message, answers=message.tool_call_id or "", tool=message.name or "")
        if not isinstance(message, AIMessage):
            return Unit(at, message)
        good = len(message.tool_calls)
        # What LangChain could not read stays a text here, so that it counts as malformed.
        written = [
            ThreadCall(each["id"] or "", each["name"], each["args"] if index < good else [])
            for index, each in enumerate(calls_of(message))
        ]
        return Unit(at, message, tuple(written))

    def with_calls(self, item: Any, calls: Sequence[ThreadCall]) -> Any:
        made = [
            ToolCall(name=each.name, args=dict(each.args), id=each.id, type="tool_call")
            for each in calls
        ]
        return with_calls(item, made)

    def answer(self, item: Any, call: ThreadCall, text: str) -> Any:
        if item is None:
            return ToolMessage(text, name=call.name, tool_call_id=call.id, status="error")
        same = item.tool_call_id == call.id
        return item if same else item.model_copy(update={"tool_call_id": call.id})

    def join(self, units: Sequence[Unit]) -> list[Any]:
        return [unit.item for unit in units]
