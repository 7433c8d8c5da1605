"""What the model is asked, and what came back: a valid thread out, strictly read calls in."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias
from uuid import UUID

from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall
from langchain_core.messages.tool import ToolCallChunk
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.tools import BaseTool
from langchain_core.tracers.context import register_configure_hook

from selfcorrect.context import RunContext
from selfcorrect.errors import GraphSetupError
from selfcorrect.langchain.agent_run import Account
from selfcorrect.langchain.turn import TOOL_CHOICE, stop_reason
from selfcorrect.model import JSON
from selfcorrect.models.attempts import ask_until_answered
from selfcorrect.models.port import value_of
from selfcorrect.reading.call_object import is_cut, is_forbidden, strict_json
from selfcorrect.reading.choose import Chosen, read_text


@dataclass
class WrittenCall:
    """A call as it was streamed, or a piece of one; its arguments are a text still."""

    index: int | str | None
    id: str
    name: str
    texts: list[str]
    is_crowded: bool = False

    def args(self) -> JSON:
        """Return the arguments: an object, or the text that is none."""
        text = "".join(self.texts)
        value = strict_json(text) if text else {}
        return value if isinstance(value, dict) else text

    def is_whole(self) -> bool:
        """Say whether the arguments are complete, so that no more text belongs to them."""
        return any(self.texts) and isinstance(self.args(), dict)


class StreamTap(BaseCallbackHandler):
    """Keeps the pieces of calls that a model streams.

    Attributes:
        pieces: What has come of an answer, by the run of its model.
        starts: How often a model was asked for one request.
    """

    run_inline = True
    raise_error = True  # a piece that is missed in silence would run half a command

    def __init__(self, on_more: Callable[[], None]) -> None:
        self._on_more = on_more
        self.starts = 0
        self.pieces: defaultdict[UUID | None, list[ToolCallChunk]] = defaultdict(list)
        self._runs: dict[str | None, UUID] = {}

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        """Say that a model is asked once more; the prompt is not looked at."""
        self.starts += 1
        # A middleware between us and the model may ask several times for one request.
        if self.starts > 1:
            self._on_more()

    def on_llm_new_token(
        self,
        token: Any,  # noqa: ARG002
        *,
        chunk: Any = None,
        run_id: UUID,
        **_: Any,
    ) -> None:
        """Keep the pieces of one chunk."""
        message = getattr(chunk, "message", None)
        self.pieces[run_id] += getattr(message, "tool_call_chunks", ())

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """Remember the run of a message; the pieces of a model that joins them have no id."""
        for each in chain(*response.generations):
            if isinstance(each, ChatGeneration):
                self._runs[each.message.id] = run_id

    def read(self, message: AIMessage) -> AIMessage:
        """Return the message with its calls as they were written; the same where they agree."""
        return read_pieces(message, self.pieces[self._runs.get(message.id)])


_TAP: ContextVar[StreamTap | None] = ContextVar("selfcorrect_tap", default=None)
# The way in which LangChain counts tokens: the model stays the caller's own object.
register_configure_hook(_TAP, inheritable=False)


_Calls: TypeAlias = list[tuple[str, str, Any]]
"""Id, name and arguments of each."""


def read_pieces(message: AIMessage, pieces: Sequence[ToolCallChunk]) -> AIMessage:
    """Return the message with the calls that the pieces hold; what is not JSON is malformed.

    Where nobody saw the pieces, their join may have completed a call that a limit of tokens has
    cut: it is the last one, and calls before it had ended.
    """
    written: _Calls = [(each.id, each.name, each.args()) for each in join_pieces(pieces)]
    calls = [*message.tool_calls, *message.invalid_tool_calls]
    shown: _Calls = [(each["id"] or "", each.get("name") or "", each["args"]) for each in calls]
    if not written:
        written = shown[:]
        if message.tool_calls and not message.invalid_tool_calls and is_cut(stop_reason(message)):
            written[-1] = (*shown[-1][:2], "(cut off at the limit of tokens)")
    if [each[1:] for each in shown] == [each[1:] for each in written]:
        return message
    update: dict[str, list[Any]] = {"tool_calls": [], "invalid_tool_calls": []}
    for call_id, name, args in written:
        if isinstance(args, dict):
            call = ToolCall(name=name, args=args, id=call_id, type="tool_call")
            update["tool_calls"].append(call)
        else:
            error = "the model wrote no whole JSON object"
            update["invalid_tool_calls"].append(
                InvalidToolCall(
                    name=name, args=args, id=call_id, error=error, type="invalid_tool_call"
                )
            )
    return message.model_copy(update=update)


def join_pieces(pieces: Iterable[ToolCallChunk]) -> list[WrittenCall]:
    """Return the calls that the pieces make up; what has no owner is one without a name.

    Some servers give no index, or one for all calls; some repeat the id or the name, or send an
    empty one.
    """
    written: list[WrittenCall] = []
    is_torn = is_late = False
    for each in pieces:
        call_id, name, text = each.get("id") or "", each.get("name") or "", each.get("args") or ""
        if not (name or text or call_id) or (is_torn and not name):
            continue
        piece = WrittenCall(each.get("index"), call_id, name, [text])
        near = [call for call in written if call.index == piece.index]
        own = [call for call in near if call.id == call_id or not (call.id and call_id)]
        if not own or _begins(piece, own[-1]):
            # Behind it, a piece without an id may belong to either.
            piece.is_crowded = not all(call.is_whole() for call in near)
            written.append(piece)
            is_torn |= bool(text) and not name
        elif text and not call_id and own[-1].is_crowded:
            is_torn = True
        else:
            call = own[-1]
            # Behind the head of another call, its first text may be the other one's.
            is_late |= bool(text) and call is not written[-1]
            call.id = call.id or call_id
            # A name that is repeated is no piece of a name.
            call.name += name if name != call.name else ""
            call.texts.append(text)
    ids = [call.id for call in written]
    values = [call.args() for call in written]
    # A text that cannot be read may be the arguments of a call that shows none, or hold a part of
    # them, where calls share an id; and where one call has an id, one without may be a piece of it.
    if any(isinstance(each, str) for each in values):
        is_torn |= {} in values or len({*ids}) < len(ids)
    is_torn |= any(ids) and not all(ids)
    is_torn |= is_late and not all(any(call.texts) for call in written)
    return [*written, WrittenCall(None, "", "", [_TORN])] if is_torn else written


_TORN = "(pieces without a call)"


def _begins(piece: WrittenCall, call: WrittenCall) -> bool:
    """Say whether a piece begins another call; a head that is sent again says nothing new."""
    is_repeated = piece.name in ("", call.name) and not any(piece.texts)
    return bool(piece.name) and not is_repeated and call.is_whole()


Ask: TypeAlias = Callable[[ModelRequest[Any]], Any]
"""Asks the model; in async code it gives an awaitable."""


async def ask_model(
    request: ModelRequest[Any], ask: Ask, context: RunContext, account: Account
) -> ModelResponse[Any]:
    """Return what the model answers: its calls as they were streamed, or as an error holds them."""
    tap = StreamTap(account.begin_turn)

    async def send() -> ModelResponse[Any]:
        account.begin_turn()
        tap.starts = 0
        token = _TAP.set(tap)
        try:
            answer: ModelResponse[Any] = await value_of(ask(request))
        except Exception as error:
            answer = response_in(error, request)
        finally:
            _TAP.reset(token)
        account.add_tokens(request.messages, answer.result)
        return answer

    async def wait(seconds: float) -> None:
        account.check_more("seconds", seconds)
        await context.sleep(seconds)

    response: Any = await ask_until_answered(
        send,
        model=request.model,
        decide=context.on_model_error,
        sleep=wait,
        may_repeat=lambda: not tap.pieces,
    )
    if not isinstance(response, ModelResponse):
        message = AIMessage(response) if isinstance(response, str) else response
        if not isinstance(message, AIMessage):
            raise GraphSetupError(f"RespondWith: not a message or a text: {response!r:.80}")
        return ModelResponse([message])
    return _as_written(request, response, tap)


def _as_written(
    request: ModelRequest[Any], response: ModelResponse[Any], tap: StreamTap
) -> ModelResponse[Any]:
    """Return the response with its turn as it was streamed; say of it if no call was allowed."""
    turn = next((each for each in response.result if isinstance(each, AIMessage)), None)
    if turn is None:
        return response
    read = tap.read(turn)
    if read is not turn:
        # What LangChain has concluded from the calls, it concluded from others.
        response = ModelResponse(result=[read])
    if is_forbidden({TOOL_CHOICE: request.tool_choice}):
        # In the message it outlasts an interrupt.
        said = {**read.response_metadata, TOOL_CHOICE: request.tool_choice}
        marked = read.model_copy(update={"response_metadata": said})
        result = [marked if each is read else each for each in response.result]
        response = replace(response, result=result)
    return response


_WRITTEN = "failed_generation"
"""The field in which providers say what the model wrote."""


def response_in(error: Exception, request: ModelRequest[Any]) -> ModelResponse[Any]:
    """Return what the model wrote, where its provider's error holds it; else raise the error.

    It is a text that is calls of offered tools and nothing else, in the field of the error's body
    that says what the model wrote: other fields repeat the request, and so whatever stands in it.
    """
    names = {each.name for each in request.tools if isinstance(each, BaseTool)}
    body = getattr(error, "body", None)
    fault = body.get("error", body) if isinstance(body, Mapping) else None
    text = fault.get(_WRITTEN) if isinstance(fault, Mapping) else None
    chosen = read_text(text, names.__contains__) if isinstance(text, str) else None
    made = chosen.calls if isinstance(chosen, Chosen) and not chosen.around else ()
    if made and names.issuperset(call.name for call in made):
        return ModelResponse(result=[AIMessage(text)])
    raise error
