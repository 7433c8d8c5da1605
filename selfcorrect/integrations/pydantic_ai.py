"""pydantic-ai: the calls of a model are repaired before the agent validates or approves them."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import CompletedStreamedResponse, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel

from selfcorrect.integrations.adapter import Adapter, Parts, Turn, WrittenCall, answer_of, tool_of
from selfcorrect.model import Call, JsonDict


class MendedModel(Adapter, WrapperModel):
    """A model whose calls are repaired: `Agent(MendedModel("openai:gpt-5"), …)`.

    Args:
        wrapped: The model, or its name.
        **options: Those of `Adapter`.
    """

    def __init__(self, wrapped: Any, **options: Any) -> None:
        WrapperModel.__init__(self, wrapped)
        Adapter.__init__(self, **options)

    async def request(
        self, messages: Any, model_settings: Any, model_request_parameters: Any
    ) -> ModelResponse:
        """Ask the model until all calls of its turn may run."""

        def ask(more: list[Any]) -> Any:
            return self.wrapped.request(
                [*messages, *more], model_settings, model_request_parameters
            )

        tools = _tools(model_request_parameters)
        response, turn = await self.complete(ask, _PARTS.read, _reply, _thread(messages), tools)
        if not turn.is_changed:
            return response
        return replace(response, parts=_PARTS.rewrite(response, turn))

    @asynccontextmanager
    async def request_stream(
        self, messages: Any, model_settings: Any, model_request_parameters: Any, *_: Any
    ) -> AsyncIterator[CompletedStreamedResponse]:
        """Stream a turn when it is whole: one that is not cannot be judged."""
        response = await self.request(messages, model_settings, model_request_parameters)
        yield CompletedStreamedResponse(
            response, model_request_parameters=model_request_parameters, replay_events=True
        )


def _tools(parameters: ModelRequestParameters) -> Iterator[JsonDict]:
    for tool in (*parameters.function_tools, *parameters.output_tools):
        effect = "read_only" if tool.kind == "output" else None
        yield tool_of(tool.name, tool.description, tool.parameters_json_schema, effect=effect)


def _thread(messages: Sequence[ModelMessage]) -> Iterator[JsonDict]:
    for message in messages:
        if isinstance(message, ModelResponse):
            yield _PARTS.read(message)
            continue
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                yield {"role": "user", "content": str(part.content)}
            elif isinstance(part, ToolReturnPart):
                status = part.outcome if part.outcome in ("success", "denied") else "error"
                yield answer_of(part.tool_call_id, part.model_response_str(), status)


def _reply(response: ModelResponse, turn: Turn) -> list[ModelMessage]:
    answers = [
        ToolReturnPart(call.name, text, call.id or "", outcome="retried")
        for call, text in turn.answers
    ]
    return [response, ModelRequest([UserPromptPart(turn.objection)] if turn.is_text else answers)]


def _call_of(part: Any) -> WrittenCall | None:
    if not isinstance(part, ToolCallPart):
        return None
    return part.tool_name, part.args or {}, part.tool_call_id


def _text_of(part: Any) -> str:
    return part.content if isinstance(part, TextPart) else ""


def _write(call: Call, part: ToolCallPart) -> ToolCallPart:
    # Beside the call stands what its provider wants to see again.
    return replace(part, tool_name=call.name, args=dict(call.args), tool_call_id=call.id or "")


_PARTS = Parts(
    lambda response: response.parts, _call_of, _text_of, TextPart, _write, ToolCallPart("")
)
