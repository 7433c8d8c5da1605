"""pydantic-ai: the calls of a model are repaired before the agent validates or approves them."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import chain
from typing import Any, Unpack

from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import CompletedStreamedResponse, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel

from selfcorrect.integrations.adapter import Adapter, Parts, Turn, answer_of, tool_of
from selfcorrect.model import Call, Effect, JsonDict
from selfcorrect.setup import Options


class MendedModel(WrapperModel):
    """A model whose calls are repaired: `Agent(MendedModel("openai:gpt-5"), …)`.

    Args:
        wrapped: The model, or its name.
        effects: What tools do, by name or glob; a tool that is not named has side effects.
        **options: Those of `Mender`.
    """

    def __init__(
        self,
        wrapped: Any,
        *,
        effects: Mapping[str, Effect] | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(wrapped)
        self._adapter = Adapter(effects, **options)

    async def request(
        self, messages: Any, model_settings: Any, model_request_parameters: ModelRequestParameters
    ) -> ModelResponse:
        """Ask the model until all calls of its turn may run."""

        def ask(objected: list[tuple[ModelResponse, Turn]]) -> Any:
            more = [part for response, turn in objected for part in (response, _answers(turn))]
            thread = [*messages, *more]
            return self.wrapped.request(thread, model_settings, model_request_parameters)

        thread = [*chain.from_iterable(map(_messages, messages))]
        tools = _tools(model_request_parameters)
        response, turn = await self._adapter.complete(ask, _message, thread, tools)
        if not turn.is_changed:
            return response
        return replace(response, parts=_PARTS.rewrite(response.parts, turn))

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
    for tool in parameters.function_tools:
        yield tool_of(tool.name, tool.description, tool.parameters_json_schema)
    for out in parameters.output_tools:
        yield tool_of(out.name, out.description, out.parameters_json_schema, effect="read_only")


def _messages(message: ModelRequest | ModelResponse) -> Iterator[JsonDict]:
    if isinstance(message, ModelResponse):
        yield _message(message)
        return
    for part in message.parts:
        if isinstance(part, UserPromptPart):
            yield {"role": "user", "content": str(part.content)}
        elif isinstance(part, ToolReturnPart):
            status = part.outcome if part.outcome in ("success", "denied") else "error"
            yield answer_of(part.tool_call_id, part.model_response_str(), status)


def _message(response: ModelResponse) -> JsonDict:
    return _PARTS.message_of(response.parts, finish_reason=response.finish_reason)


def _call_of(part: Any) -> tuple[str, Any, str] | None:
    if not isinstance(part, ToolCallPart):
        return None
    return part.tool_name, part.args or {}, part.tool_call_id


def _text_of(part: Any) -> str:
    return part.content if isinstance(part, TextPart) else ""


def _write(call: Call, written: ToolCallPart | None) -> ToolCallPart:
    # Beside the call stands what its provider wants to see again.
    part = written or ToolCallPart(call.name, tool_call_id=call.id or "")
    return replace(part, tool_name=call.name, args=dict(call.args))


def _answers(turn: Turn) -> ModelRequest:
    """Return what the model reads behind a turn that may not stand."""
    answers = [
        ToolReturnPart(call.name, text, call.id or "", outcome="retried")
        for call, text in turn.answers
    ]
    return ModelRequest([UserPromptPart(turn.objection)] if turn.is_text else answers)


_PARTS = Parts(_call_of, _text_of, TextPart, _write)
