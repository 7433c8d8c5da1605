"""google-adk: the calls of a model are repaired before ADK looks them up, asks for them or runs."""

from collections.abc import Iterator
from typing import Any
from weakref import WeakValueDictionary

from google.adk.agents.callback_context import CallbackContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins import BasePlugin
from google.genai.types import Content, FunctionCall, FunctionResponse, Part

from selfcorrect.integrations.adapter import Adapter, Parts, Turn, WrittenCall, answer_of, tool_of
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
        request = _REQUESTS.get(id(callback_context.actions))
        if request is None or llm_response.partial:
            return
        context: Any = callback_context.get_invocation_context()

        async def ask(more: list[Any]) -> Any:
            if not more:
                return llm_response
            context.increment_llm_call_count()
            again = request.model_copy(update={"contents": [*request.contents, *more]})
            asked = context.agent.canonical_model.generate_content_async(again)
            return [response async for response in asked][-1]

        def reply(response: LlmResponse, turn: Turn) -> list[Any]:
            # A service that keeps the thread holds this turn.
            request.previous_interaction_id = response.interaction_id
            return [response.content, _answers(response, turn)]

        thread, tools = _thread(callback_context), _tools(request)
        response, turn = await self.complete(ask, _PARTS.read, reply, thread, tools)
        # In place: other callbacks read it behind this one.
        llm_response.__dict__.update(response.__dict__)
        if turn.is_changed:
            parts = _PARTS.rewrite(response, turn)
            llm_response.content = Content(role="model", parts=parts)


def _tools(request: LlmRequest) -> Iterator[JsonDict]:
    for tool in request.config.tools or ():
        for each in getattr(tool, "function_declarations", None) or ():
            shown = each.model_dump(mode="json", exclude_none=True)
            parameters = shown.get("parameters_json_schema") or shown.get("parameters")
            effect = "read_only" if each.name in _OWN_TOOLS else None
            yield tool_of(each.name, each.description, parameters, effect=effect)


def _thread(context: CallbackContext) -> Iterator[JsonDict]:
    """Yield the turns of all agents, and behind each the last answers to its calls."""
    events = context.session.events
    answers = {answer.id: answer for event in events for answer in event.get_function_responses()}
    for event in events:
        yield {"role": "user"} if event.author == "user" else _PARTS.read(event)
        for call in event.get_function_calls():
            if answer := answers.get(call.id):
                status = "denied" if answer.response in _REFUSALS else "success"
                yield answer_of(answer.id, answer.response, status)


def _parts_of(response: LlmResponse) -> list[Part]:
    return (response.content and response.content.parts) or []


def _answers(response: LlmResponse, turn: Turn) -> Content:
    texts = {call.id: {"error": text} for call, text in turn.answers}
    answers = [
        FunctionResponse(id=call.id, name=call.name, response=texts[call.id or str(id(call))])
        for call in response.get_function_calls()
    ]
    parts = [Part(function_response=answer) for answer in answers]
    return Content(role="user", parts=parts or [Part(text=turn.objection)])


def _call_of(part: Part) -> WrittenCall | None:
    call = part.function_call
    # A model may write no id.
    return (call.name or "", call.args or {}, call.id or str(id(call))) if call else None


def _text_of(part: Part) -> str:
    return "" if part.thought else part.text or ""


def _write(call: Call, written: Part) -> Part:
    own = FunctionCall(id=written.function_call.id, name=call.name, args=dict(call.args))
    # Beside the call stands what Gemini wants to see again.
    return written.model_copy(update={"function_call": own})


_BLANK = Part(function_call=FunctionCall())
_PARTS = Parts(_parts_of, _call_of, _text_of, lambda text: Part(text=text), _write, _BLANK)
