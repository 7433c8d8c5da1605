"""What the model is asked, and what came back: a valid thread out, strictly read calls in."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain.agents.structured_output import AutoStrategy, ToolStrategy
from langchain_core.messages import AIMessage, BaseMessage

from selfcorrect.agents.agent_run import AgentRun
from selfcorrect.agents.budget import Account
from selfcorrect.agents.provider_error import response_in
from selfcorrect.agents.stream import StreamTap, tap_stream
from selfcorrect.agents.text_calls import TOOL_CHOICE
from selfcorrect.agents.thread import valid_thread
from selfcorrect.context import RunContext
from selfcorrect.errors import GraphSetupError
from selfcorrect.models.attempts import ask_until_answered
from selfcorrect.models.port import value_of
from selfcorrect.nodes.plan import is_forbidden

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
