"""Reads streamed calls strictly: from the pieces that came, not from what LangChain made of them.

LangChain completes arguments that were cut and takes pieces without an index for calls without
arguments. What the model wrote stands only in the pieces. A piece continues the one call that it
may belong to, or begins another. What has no owner stands as a call without a name, and a turn
with such a call is refused as a whole: see `turn.with_readable_calls`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import chain
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall
from langchain_core.messages.tool import ToolCallChunk
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.tracers.context import register_configure_hook

from selfcorrect.agents.text_calls import stop_reason
from selfcorrect.model import JSON
from selfcorrect.reading.call_object import is_cut, strict_json


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
    """Keeps the pieces of calls that a model streams."""

    run_inline = True
    raise_error = True  # a piece that is missed in silence would run half a command

    def __init__(self, on_start: Callable[[], None]) -> None:
        self._on_start = on_start
        self._pieces: defaultdict[UUID | None, list[ToolCallChunk]] = defaultdict(list)
        self._runs: dict[str | None, UUID] = {}

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        """Say that a model is asked; the prompt is not looked at."""
        self._on_start()

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
        self._pieces[run_id] += getattr(message, "tool_call_chunks", ())

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """Remember the run of a message; the pieces of a model that joins them have no id."""
        for each in chain(*response.generations):
            if isinstance(each, ChatGeneration):
                self._runs[each.message.id] = run_id

    @property
    def has_begun(self) -> bool:
        """Whether a piece of an answer has come."""
        return bool(self._pieces)

    def read(self, message: AIMessage) -> AIMessage:
        """Return the message with its calls as they were written; the same where they agree."""
        return read_pieces(message, self._pieces[self._runs.get(message.id)])


@contextmanager
def tap_stream(on_start: Callable[[], None]) -> Iterator[StreamTap]:
    """Tap what the models that are asked inside stream."""
    tap = StreamTap(on_start)
    token = _TAP.set(tap)
    try:
        yield tap
    finally:
        _TAP.reset(token)


_TAP: ContextVar[StreamTap | None] = ContextVar("selfcorrect_tap", default=None)
# The way in which LangChain counts tokens: the model stays the caller's own object.
register_configure_hook(_TAP, inheritable=False)


def read_pieces(message: AIMessage, pieces: Sequence[ToolCallChunk]) -> AIMessage:
    """Return the message with the calls that the pieces hold; what is not JSON is malformed."""
    written = join_pieces(pieces)
    if not written:
        return _without_cut_call(message)
    shown = [
        (each.get("name") or "", each["args"])
        for each in (*message.tool_calls, *message.invalid_tool_calls)
    ]
    if shown == [(each.name, each.args()) for each in written]:
        return message
    calls: list[ToolCall] = []
    invalid: list[InvalidToolCall] = []
    for each in written:
        name, call_id, args = each.name, each.id, each.args()
        if isinstance(args, dict):
            calls.append(ToolCall(name=name, args=args, id=call_id, type="tool_call"))
        else:
            why = "the streamed arguments are not a JSON object"
            invalid.append(_malformed(name, args, call_id, why))
    return message.model_copy(update={"tool_calls": calls, "invalid_tool_calls": invalid})


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


def _without_cut_call(message: AIMessage) -> AIMessage:
    """Return a message whose pieces nobody saw without the call that a limit of tokens has cut.

    The join of the pieces may have completed it. Calls before the last one had ended.
    """
    if not message.tool_calls or message.invalid_tool_calls or not is_cut(stop_reason(message)):
        return message
    *calls, last = message.tool_calls
    text = "(cut off at the limit of tokens)"
    cut = _malformed(last["name"], text, last["id"], "the arguments may have been completed")
    return message.model_copy(update={"tool_calls": calls, "invalid_tool_calls": [cut]})


def _malformed(name: str, text: str, call_id: str | None, why: str) -> InvalidToolCall:
    return InvalidToolCall(name=name, args=text, id=call_id, error=why, type="invalid_tool_call")
