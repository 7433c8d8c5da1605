"""What the model is asked, and what came back: a valid thread out, strictly read calls in."""

from dataclasses import replace
from typing import Any, cast

from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain.agents.structured_output import AutoStrategy, ToolStrategy
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool

from selfcorrect.agents.agent_run import RUN, AgentRun
from selfcorrect.agents.stream import StreamTap
from selfcorrect.agents.text_calls import TOOL_CHOICE
from selfcorrect.agents.thread import valid_thread
from selfcorrect.nodes.plan import is_forbidden


def prepare(request: ModelRequest[Any]) -> ModelRequest[Any]:
    """Return the request with a valid thread; take note of what the model is offered."""
    run = cast("AgentRun | None", request.state.get(RUN))
    if run is not None:
        structured = request.response_format
        if isinstance(structured, AutoStrategy):
            structured = ToolStrategy(structured.schema)
        run.structured = tuple(each.name for each in getattr(structured, "schema_specs", ()))
        run.offered = tuple(each for each in request.tools if isinstance(each, BaseTool))
    thread = valid_thread(request.messages)
    is_same = all(a is b for a, b in zip(thread, request.messages, strict=False))
    if is_same and len(thread) == len(request.messages):
        return request
    return request.override(messages=thread)


def check(
    request: ModelRequest[Any], response: ModelResponse[Any], tap: StreamTap
) -> ModelResponse[Any]:
    """Return the response with its calls as they were streamed; take note of a final answer."""
    for message in response.result:
        if isinstance(message, AIMessage) and (read := tap.read(message)) is not message:
            # What LangChain has concluded from the calls, it concluded from others.
            response = ModelResponse(result=[read])
            break
    if is_forbidden({TOOL_CHOICE: request.tool_choice}):
        marked = [_with_choice(each, request.tool_choice) for each in response.result]
        response = replace(response, result=marked)
    if (run := cast("AgentRun | None", request.state.get(RUN))) is not None:
        run.has_answer = response.structured_response is not None
    return response


def _with_choice(message: BaseMessage, choice: Any) -> BaseMessage:
    """Say of a turn that no call was allowed in it; there it outlasts an interrupt."""
    if not isinstance(message, AIMessage):
        return message
    said = {**message.response_metadata, TOOL_CHOICE: choice}
    return message.model_copy(update={"response_metadata": said})
