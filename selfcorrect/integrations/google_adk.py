"""google-adk: the calls of a model are repaired before ADK looks them up, asks for them or runs."""

from collections.abc import Iterator
from typing import Any
from weakref import WeakValueDictionary

from google.adk.agents.callback_context import CallbackContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins import BasePlugin
from google.genai.types import Content, FunctionCall, FunctionResponse, Part

from selfcorrect.integrations.adapter import Adapter, Parts, Turn, answer_of, tool_of
from selfcorrect.model import Call, JsonDict

_OWN_TOOLS = ("transfer_to_agent", "set_model_response", "exit_loop", "load_memory")
_REFUSALS = (
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
        if (request := _REQUESTS.get(id(callback_context.actions))) is None:
            return
        context: Any = callback_context.get_invocation_context()

        async def ask(objected: list[tuple[LlmResponse, Turn]]) -> Any:
            if not objected:
                return llm_response
            context.increment_llm_call_count()
            more = [each for old, turn in objected for each in (old.content, _answers(old, turn))]
            again = request.model_copy(update={"contents": [*request.contents, *more]})
            again.previous_interaction_id = objected[-1][0].interaction_id
            asked = context.agent.canonical_model.generate_content_async(again)
            return [response async for response in asked][-1]

        thread = [*_thread(callback_context)]
        if llm_response.partial:
            # A piece is shown before it can be judged, so it shows no call.
            response, turn = llm_response, Turn((), is_changed=True)
        else:
            response, turn = await self.complete(ask, _message, thread, _tools(request))
        # In place: other callbacks read it behind this one.
        for name in LlmResponse.model_fields:
            setattr(llm_response, name, getattr(response, name))
        if turn.is_changed:
            parts = _PARTS.rewrite(_parts(response), turn)
            llm_response.content = Content(role="model", parts=parts)


def _tools(request: LlmRequest) -> Iterator[JsonDict]:
    for tool in request.config.tools or ():
        for each in getattr(tool, "function_declarations", None) or ():
            shown = each.model_dump(mode="json", exclude_none=True)
            parameters = shown.get("parameters_json_schema") or shown.get("parameters")
            effect = "read_only" if each.name in _OWN_TOOLS else None
            yield tool_of(each.name, each.description, parameters, effect=effect)


def _parts(response: LlmResponse) -> list[Part]:
    return (response.content and response.content.parts) or []


def _message(response: LlmResponse) -> JsonDict:
    return _PARTS.message_of(_parts(response), finish_reason=response.finish_reason)


def _thread(context: CallbackContext) -> Iterator[JsonDict]:
    """Yield the turns of all agents, and behind each the last answers to its calls."""
    events = context.session.events
    answers = {answer.id: answer for event in events for answer in event.get_function_responses()}
    for event in events:
        yield {"role": "user"} if event.author == "user" else _message(event)
        for call in event.get_function_calls():
            if call.id and (answer := answers.get(call.id)):
                status = "denied" if answer.response in _REFUSALS else "success"
                yield answer_of(call.id, answer.response, status)


def _call_of(part: Part) -> tuple[str, Any, str] | None:
    call = part.function_call
    # A model may write no id.
    return (call.name or "", call.args or {}, call.id or str(id(call))) if call else None


def _text_of(part: Part) -> str:
    return "" if part.thought else part.text or ""


def _write(call: Call, written: Part | None) -> Part:
    # Beside the call stands what Gemini wants to see again.
    part = written.model_copy() if written else Part()
    own = part.function_call or FunctionCall()
    part.function_call = FunctionCall(id=own.id, name=call.name, args=dict(call.args))
    return part


def _answers(response: LlmResponse, turn: Turn) -> Content:
    texts = {call.id: {"error": text} for call, text in turn.answers}
    answers = [
        FunctionResponse(id=call.id, name=call.name, response=texts[call.id or str(id(call))])
        for call in response.get_function_calls()
    ]
    parts = [Part(function_response=answer) for answer in answers]
    return Content(role="user", parts=parts or [Part(text=turn.objection)])


_PARTS = Parts(_call_of, _text_of, lambda text: Part(text=text), _write)
