"""What the model is asked, and what came back: a valid thread out, strictly read calls in."""

from typing import Any, cast

from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain.agents.structured_output import AutoStrategy, ToolStrategy
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool

from selfcorrect.agents.agent_run import RUN, AgentRun
from selfcorrect.agents.provider_error import text_in
from selfcorrect.agents.stream import StreamTap
from selfcorrect.agents.thread import valid_thread


def prepare(request: ModelRequest[Any]) -> ModelRequest[Any]:
    """Return the request with a valid thread; take note of what the model is offered."""
    run = cast("AgentRun | None", request.state.get(RUN))
    if run is not None:
        structured = request.response_format
        if isinstance(structured, AutoStrategy):
            structured = ToolStrategy(structured.schema)
        run.structured = tuple(each.name for each in getattr(structured, "schema_specs", ()))
        run.offered = tuple(each for each in request.tools if isinstance(each, BaseTool))
        run.may_call = request.tool_choice != "none"
    thread = valid_thread(request.messages)
    is_same = all(a is b for a, b in zip(thread, request.messages, strict=False))
    if is_same and len(thread) == len(request.messages):
        return request
    return request.override(messages=thread)


def response_in(error: Exception, request: ModelRequest[Any]) -> ModelResponse[Any]:
    """Return what the model wrote, where its provider's error holds it; else raise the error."""
    names = {each.name for each in request.tools if isinstance(each, BaseTool)}
    text = text_in(error, names.__contains__)
    if text is None:
        raise error
    return ModelResponse(result=[AIMessage(text)])


def check(
    request: ModelRequest[Any], response: ModelResponse[Any], tap: StreamTap
) -> ModelResponse[Any]:
    """Return the response with its calls as they were streamed; take note of a final answer."""
    for message in response.result:
        if isinstance(message, AIMessage) and (read := tap.read(message)) is not message:
            # What LangChain has concluded from the calls, it concluded from others.
            response = ModelResponse(result=[read])
            break
    if (run := cast("AgentRun | None", request.state.get(RUN))) is not None:
        run.has_answer = response.structured_response is not None
    return response
