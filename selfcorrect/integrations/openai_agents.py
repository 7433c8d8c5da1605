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

from selfcorrect.integrations.adapter import Adapter, Ask, Turn, tool_of
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
        request = _request(*args, **more)

        def ask(objected: list[tuple[ModelResponse, Turn]]) -> Any:
            return self._wrapped.get_response(**_again(request, objected))

        response, _ = await self._complete(ask, request)
        return response

    async def stream_response(self, *args: Any, **more: Any) -> AsyncIterator[Any]:
        """Stream what stands before the first call as it comes, and the rest when it is judged."""
        request = _request(*args, **more)
        events, held = list[Any](), list[Any]()
        async for event in self._wrapped.stream_response(**request):
            events.append(event)
            is_call = getattr(getattr(event, "item", None), "type", "") == "function_call"
            if held or is_call or event.type == "response.completed":
                held.append(event)
            else:
                yield event

        async def ask(objected: list[tuple[ModelResponse, Turn]]) -> ModelResponse:
            if objected:
                stream = self._wrapped.stream_response(**_again(request, objected))
                events[:] = held[:] = [event async for event in stream]
            return _response(events)

        response, is_changed = await self._complete(ask, request)
        for event in held:
            if event.type == "response.completed":
                event.response.output = response.output
            if event.type == "response.completed" or not is_changed:
                yield event

    async def _complete(self, ask: Ask, request: JsonDict) -> tuple[ModelResponse, bool]:
        if request.get("previous_response_id") or request.get("conversation_id"):
            raise UserError("A thread on the server does not show lost calls; use a session.")
        thread, tools = _items(request), _tools(request)
        response, turn = await self._adapter.complete(ask, _message, thread, tools)
        if turn.objection and not turn.is_text:
            raise ModelBehaviorError(turn.objection)
        is_changed = turn.is_changed and bool(turn.ready)
        if is_changed:
            response = replace(response, output=[*_output(response, turn)])
        return response, is_changed


def _request(*args: Any, **more: Any) -> JsonDict:
    """Return the arguments by name."""
    arguments = signature(Model.get_response).bind_partial(None, *args, **more).arguments
    return {name: item for name, item in arguments.items() if name != "self"}


def _items(request: JsonDict) -> list[Any]:
    return ItemHelpers.input_to_new_input_list(request["input"])


def _again(request: JsonDict, objected: list[tuple[ModelResponse, Turn]]) -> JsonDict:
    """Return the request behind turns that may not stand."""
    items = _items(request)
    for response, turn in objected:
        items += [*_message(response)["output"], *_answers(turn)]
    return {**request, "input": items} if objected else request


def _answers(turn: Turn) -> list[Any]:
    if turn.is_text:
        return [{"role": "user", "content": turn.objection}]
    return [
        {"type": "function_call_output", "call_id": call.id, "output": text}
        for call, text in turn.answers
    ]


def _tools(request: JsonDict) -> Iterator[JsonDict]:
    for tool in request["tools"]:
        if isinstance(tool, FunctionTool):
            yield tool_of(tool.name, tool.description, _lenient(tool.params_json_schema))
    for handoff in request["handoffs"]:
        schema = handoff.input_json_schema
        yield tool_of(handoff.tool_name, handoff.tool_description, schema, effect="read_only")


def _lenient(schema: JsonDict) -> JsonDict:
    """Return a schema that demands no argument with a default: strict mode demands all."""
    parts = schema.get("properties", {})
    free = {
        name
        for name in parts
        if "default" in parts[name] or {"type": "null"} in parts[name].get("anyOf", ())
    }
    return {**schema, "required": [n for n in schema.get("required", ()) if n not in free]}


def _message(response: ModelResponse) -> JsonDict:
    """Return what a response says and calls; hosted tools and the shell have calls of their own."""
    kinds = ("function_call", "message", "reasoning")
    return {"output": [item for item in response.to_input_items() if item.get("type") in kinds]}


def _output(response: ModelResponse, turn: Turn) -> Iterator[Any]:
    """Yield the items of a response with the calls that may run."""
    calls = {c.id: {"name": c.name, "arguments": json.dumps(c.args)} for c in turn.ready}
    for item in response.output:
        if item.type != "function_call":
            yield item
        elif item.call_id in calls:
            yield item.model_copy(update=calls.pop(item.call_id))
    for call_id, call in calls.items():
        yield ResponseFunctionToolCall(type="function_call", call_id=call_id, **call)


def _response(events: list[Any]) -> ModelResponse:
    """Return the response of a stream; some streams have its items only one by one."""
    ends = [event.response for event in events if event.type == "response.completed"]
    items = [event.item for event in events if event.type == "response.output_item.done"]
    output = next((end.output for end in ends if end.output), items) if ends else []
    return ModelResponse(output, Usage(), None)
