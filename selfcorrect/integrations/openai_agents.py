"""openai-agents: the calls of a model are repaired before the runner validates or approves them."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from inspect import signature
from typing import Any, Unpack

from agents import FunctionTool, ItemHelpers, Model, ModelBehaviorError, ModelResponse, Usage
from agents.exceptions import UserError
from agents.retry import ModelRetryAdvice, ModelRetryAdviceRequest
from openai.types.responses import ResponseFunctionToolCall

from selfcorrect.integrations.adapter import Adapter, Turn, tool_of
from selfcorrect.model import Effect, JsonDict
from selfcorrect.setup import Options


class MendedModel(Model):
    """A model whose calls are repaired: `Agent("clerk", model=MendedModel(model), …)`.

    If calls may not run after several tries, the run ends with `ModelBehaviorError`.

    Args:
        wrapped: The model.
        effects: What tools do, by name or glob; a tool that is not named has side effects.
        **options: Those of `Mender`.
    """

    def __init__(
        self,
        wrapped: Model,
        *,
        effects: Mapping[str, Effect] | None = None,
        **options: Unpack[Options],
    ) -> None:
        self._wrapped = wrapped
        self._adapter = Adapter(effects, **options)

    def get_retry_advice(self, request: ModelRetryAdviceRequest) -> ModelRetryAdvice | None:
        return self._wrapped.get_retry_advice(request)

    async def close(self) -> None:
        await self._wrapped.close()

    async def get_response(self, *args: Any, **more: Any) -> ModelResponse:
        """Ask the model until all calls of its turn may run."""
        return await self._complete(_request(self, *args, **more))

    async def stream_response(self, *args: Any, **more: Any) -> AsyncIterator[Any]:
        """Stream what stands before the first call as it comes, and the rest when it is judged."""
        request = _request(self, *args, **more)
        items, held = list[Any](), list[Any]()
        async for event in self._wrapped.stream_response(**request):
            is_call = getattr(getattr(event, "item", None), "type", "") == "function_call"
            if event.type == "response.output_item.done":
                items.append(event.item)
            if held or is_call or event.type == _END:
                held.append(event)
            else:
                yield event
        # Some servers send the items only one by one.
        ends = [event.response.output or items for event in held if event.type == _END]
        first = ModelResponse(ends[0] if ends else [], Usage(), None)
        response = await self._complete(request, first)
        for event in held:
            if event.type == _END:
                event.response.output = response.output
            if event.type == _END or response is first:
                yield event

    async def _complete(
        self, request: JsonDict, first: ModelResponse | None = None
    ) -> ModelResponse:
        async def ask(objected: list[tuple[ModelResponse, Turn]]) -> ModelResponse:
            if first and not objected:
                return first
            items = [item for pair in objected for item in _turn(*pair)]
            again = {**request, "input": [*request["input"], *items]}
            return await self._wrapped.get_response(**again)

        if request.get("previous_response_id") or request.get("conversation_id"):
            raise UserError("A thread on the server does not show lost calls; use a session.")
        tools = _tools(request["tools"], request["handoffs"])
        response: ModelResponse
        response, turn = await self._adapter.complete(ask, _message, request["input"], tools)
        if turn.objection and not turn.is_text:
            raise ModelBehaviorError(turn.objection)
        if not turn.is_changed or not turn.ready:
            return response
        return replace(response, output=_output(response.output, turn))


_END = "response.completed"
_JUDGED = ("function_call", "message", "reasoning")
_BLANK = ResponseFunctionToolCall(type="function_call", call_id="", name="", arguments="")


def _request(*args: Any, **more: Any) -> JsonDict:
    """Return the arguments of a method of `Model` by name."""
    request = signature(Model.get_response).bind_partial(*args, **more).arguments
    del request["self"]
    return {**request, "input": ItemHelpers.input_to_new_input_list(request["input"])}


def _tools(tools: list[Any], handoffs: list[Any]) -> Iterator[JsonDict]:
    for tool in tools:
        if isinstance(tool, FunctionTool):
            yield tool_of(tool.name, tool.description, _lenient(tool.params_json_schema))
    for each in handoffs:
        yield tool_of(each.tool_name, "", each.input_json_schema, effect="read_only")


def _lenient(schema: JsonDict) -> JsonDict:
    """Return a schema that demands no argument with a default; in strict mode it demands all."""
    parts, null = schema.get("properties", {}), {"type": "null"}
    required = [
        name
        for name in schema.get("required", ())
        if "default" not in parts[name] and null not in parts[name].get("anyOf", ())
    ]
    return {**schema, "required": required}


def _message(response: ModelResponse) -> JsonDict:
    """Return what is judged of a response; hosted tools have calls of their own."""
    items = response.to_input_items()
    return {"output": [item for item in items if item.get("type") in _JUDGED]}


def _turn(response: ModelResponse, turn: Turn) -> Iterator[JsonDict]:
    """Yield a turn that may not stand, and what the model reads of it."""
    yield from _message(response)["output"]
    if turn.is_text:
        yield {"role": "user", "content": turn.objection}
        return
    for call, text in turn.answers:
        yield {"type": "function_call_output", "call_id": call.id, "output": text}


def _output(items: list[Any], turn: Turn) -> list[Any]:
    """Return the items of a response with the calls that may run."""
    own = {item.call_id: item for item in items if item.type == "function_call"}
    others = [item for item in items if item.type != "function_call"]
    for call in turn.ready:
        update = {"call_id": call.id, "name": call.name, "arguments": json.dumps(call.args)}
        others.append(own.get(call.id, _BLANK).model_copy(update=update))
    return others
