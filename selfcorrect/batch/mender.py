"""`Mender`: mends calls in whatever form they come, and gives back the same form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from selfcorrect.batch.checking import repair_loop
from selfcorrect.batch.mended import Mended
from selfcorrect.batch.mending import Mending
from selfcorrect.batch.threads import mended_thread
from selfcorrect.log import sink
from selfcorrect.loop.context import AsyncHost, RunContext, run_sync
from selfcorrect.loop.options import Options
from selfcorrect.plain import plain
from selfcorrect.tools import ToolSpec

if TYPE_CHECKING:
    from selfcorrect.loop.options import Strategies


class Mender:
    """Mends the calls that models write, in any provider's form, and executes nothing.

    Built once, for any number of threads. What a tool answers to a mended call, and whether a call
    was made before, it does not know: `build_graph` and `SelfCorrection` do.

    Args:
        tools: Functions, LangChain tools, schemas in any provider's form, or `ToolSpec`s.
        strategies: The error-strategy map; see `build_graph`.
        model: Asked where rules end; see `build_graph`.
        options: All others of `build_graph` that have to do with mending.

    Raises:
        GraphSetupError: If a tool or an option is unusable.
        MapError: If the map is unusable.

    >>> tool = {"name": "double", "parameters": {"properties": {"n": {"type": "integer"}}}}
    >>> mender = Mender([tool])
    >>> call = {"type": "tool_use", "id": "t1", "name": "Double", "input": {"n": "21"}}
    >>> mended = mender.call(call)
    >>> mended.outcome, mended.value
    ('repaired', {'type': 'tool_use', 'id': 't1', 'name': 'double', 'input': {'n': 21}})
    >>> mender.message({"role": "assistant", "content": "Good day."}).outcome
    'valid'
    """

    def __init__(
        self,
        tools: Any,
        strategies: Strategies = None,
        model: Any = None,
        **options: Any,
    ) -> None:
        chosen = Options.of({**options, "strategies": strategies, "model": model})
        self._loop = repair_loop(tools, chosen)
        self._is_quick = not chosen.sees_all

    @property
    def tools(self) -> Mapping[str, ToolSpec]:
        """The tools on offer, by name."""
        return self._loop.context.tools

    def call(
        self,
        given: Any,
        *,
        finish_reason: str | None = None,
        request: str | None = None,
        messages: Sequence[Any] | None = None,
        tool_choice: Any = None,
        answer: Any = None,
    ) -> Mended:
        """Mend what is meant to be a call, or several; what holds none has failed.

        Args:
            given: A text, a call as an object, a list of calls, a message or a whole response, as
                JSON or as an object of LangChain or of a provider's SDK.
            finish_reason: Why the model stopped; `"length"` means that the last call may be cut.
                By default what a message or a response says of it.
            request: What the user asked for.
            messages: The last messages of the conversation.
            tool_choice: What the request said of calls, in any provider's form; where that is
                "none", there is no call.
            answer: The form that the answer was to have: a JSON Schema, a pydantic model or a
                provider's response format; True where there is one that nobody can check. A text
                that fits it, or was meant to, is the answer and no call.
        """
        beside = _beside(finish_reason, request, messages, tool_choice, answer)
        return run_sync(self._mended(given, beside, self._loop.start(), must_call=True))

    def message(
        self,
        given: Any,
        *,
        finish_reason: str | None = None,
        request: str | None = None,
        messages: Sequence[Any] | None = None,
        tool_choice: Any = None,
        answer: Any = None,
    ) -> Mended:
        """Like `call`, for what a provider answered: it need not call anything.

        What stands in a call of a provider's own form beside name and arguments is the provider's,
        and is kept. `call` refuses it unless it is known to mean nothing: a model may have written
        it.

        Calls that stand in its text, where the map's `[reading]` lets them be read, are written
        where its form has calls.
        """
        beside = _beside(finish_reason, request, messages, tool_choice, answer)
        return run_sync(self._mended(given, beside, self._loop.start(), must_call=False))

    def history(self, messages: Sequence[Any]) -> Mended:
        """Mend the malformed and nameless calls of a conversation, so that it can go on.

        A provider refuses every further request of a thread in which one call's arguments are no
        JSON object, or one has no name that it takes. Such a call is read where that is possible,
        else it has no arguments; where nobody answered it, an answer says so. Everything else stays
        as it was written, wrong values too. No model is asked, and nothing of it is to be run.

        Args:
            messages: The conversation, in the form of any provider or of LangChain.

        Returns:
            `value` is the conversation, the very same where nothing was wrong; `calls` has the ones
            that were changed.

        >>> wrong = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{'n"}}
        >>> answer = {"role": "tool", "tool_call_id": "a", "content": "invalid JSON"}
        >>> thread = [{"role": "assistant", "tool_calls": [wrong]}, answer]
        >>> mended = Mender([]).history(thread)
        >>> mended.value[0]["tool_calls"][0]["function"], mended.value[1] is answer
        ({'name': 'f', 'arguments': '{}'}, True)
        """
        return run_sync(mended_thread(self._loop, messages, self._loop.start()))

    async def acall(
        self,
        given: Any,
        *,
        finish_reason: str | None = None,
        request: str | None = None,
        messages: Sequence[Any] | None = None,
        tool_choice: Any = None,
        answer: Any = None,
    ) -> Mended:
        """Like `call`, where the model or a strategy is async."""
        beside = _beside(finish_reason, request, messages, tool_choice, answer)
        context = self._loop.start(host=AsyncHost())
        return await self._mended(given, beside, context, must_call=True)

    async def amessage(
        self,
        given: Any,
        *,
        finish_reason: str | None = None,
        request: str | None = None,
        messages: Sequence[Any] | None = None,
        tool_choice: Any = None,
        answer: Any = None,
    ) -> Mended:
        """Like `message`, where the model or a strategy is async."""
        beside = _beside(finish_reason, request, messages, tool_choice, answer)
        context = self._loop.start(host=AsyncHost())
        return await self._mended(given, beside, context, must_call=False)

    async def _mended(
        self, given: Any, beside: Mapping[str, Any], context: RunContext, *, must_call: bool
    ) -> Mended:
        quick = self._is_quick and sink() is None
        one = Mending(self._loop, context, is_quick=quick, must_call=must_call)
        return await one.mended(given, beside)


def _beside(
    finish_reason: str | None,
    request: str | None,
    messages: Sequence[Any] | None,
    tool_choice: Any,
    answer: Any,
) -> dict[str, Any]:
    schema = getattr(answer, "model_json_schema", None)
    given = {
        "request": request,
        "messages": None if messages is None else list(messages),
        "finish_reason": finish_reason,
        "tool_choice": plain(tool_choice),
        "answer": plain(answer) if schema is None else schema(),
    }
    return {key: value for key, value in given.items() if value is not None}
