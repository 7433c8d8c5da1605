"""The model plans a call: asked once, where a run came with a request and no call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from selfcorrect.errors import ModelFailed, UnusableInput, is_control_flow
from selfcorrect.models.held import held_call
from selfcorrect.models.port import CountingModel, text_of
from selfcorrect.plain import as_text
from selfcorrect.protocols import Tool

_STOP_KEYS: Final = ("finish_reason", "stop_reason", "stopReason", "finishReason", "done_reason")


@dataclass(frozen=True, slots=True)
class Planned:
    """What the model answered.

    Attributes:
        given: The call as an object, or a text that may hold it.
        finish_reason: Why the model stopped, if it answered.
        is_native: The provider says that it is a call, and has parsed it.
    """

    given: Any
    finish_reason: str | None = None
    is_native: bool = False


async def planned_call(
    port: CountingModel,
    model: Any,
    tools: Iterable[Tool],
    messages: Sequence[Any],
    request: str,
) -> Planned:
    """Ask the model for one call of these tools.

    Raises:
        UnusableInput: If it cannot be asked, fails, or plans several calls.
    """
    if model is None:
        raise UnusableInput("a request without a call needs a model to plan one: pass model=")
    offered = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
            },
        }
        for tool in tools
    ]
    try:
        answer = await port.messages([*messages, ("human", request)], model.bind_tools(offered))
    except Exception as error:
        if is_control_flow(error):
            raise
        if (text := held_call(error)) is not None:
            return Planned(text)
        raise UnusableInput(f"the model could not plan a call: {as_text(error)[:200]}") from error
    reason = _why_it_stopped(getattr(answer, "response_metadata", None))
    calls = getattr(answer, "tool_calls", None) or []
    invalid = getattr(answer, "invalid_tool_calls", None) or []
    if len(calls) + len(invalid) > 1:
        raise UnusableInput("the model planned several calls; a run carries one")
    if calls or invalid:
        return Planned((invalid or calls)[0], reason, is_native=bool(calls))
    try:
        return Planned(text_of(answer), reason)
    except ModelFailed as error:
        raise UnusableInput(str(error)) from error


def _why_it_stopped(metadata: Any) -> str | None:
    """The finish reason of a model's answer, under any provider's name for it."""
    if not isinstance(metadata, Mapping):
        return None
    found = (metadata.get(key) for key in _STOP_KEYS)
    return next((item for item in found if isinstance(item, str)), None)
