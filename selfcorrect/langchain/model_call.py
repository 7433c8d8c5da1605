"""One request to the model: sent within its bounds, and its answer read as it was written."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool

from selfcorrect.context import RunContext
from selfcorrect.errors import GraphSetupError
from selfcorrect.langchain.budget import Account
from selfcorrect.langchain.calls import each_once, shown_calls
from selfcorrect.langchain.stream import TAP, StreamTap, written_calls
from selfcorrect.langchain.turn_state import TOOL_CHOICE, with_note, with_readable_calls
from selfcorrect.models.attempts import ask_until_answered
from selfcorrect.models.port import value_of
from selfcorrect.reading.call_object import is_forbidden
from selfcorrect.reading.choose import Chosen, read_text

Ask: TypeAlias = Callable[[ModelRequest[Any]], Any]
"""Asks the model; in async code it gives an awaitable."""


async def ask_model(
    request: ModelRequest[Any], ask: Ask, context: RunContext, account: Account
) -> tuple[ModelResponse[Any], AIMessage | None]:
    """Return what the model answers, and its turn with its calls as they were written.

    There is no turn where another middleware answers without the model.
    """
    tap = StreamTap(account.begin_turn)

    async def send() -> ModelResponse[Any]:
        token = TAP.set(tap)
        try:
            answer: ModelResponse[Any] = await value_of(ask(request))
        except Exception as error:
            answer = _response_in(error, request)
        finally:
            TAP.reset(token)
        account.add_tokens(request.messages, answer.result)
        return answer

    async def wait(seconds: float) -> None:
        account.check_more("seconds", seconds)
        await context.sleep(seconds)

    answer: Any = await ask_until_answered(
        send,
        model=request.model,
        decide=context.on_model_error,
        sleep=wait,
        may_repeat=lambda: not tap.pieces,
    )
    if not isinstance(answer, ModelResponse):
        message = AIMessage(answer) if isinstance(answer, str) else answer
        if not isinstance(message, AIMessage):
            raise GraphSetupError(f"RespondWith: not a message or a text: {answer!r:.80}")
        # What was streamed belongs to no message.
        tap.pieces.clear()
        answer = ModelResponse([message])
    turn = next((part for part in answer.result if isinstance(part, AIMessage)), None)
    if turn is None:
        return answer, None
    written = written_calls(turn, tap.pieces_of(turn))
    if written != shown_calls(turn):
        # What LangChain has concluded from the calls, it concluded from others.
        answer = ModelResponse([turn])
    if is_forbidden({TOOL_CHOICE: request.tool_choice}):
        turn = with_note(turn, TOOL_CHOICE, request.tool_choice)
    return answer, with_readable_calls(turn, each_once(written))


_WRITTEN = "failed_generation"
"""The field in which providers say what the model wrote."""


def _response_in(error: Exception, request: ModelRequest[Any]) -> ModelResponse[Any]:
    """Return what the model wrote, where its provider's error holds it; else raise the error.

    It is a text that is calls of offered tools and nothing else, in the field of the error's body
    that says what the model wrote: other fields repeat the request, and so whatever stands in it.
    """
    names = {tool.name for tool in request.tools if isinstance(tool, BaseTool)}
    body = getattr(error, "body", None)
    fault = body.get("error", body) if isinstance(body, Mapping) else None
    text = fault.get(_WRITTEN) if isinstance(fault, Mapping) else None
    chosen = read_text(text, names.__contains__) if isinstance(text, str) else None
    calls = chosen.calls if isinstance(chosen, Chosen) and not chosen.around else ()
    if calls and names.issuperset(call.name for call in calls):
        return ModelResponse(result=[AIMessage(text)])
    raise error
