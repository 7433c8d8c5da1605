"""What a model streamed: its calls as they were written, whatever LangChain concluded from them."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from itertools import chain
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import ToolCallChunk
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.tracers.context import register_configure_hook

from selfcorrect.langchain.calls import shown_calls
from selfcorrect.langchain.turn_state import stop_reason
from selfcorrect.reading.call_object import is_cut
from selfcorrect.threads.forms import ThreadCall
from selfcorrect.threads.pieces import join_pieces


class StreamTap(BaseCallbackHandler):
    """Keeps the pieces of calls that a model streams.

    Attributes:
        pieces: What has come of an answer, by the run of its model.
    """

    run_inline = True
    raise_error = True  # a piece that is missed in silence would run half a command

    def __init__(self, on_start: Callable[[], None]) -> None:
        self._on_start = on_start
        self.pieces: defaultdict[UUID | None, list[ToolCallChunk]] = defaultdict(list)
        self._runs: dict[str | None, UUID] = {}

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        """Say that a model is asked; a middleware behind us may ask several times, or never."""
        self._on_start()

    def on_llm_new_token(self, *_: Any, chunk: Any = None, run_id: UUID, **__: Any) -> None:
        """Keep the pieces of one chunk."""
        message = getattr(chunk, "message", None)
        self.pieces[run_id] += getattr(message, "tool_call_chunks", ())

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """Remember the run of a message; the pieces of a model that joins them have no id."""
        for generation in chain(*response.generations):
            if isinstance(generation, ChatGeneration):
                self._runs[generation.message.id] = run_id

    def pieces_of(self, message: AIMessage) -> Sequence[ToolCallChunk]:
        """Return the pieces of a message; none if it was not streamed."""
        return self.pieces[self._runs.get(message.id)]


TAP: ContextVar[StreamTap | None] = ContextVar("selfcorrect_tap", default=None)
# The way in which LangChain counts tokens: the model stays the caller's own object.
register_configure_hook(TAP, inheritable=False)


def written_calls(message: AIMessage, pieces: Sequence[ToolCallChunk] = ()) -> list[ThreadCall]:
    """Return the calls of a message as they were written; what is not an object stays a text.

    Without pieces, LangChain may have completed a call that a limit of tokens has cut: it is the
    last one, and calls before it had ended.
    """
    if written := join_pieces(pieces):
        return written
    calls = shown_calls(message)
    if message.tool_calls and not message.invalid_tool_calls and is_cut(stop_reason(message)):
        calls[-1] = replace(calls[-1], args="(cut off at the limit of tokens)")
    return calls
