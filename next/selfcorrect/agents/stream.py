"""Reads streamed calls strictly: from the pieces that came, not from what LangChain made of them.

LangChain completes arguments that were cut and takes pieces without an index for calls without
arguments. What the model wrote stands only in the pieces.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall
from langchain_core.messages.tool import ToolCallChunk
from langchain_core.tracers.context import register_configure_hook

from selfcorrect.model import JSON
from selfcorrect.reading.call_object import strict_json


@dataclass
class WrittenCall:
    """A call as it was streamed; its arguments are a text still."""

    index: int | str | None
    id: str
    name: str
    texts: list[str] = field(default_factory=list)

    def args(self) -> JSON:
        """Return the arguments: an object, or the text that is none."""
        text = "".join(self.texts)
        value = strict_json(text) if text else {}
        return value if isinstance(value, dict) else text


class StreamTap(BaseCallbackHandler):
    """Keeps the pieces of calls that a model streams."""

    run_inline = True
    raise_error = True  # a piece that is missed in silence would run half a command

    def __init__(self) -> None:
        self._pieces: defaultdict[UUID, list[ToolCallChunk]] = defaultdict(list)
        self._runs: dict[str, UUID] = {}

    @property
    def ignore_chat_model(self) -> bool:
        """The prompt is not looked at."""
        return True

    def on_llm_new_token(
        self,
        token: Any,  # noqa: ARG002
        *,
        chunk: Any = None,
        run_id: UUID,
        **_: Any,
    ) -> None:
        """Keep the pieces of one chunk, by the id of its message."""
        message = getattr(chunk, "message", None)
        if message is not None and message.id:
            self._runs[message.id] = run_id
        self._pieces[run_id] += getattr(message, "tool_call_chunks", ())

    def read(self, message: AIMessage) -> AIMessage:
        """Return the message with its calls as they were written; the same where they agree."""
        run = self._runs.get(message.id or "")
        return read_pieces(message, self._pieces[run]) if run else message


@contextmanager
def tap_stream() -> Iterator[StreamTap]:
    """Tap what the models that are asked inside stream."""
    tap = StreamTap()
    token = _TAP.set(tap)
    try:
        yield tap
    finally:
        _TAP.reset(token)


_TAP: Final[ContextVar[StreamTap | None]] = ContextVar("selfcorrect_tap", default=None)
# The way in which LangChain counts tokens: the model stays the caller's own object.
register_configure_hook(_TAP, inheritable=False)


def read_pieces(message: AIMessage, pieces: Sequence[ToolCallChunk]) -> AIMessage:
    """Return the message with the calls that the pieces hold; what is not JSON is malformed."""
    written = join_pieces(pieces)
    shown = [
        (each.get("name") or "", each["args"])
        for each in (*message.tool_calls, *message.invalid_tool_calls)
    ]
    if not written or shown == [(each.name, each.args()) for each in written]:
        return message
    calls: list[ToolCall] = []
    invalid: list[InvalidToolCall] = []
    for each in written:
        name, call_id, args = each.name, each.id, each.args()
        if isinstance(args, dict):
            calls.append(ToolCall(name=name, args=args, id=call_id, type="tool_call"))
        else:
            why = "the streamed arguments are not a JSON object"
            invalid.append(
                InvalidToolCall(
                    name=name, args=args, id=call_id, error=why, type="invalid_tool_call"
                )
            )
    return message.model_copy(update={"tool_calls": calls, "invalid_tool_calls": invalid})


def join_pieces(pieces: Iterable[ToolCallChunk]) -> list[WrittenCall]:
    """Return the calls that the pieces make up.

    Some servers give no index, or one for all calls; some repeat the id, or send an empty name.
    """
    written: list[WrittenCall] = []
    for piece in pieces:
        index, call_id, name = piece.get("index"), piece.get("id") or "", piece.get("name") or ""
        call = _continued(written, index, call_id, name)
        if call is None:
            call = WrittenCall(index, call_id, name)
            written.append(call)
        else:
            call.id = call.id or call_id
            call.name += name if name != call.name else ""
        call.texts.append(piece.get("args") or "")
    return written


def _continued(
    written: Sequence[WrittenCall], index: int | str | None, call_id: str, name: str
) -> WrittenCall | None:
    """Return the call that a piece belongs to, or None if it begins another."""
    near = [each for each in written if index is None or each.index == index]
    if call_id and (same := [each for each in near if each.id == call_id]):
        return same[-1]
    last = near[-1] if near else None
    if last is None or (call_id and last.id):
        return None
    # A name behind arguments that are complete begins another call, although no id says so.
    is_next = name and any(last.texts) and isinstance(last.args(), dict)
    return None if is_next else last
