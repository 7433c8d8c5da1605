"""google-adk: the calls of a model are repaired before ADK looks them up, asks for them or runs."""

import json
from collections.abc import Iterator
from typing import Any
from weakref import WeakValueDictionary

from google.adk.agents.callback_context import CallbackContext
from google.adk.events import Event
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins import BasePlugin
from google.genai.types import Content, FunctionCall, FunctionResponse, Part

from selfcorrect.integrations.adapter import Adapter, Parts, Turn, answer_of, tool_of
from selfcorrect.model import Call, JsonDict

_OWN_TOOLS = ("transfer_to_agent", "set_model_response", "exit_loop", "load_memory")
_NOT_MADE = (
    {"error": "This tool call requires confirmation, please approve or reject."},
    {"error": "This tool call is rejected."},
)
"""What ADK answers to a call that no person has approved."""
_REQUESTS = WeakValueDictionary[int, LlmRequest]()
"""What each model is asked that runs, by the actions of its event."""


class MendingPlugin(Adapter, BasePlugin):
    """Repairs calls: `App(name=…, root_agent=…, plugins=[MendingPlugin()])`; see `Adapter`."""

    name = "selfcorrect"

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        _REQUESTS[id(callback_context.actions)] = llm_request

    async def after_model_callback(
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> None:
        """Ask the model until all calls of its turn may run."""
        request = _REQUESTS.get(id(callback_context.actions))
        if request is None:
            return
        if llm_response.partial:
            # A piece is shown before it can be judged.
            texts = [part for part in _parts(llm_response) if not part.function_call]
            llm_response.content = Content(role="model", parts=texts)
            return
        context: Any = callback_context.get_invocation_context()

        async def ask(objected: list[tuple[LlmResponse, Turn]]) -> LlmResponse:
            if not objected:
                return llm_response
            context.increment_llm_call_count()
            more = [each for old, turn in objected for each in (old.content, _answers(old, turn))]
            again = request.model_copy(update={"contents": [*request.contents, *more]})
            again.previous_interaction_id = objected[-1][0].interaction_id
            asked = context.agent.canonical_model.generate_content_async(again)
            responses: list[LlmResponse] = [response async for response in asked]
            return responses[-1]

        thread = [*_thread(callback_context.session.events)]
        response, turn = await self.complete(ask, _message, thread, _tools(request))
        # In place: other callbacks read it behind this one.
        for name in LlmResponse.model_fields if response is not llm_response else ():
            setattr(llm_response, name, getattr(response, name))
        if turn.is_changed:
            new = _PARTS.rewrite(_parts(response), turn)
            llm_response.content = Content(role="model", parts=new)


def _tools(request: LlmRequest) -> Iterator[JsonDict]:
    for tool in request.config.tools or ():
        for each in getattr(tool, "function_declarations", None) or ():
            shown = each.model_dump(mode="json", exclude_none=True)
            parameters = shown.get("parameters_json_schema") or shown.get("parameters")
            more = {"effect": "read_only"} if each.name in _OWN_TOOLS else {}
            yield tool_of(each.name, each.description, parameters, **more)


def _parts(response: LlmResponse) -> list[Part]:
    return (response.content and response.content.parts) or []


def _message(response: LlmResponse) -> JsonDict:
    return _PARTS.message_of(_parts(response), finish_reason=response.finish_reason)


def _thread(events: list[Event]) -> Iterator[JsonDict]:
    """Yield the turns of all agents, and behind each the last answers to its calls."""
    answers = {answer.id: answer for event in events for answer in event.get_function_responses()}
    for event in events:
        yield {"role": "user"} if event.author == "user" else _message(event)
        for call in event.get_function_calls():
            if call.id and (answer := answers.get(call.id)):
                status = "denied" if answer.response in _NOT_MADE else "success"
                yield answer_of(call.id, json.dumps(answer.response, default=str), status)


def _id_of(call: FunctionCall) -> str:
    return call.id or f"call-{id(call)}"


def _call_of(part: Part) -> tuple[str, Any, str] | None:
    call = part.function_call
    return (call.name or "", call.args or {}, _id_of(call)) if call else None


def _write(call: Call, written: Part | None) -> Part:
    # Beside the call stands what Gemini wants to see again.
    part = written.model_copy() if written else Part()
    own = part.function_call or FunctionCall()
    part.function_call = FunctionCall(id=own.id, name=call.name, args=dict(call.args))
    return part


def _answers(response: LlmResponse, turn: Turn) -> Content:
    texts = {call.id: {"error": text} for call, text in turn.answers}
    parts = [
        Part(
            function_response=FunctionResponse(
                id=call.id, name=call.name, response=texts[_id_of(call)]
            )
        )
        for call in response.get_function_calls()
    ]
    return Content(role="user", parts=parts or [Part(text=turn.objection)])


_PARTS = Parts(
    call_of=_call_of,
    text_of=lambda part: "" if part.thought else part.text or "",
    say=lambda text: Part(text=text),
    write=_write,
)
