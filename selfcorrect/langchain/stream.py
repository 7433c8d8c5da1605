"""What a model streamed: its calls as they were written, whatever LangChain concluded from them."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from itertools import chain
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import ToolCallChunk
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.tracers.context import register_configure_hook

from selfcorrect.langchain.turn_state import stop_reason
from selfcorrect.reading.call_object import is_cut
from selfcorrect.threads.pieces import join_pieces


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

    def on_llm_new_token(self, *_: Any, chunk: Any = None, run_id: UUID, **__: Any) -> None:
        """Keep the pieces of one chunk."""
        message = getattr(chunk, "message", None)
        self.pieces[run_id] += getattr(message, "tool_call_chunks", ())

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """Remember the run of a message; the pieces of a model that joins them have no id."""
        for generation in chain(*response.generations):
            if isinstance(generation, ChatGeneration):
                self._runs[generation.message.id] = run_id

    def read(self, message: AIMessage) -> AIMessage:
        """Return the message with its calls as they were written; the same where they agree."""
        return read_pieces(message, self.pieces[self._runs.get(message.id)])


TAP: ContextVar[StreamTap | None] = ContextVar("selfcorrect_tap", default=None)
# The way in which LangChain counts tokens: the model stays the caller's own object.
register_configure_hook(TAP, inheritable=False)


def read_pieces(message: AIMessage, pieces: Sequence[ToolCallChunk]) -> AIMessage:
    """Return the message with the calls that the pieces hold; what is not JSON is malformed.

    Without pieces, LangChain may have completed a call that a limit of tokens has cut: it is the
    last one, and calls before it had ended.
    """
    calls = [*message.tool_calls, *message.invalid_tool_calls]
    shown: list[Any] = [(call["id"] or "", call.get("name") or "", call["args"]) for call in calls]
    written: list[Any] = [(call.id, call.name, call.args()) for call in join_pieces(pieces)]
    if not written:
        written = shown[:]
        if message.tool_calls and not message.invalid_tool_calls and is_cut(stop_reason(message)):
            written[-1] = (*shown[-1][:2], "(cut off at the limit of tokens)")
    if [call[1:] for call in shown] == [call[1:] for call in written]:
        return message
    update: dict[str, list[Any]] = {"tool_calls": [], "invalid_tool_calls": []}
    for call_id, name, args in written:
        call = {"name": name, "args": args, "id": call_id}
        if isinstance(args, dict):
            update["tool_calls"].append({**call, "type": "tool_call"})
        else:
            error = "the model wrote no whole JSON object"
            invalid = {**call, "type": "invalid_tool_call", "error": error}
            update["invalid_tool_calls"].append(invalid)
    return message.model_copy(update=update)
