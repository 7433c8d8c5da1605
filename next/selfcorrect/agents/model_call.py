"""What the model is asked, and what came back: a valid thread out, strictly read calls in."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain.agents.structured_output import AutoStrategy, ToolStrategy
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool

from selfcorrect.agents.agent_run import AgentRun
from selfcorrect.agents.budget import Account
from selfcorrect.agents.stream import StreamTap, tap_stream
from selfcorrect.agents.text_calls import TOOL_CHOICE
from selfcorrect.agents.thread import valid_thread
from selfcorrect.context import RunContext
from selfcorrect.errors import GraphSetupError
from selfcorrect.models.attempts import ask_until_answered
from selfcorrect.models.port import value_of
from selfcorrect.nodes.plan import is_forbidden
from selfcorrect.reading.choose import Chosen, read_text

Ask: TypeAlias = Callable[[ModelRequest[Any]], Any]
"""Asks the model; in async code it gives an awaitable."""


def prepare(
    request: ModelRequest[Any], renewed: Sequence[AIMessage], run: AgentRun
) -> ModelRequest[Any]:
    """Return the request with a valid thread; take note of what the model is offered.

    Args:
        request: The request.
        renewed: Messages that take the place of those with their ids.
        run: The run of the agent.
    """
    structured = request.response_format
    if isinstance(structured, AutoStrategy):
        structured = ToolStrategy(structured.schema)
    run.structured = tuple(each.name for each in getattr(structured, "schema_specs", ()))
    messages = request.messages
    if renewed:
        by_id = {each.id: each for each in renewed}
        messages = [by_id.get(each.id, each) for each in messages]
    return request.override(messages=valid_thread(messages))


async def ask_model(
    request: ModelRequest[Any], ask: Ask, context: RunContext, account: Account
) -> ModelResponse[Any]:
    """Return what the model answers: its calls as they were streamed, or as an error holds them."""
    counted = False

    def count_start() -> None:
        nonlocal counted
        # A middleware between us and the model may ask several times for one request.
        if not counted:
            account.begin_turn()
        counted = False

    with tap_stream(count_start) as tap:

        async def send() -> ModelResponse[Any]:
            nonlocal counted
            account.begin_turn()
            counted = True
            try:
                answer: ModelResponse[Any] = await value_of(ask(request))
            except Exception as error:
                answer = response_in(error, request)
            account.add_tokens(request.messages, answer.result)
            return answer

        async def wait(seconds: float) -> None:
            account.check_wait(seconds)
            await context.sleep(seconds)

        response: Any = await ask_until_answered(
            send,
            model=request.model,
            decide=context.on_model_error,
            sleep=wait,
            may_repeat=lambda: not tap.has_begun,
        )
    if not isinstance(response, ModelResponse):
        message = AIMessage(response) if isinstance(response, str) else response
        if not isinstance(message, AIMessage):
            raise GraphSetupError(f"RespondWith: not a message or a text: {response!r:.80}")
        return ModelResponse([message])
    return _check(request, response, tap)


def _check(
    request: ModelRequest[Any], response: ModelResponse[Any], tap: StreamTap
) -> ModelResponse[Any]:
    for message in response.result:
        if isinstance(message, AIMessage) and (read := tap.read(message)) is not message:
            # What LangChain has concluded from the calls, it concluded from others.
            response = ModelResponse(result=[read])
            break
    if is_forbidden({TOOL_CHOICE: request.tool_choice}):
        marked = [_with_choice(each, request.tool_choice) for each in response.result]
        response = replace(response, result=marked)
    return response


def _with_choice(message: BaseMessage, choice: Any) -> BaseMessage:
    """Say of a turn that no call was allowed in it; there it outlasts an interrupt."""
    if not isinstance(message, AIMessage):
        return message
    said = {**message.response_metadata, TOOL_CHOICE: choice}
    return message.model_copy(update={"response_metadata": said})


_DEPTH = 4
_MOST = 50
_WRITTEN = "failed_generation"
"""The field in which providers say what the model wrote."""


def response_in(error: Exception, request: ModelRequest[Any]) -> ModelResponse[Any]:
    """Return what the model wrote, where its provider's error holds it; else raise the error.

    It is a text that is calls of offered tools and nothing else, in the field of the error's body
    that says what the model wrote: other fields repeat the request, and so whatever stands in it.
    """
    names = {each.name for each in request.tools if isinstance(each, BaseTool)}
    for text in _texts(getattr(error, "body", None), _DEPTH):
        chosen = read_text(text, names.__contains__)
        if isinstance(chosen, Chosen) and not chosen.around:
            if names.issuperset(call.name for call in chosen.calls):
                return ModelResponse(result=[AIMessage(text)])
            break
    raise error


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, Mapping) and isinstance(written := value.get(_WRITTEN), str):
        yield written
    if depth and isinstance(value, Mapping | list):
        items = list(value.values()) if isinstance(value, Mapping) else value
        for each in items[:_MOST]:
            yield from _texts(each, depth - 1)
