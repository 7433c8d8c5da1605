"""openai-agents: the calls of a model are repaired before the runner validates or approves them."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from inspect import signature
from typing import Any

from agents import FunctionTool, ItemHelpers, Model, ModelBehaviorError, ModelResponse, Usage
from agents.exceptions import UserError
from openai.types.responses import ResponseFunctionToolCall

from selfcorrect.integrations.adapter import Adapter, Turn, tool_of
from selfcorrect.model import JsonDict

_BLANK = ResponseFunctionToolCall(type="function_call", call_id="", name="", arguments="")


class MendedModel(Adapter, Model):
    """A model whose calls are repaired: `Agent("clerk", model=MendedModel(model), …)`.

    If calls may not run after several tries, the run ends with `ModelBehaviorError`.

    Args:
        wrapped: The model.
        **options: Those of `Adapter`.
    """

    def __init__(self, wrapped: Model, **options: Any) -> None:
        super().__init__(**options)
        self._wrapped = wrapped
        # Only turns are judged; the rest goes to the model.
        self.get_retry_advice, self.close = wrapped.get_retry_advice, wrapped.close  # type: ignore[method-assign]

    async def get_response(self, *args: Any, **more: Any) -> ModelResponse:
        """Ask the model until all calls of its turn may run."""
        return await self._complete(_request(self, *args, **more))

    async def stream_response(self, *args: Any, **more: Any) -> AsyncIterator[Any]:
        """Stream a turn when it is judged; of one with repaired calls the last event alone."""
        request = _request(self, *args, **more)
        items, held = list[Any](), list[Any]()
        async for event in self._wrapped.stream_response(**request):
            held.append(event)
            if event.type == "response.output_item.done":
                items.append(event.item)
            elif event.type == "response.completed":
                # Some servers send the items only one by one.
                first = ModelResponse(event.response.output or items, Usage(), None)
                response = await self._complete(request, first)
                if response is not first:
                    event.response.output = response.output
                    held = [event]
        for event in held:
            yield event

    async def _complete(self, request: JsonDict, first: Any = None) -> ModelResponse:
        async def ask(more: list[Any]) -> ModelResponse:
            if first and not more:
                return first
            again = {**request, "input": [*request["input"], *more]}
            return await self._wrapped.get_response(**again)

        if request.get("previous_response_id") or request.get("conversation_id"):
            raise UserError("A thread on the server does not show lost calls; use a session.")
        tools = _tools(request["tools"], request["handoffs"])
        response, turn = await self.complete(ask, _message, _reply, request["input"], tools)
        if turn.objection and not turn.is_text:
            raise ModelBehaviorError(turn.objection)
        return _rewrite(response, turn) if turn.is_changed else response


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
    optional = [
        name for name, part in parts.items() if "default" in part or null in part.get("anyOf", ())
    ]
    required = [name for name in schema.get("required", ()) if name not in optional]
    return {**schema, "required": required}


def _message(response: ModelResponse) -> JsonDict:
    """Return what is judged of a response; hosted tools have calls of their own."""
    judged = ("function_call", "message", "reasoning")
    return {"output": [item for item in response.to_input_items() if item.get("type") in judged]}


def _reply(response: ModelResponse, turn: Turn) -> Iterator[JsonDict]:
    yield from _message(response)["output"]
    if turn.is_text:
        yield {"role": "user", "content": turn.objection}
        return
    for call, text in turn.answers:
        yield {"type": "function_call_output", "call_id": call.id, "output": text}


def _rewrite(response: ModelResponse, turn: Turn) -> ModelResponse:
    """Return a response with the calls that may run."""
    own = {item.call_id: item for item in response.output if item.type == "function_call"}
    output = [item for item in response.output if item.type != "function_call"]
    for call in turn.ready:
        update = {"call_id": call.id, "name": call.name, "arguments": json.dumps(call.args)}
        output.append(own.get(call.id, _BLANK).model_copy(update=update))
    return replace(response, output=output)
