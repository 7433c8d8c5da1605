"""What a model answered inside an agent, whatever LangChain wraps it in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.types import Command

from selfcorrect.errors import MissingExtra
from selfcorrect.integrations.turn import Turn

try:
    from langchain.agents.middleware.types import ExtendedModelResponse, ModelResponse
except ImportError as error:
    raise MissingExtra("agent", "SelfCorrection") from error


def response_of(messages: Sequence[BaseMessage], structured: Any = None) -> ModelResponse[Any]:
    """The messages as what a model answered."""
    return ModelResponse([*messages], structured)


def message_of(value: Any) -> AIMessage:
    """What `RespondWith` holds, as the model's answer.

    Raises:
        TypeError: If it is neither a message nor text.
    """
    if isinstance(value, AIMessage):
        return value
    if isinstance(value, str):
        return AIMessage(value)
    kind = type(value).__name__
    raise TypeError(f"on_model_error: an agent answers with an AIMessage or text, not {kind}")


def answered(turn: Turn, response: ModelResponse[Any]) -> Any:
    """What the agent is given: the response, with what the turn changes in the agent's state."""
    if turn.is_untouched:
        return response
    whole = ModelResponse([*turn.kept, *response.result], response.structured_response)
    return ExtendedModelResponse(whole, Command(update=turn.update()))


def as_response(response: Any) -> ModelResponse[Any]:
    """What a handler answered, in the form that they have in common."""
    if isinstance(response, AIMessage):
        return ModelResponse([response])
    if isinstance(response, ExtendedModelResponse):
        return response.model_response
    found: ModelResponse[Any] = response
    return found


def replaced(response: ModelResponse[Any], place: int, message: AIMessage) -> ModelResponse[Any]:
    """The response with another message at a place."""
    result = [*response.result[:place], message, *response.result[place + 1 :]]
    return ModelResponse(result, response.structured_response)


def last_ai(messages: Sequence[BaseMessage]) -> tuple[int, AIMessage | None]:
    """The last message of the model, and its place; -1 and None where there is none."""
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, AIMessage):
            return place, message
    return -1, None


def settled_in(messages: Sequence[BaseMessage], response_format: Any) -> frozenset[str]:
    """What is no call of a tool: ids that are answered already, names of structured answers."""
    ids = {each.tool_call_id for each in messages if isinstance(each, ToolMessage)}
    specs = getattr(response_format, "schema_specs", None) or ()
    names = {str(spec.name) for spec in specs}
    schema = getattr(response_format, "schema", None)
    if isinstance(name := getattr(schema, "__name__", None), str):
        names.add(name)
    return frozenset({*ids, *names})
