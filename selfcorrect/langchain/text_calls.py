"""Calls in the text of a turn: read, unless the text tells of calls, or quotes one."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage

from selfcorrect.context import RunContext
from selfcorrect.langchain.agent_run import AgentRun
from selfcorrect.langchain.ending import Thread, is_word_of_user
from selfcorrect.langchain.turn_state import (
    beside_calls,
    with_readable_calls,
)
from selfcorrect.model import JSON, Call
from selfcorrect.names.letters import letters, words
from selfcorrect.protocols import tools_named
from selfcorrect.reading.call_object import is_forbidden
from selfcorrect.reading.text_call import TextCall
from selfcorrect.threads.forms import ThreadCall

if TYPE_CHECKING:
    from selfcorrect.reading.choose import Chosen


def read_text_calls(
    turn: AIMessage, messages: Thread, run: AgentRun, context: RunContext
) -> AIMessage | str:
    """Return the turn with the calls of its text; else the tool of a call that was not read.

    The text of the calls is taken out of its content.

    Args:
        turn: A turn without a call.
        messages: The thread before it: the text may be an account of its calls, or quote it.
        run: The run; where an answer must be a call of a tool, no text counts as another call.
        context: The tools and the policy of reading.
    """
    beside = beside_calls(turn, messages)
    if is_forbidden(beside) or not _may_hold_call(turn.text, run.names):
        return ""
    from selfcorrect.reading.attempt import near_tool
    from selfcorrect.reading.choose import Chosen, may_read

    chosen = context.read(turn.text, beside["finish_reason"])
    if chosen is None:
        return ""
    if not isinstance(chosen, Chosen):
        may_be_call = context.offers(chosen.name) or not chosen.name
        return (chosen.name or "a tool") if may_be_call else ""
    names = [call.name for call in chosen.calls]
    if not all(near_tool(name, context.offers) for name in names):
        return ""
    acts = context.may_act(chosen.calls)
    if acts and _is_account(chosen, messages, context):
        return ""
    if acts and _is_quoted(chosen.calls, messages):
        return names[0]
    if not run.structured and may_read(chosen, context.map.reading.text, acts=acts):
        return _with_text_calls(turn, chosen)
    return names[0] if chosen.is_meant else ""


_OPENERS = re.compile(r"[{<(\[]")


def _may_hold_call(text: str, names: Iterable[str]) -> bool:
    """Say whether a text may hold a call; costs little, because each run ends with a text."""
    if _OPENERS.search(text) is None:
        return False
    squeezed = _APART.sub("", _fold(text))
    # A tag may be that of a call that names no tool.
    return "<" in text or any(letters(name).casefold() in squeezed for name in names)


def _is_account(chosen: "Chosen", messages: Thread, context: RunContext) -> bool:
    """Say whether the text tells what was done: it repeats calls, or speaks of their tools."""
    done = [*_successful_calls(messages)]
    if chosen.around or any(call.positional for call in chosen.calls):
        tools = {letters(call["name"]) for call, is_recent in done if is_recent}
        return any(letters(call.name) in tools for call in chosen.calls)
    keys = {_key(call["name"], call["args"], context) for call, _ in done}
    return all(_key(call.name, call.arguments, context) in keys for call in chosen.calls)


def _successful_calls(messages: Thread) -> Iterator[tuple[ToolCall, bool]]:
    """Yield the calls that have succeeded, and whether the user has said nothing since."""
    done: set[str] = set()
    is_recent = True
    for message in reversed(messages):
        if isinstance(message, ToolMessage) and message.status != "error":
            done.add(message.tool_call_id)
        elif isinstance(message, AIMessage):
            yield from ((call, is_recent) for call in message.tool_calls if call["id"] in done)
        is_recent &= not is_word_of_user(message)


def _key(name: str, args: JSON, context: RunContext) -> str:
    tools = tools_named(name, context.tools)
    own = tools[0].name if tools else name
    return context.key_of(Call(own, args if isinstance(args, dict) else {"": args}))


def _is_quoted(calls: Iterable[TextCall], messages: Thread) -> bool:
    """Say whether one of these calls is a quotation: a page may hold one, and must not make it.

    Whatever its form, a call is one where what a tool answered names its tool and one of its
    values. The user speaks of tools and values too, so what the user wrote must also have the form
    of a call.
    """
    sources = [
        (_fold(message.text), _FORM if isinstance(message, HumanMessage) else "")
        for message in messages
        if isinstance(message, ToolMessage | HumanMessage)
    ]
    return any(_stands_in(call, text, form) for call in calls for text, form in sources)


_FORM = r"['\"`]?\s*(?:[({<>]|[,:]?\s*['\"]?(?:arguments|args|parameters|params|input)\b)"
"""What follows the name of a tool in a call, be it markup, JSON or code."""
_APART = re.compile(r"[\W_]+")


def _stands_in(call: TextCall, text: str, form: str) -> bool:
    name = r"[\W_]*".join(map(re.escape, words(call.name)))
    if re.search(rf"(?<![^\W_]){name}(?![^\W_]){form}", text) is None:
        return False
    squeezed = _APART.sub("", text)
    leaves = _leaves([call.arguments, *call.positional])
    values = {_APART.sub("", _fold(leaf)) for leaf in leaves} - {""}
    return not values or any(value in squeezed for value in values)


def _leaves(value: JSON) -> Iterator[str]:
    """Yield what is written in arguments."""
    if isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _fold(text: str) -> str:
    return normalize("NFKC", text).casefold()


def _with_text_calls(turn: AIMessage, chosen: "Chosen") -> AIMessage:
    # Which parameter a value by position means, the loop finds out.
    written = [
        ThreadCall("", call.name, "" if call.positional else call.arguments)
        for call in chosen.calls
    ]
    content = _without_text(turn, chosen.around)
    return with_readable_calls(turn.model_copy(update={"content": content}), written, turn.text)


def _without_text(turn: AIMessage, around: str) -> str | list[Any]:
    """Return the content with this text in place of its own; other blocks stay."""
    if isinstance(turn.content, str):
        return around
    kept = [part for part in turn.content if isinstance(part, dict) and part.get("type") != "text"]
    return [*kept, {"type": "text", "text": around}] if around else kept
