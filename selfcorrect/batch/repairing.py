"""`repair_call`: mend a call without executing it, and without a graph.

What fixes a call chains, each step taking what the one before returned: the text is read
(`fix-json`), the tool's name and the arguments are brought to the schema, and a model is asked
last, where one was given. Which steps there are, and in which order, says the error-strategy map.
"""

from __future__ import annotations

from typing import Any, Unpack

from selfcorrect.batch.mended import Mended
from selfcorrect.batch.mender import Mender
from selfcorrect.loop.options import OptionKeywords


def repair_call(
    raw_or_call: Any,
    tools: Any,
    *,
    request: str | None = None,
    messages: list[Any] | None = None,
    finish_reason: str | None = None,
    tool_choice: Any = None,
    answer: Any = None,
    **options: Unpack[OptionKeywords],
) -> Mended:
    """Mend one tool call, or all calls in one text, and execute nothing.

    The same as `Mender(tools, **options).call(raw_or_call, …)`: build a `Mender` to mend more than
    one. Not the right tool where the call is to be executed, too: `build_graph` learns from what
    the tool answers.

    Args:
        raw_or_call: What a model wrote: a text, a call as an object, a list of calls, a message or
            a provider's whole response as an object, or a LangChain message.
        tools: Functions, LangChain tools, schemas or `ToolSpec`s on offer.
        request: What the user asked for.
        messages: The last messages of the conversation.
        finish_reason: Why the model stopped; `"length"` means that the text is cut. By default
            what a message or response says of it.
        tool_choice: What the request said of calls; see `Mender.call`.
        answer: The form that the answer was to have; see `Mender.call`.
        options: `strategies`, `model`, `limits` and all others of `build_graph` that have to do
            with mending.

    Raises:
        GraphSetupError: If a tool is unusable.
        MapError: If the map is unusable.

    `ready` has the calls that may run, `calls` what became of each, `value` what was handed over
    with the mended calls in their places. The arguments of a call that was valid as it came are
    the caller's own object, untouched.

    >>> def double(number: int) -> int:
    ...     '''Double a number.'''
    ...     return number * 2
    >>> mended = repair_call({"name": "double", "args": {"number": "21"}}, [double])
    >>> mended.outcome, mended.ready[0].args, mended.changes[0].safety.value
    ('repaired', {'number': 21}, 'exact')
    """
    mender = Mender(tools, **options)
    return mender.call(
        raw_or_call,
        request=request,
        messages=messages,
        finish_reason=finish_reason,
        tool_choice=tool_choice,
        answer=answer,
    )
