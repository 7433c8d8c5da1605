"""A turn of the model: its calls, each readable, those in its text, and where the loop starts."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict
from unicodedata import normalize
from uuid import uuid4

from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage

from selfcorrect.context import RunContext
from selfcorrect.effects.equal import digest
from selfcorrect.langchain.agent_run import AgentRun
from selfcorrect.langchain.calls import calls_of, each_once, with_calls
from selfcorrect.langchain.ending import Thread, is_word_of_user
from selfcorrect.langchain.thread import ACCOUNT, last_request, last_turn
from selfcorrect.model import JSON, Call, JsonDict
from selfcorrect.names.letters import letters, words
from selfcorrect.protocols import tools_named
from selfcorrect.reading.call_object import is_forbidden, strict_json
from selfcorrect.reading.text_call import TextCall
from selfcorrect.threads.history import stop_reason_of

if TYPE_CHECKING:
    from selfcorrect.reading.choose import Chosen


TOOL_CHOICE = "tool_choice"
"""Where the metadata of a turn says that no call was allowed in it."""
UNREAD = "selfcorrect_unread"
"""Where a turn names its calls that are shown without their arguments: they could not be read."""
_OPENERS = re.compile(r"[{<(\[]")


class Start(TypedDict):
    """What the loop starts from, where it is not the call as the thread shows it.

    Attributes:
        shown: Name and arguments in the thread; others mean that somebody has edited the call.
        given: The call as it stands, or the text that holds it, with what repaired it so far.
    """

    shown: JsonDict
    given: JsonDict


Starts: TypeAlias = dict[str | None, Start]
"""What the loop starts from, by call id."""
Readable: TypeAlias = tuple[AIMessage, Starts]
"""A turn with calls that can be read, and what the loop starts from."""


def read_text_calls(
    turn: AIMessage, messages: Thread, run: AgentRun, context: RunContext
) -> Readable | str:
    """Return the turn with the calls of its text; else the tool of a call that was not read.

    The text of the calls is taken out of its content.

    Args:
        turn: A turn without a call.
        messages: The thread before it: the text may be an account of its calls, or quote it.
        run: The run; where an answer must be a call of a tool, no text counts as another call.
        context: The tools and the policy of reading.
    """
    if name := _bare_arguments_of(turn, messages, context):
        return name
    beside = beside_calls(turn, messages)
    if is_forbidden(beside) or not _may_hold_call(turn.text, run.names):
        return ""
    from selfcorrect.reading.attempt import near_tool
    from selfcorrect.reading.choose import Chosen, NoCall, may_read

    chosen = context.read(turn.text, beside["finish_reason"])
    if isinstance(chosen, NoCall):
        return ""
    if not isinstance(chosen, Chosen):
        is_known = context.offers(chosen.name) or not chosen.name
        return (chosen.name or _NAMELESS) if is_known else ""
    made = [call.name for call in chosen.calls]
    if not all(near_tool(name, context.offers) for name in made):
        return ""
    acts = context.may_act(chosen.calls)
    if acts and _is_account(chosen, messages, context):
        return ""
    if acts and is_quoted(chosen.calls, messages):
        return made[0]
    if not run.structured and may_read(chosen, context.map.reading.text, acts=acts):
        return _with_text_calls(turn, chosen)
    return made[0] if chosen.is_meant else ""


_NAMELESS = "a tool"


def _bare_arguments_of(turn: AIMessage, messages: Thread, context: RunContext) -> str:
    """Return the tool whose last call has failed, where a text is arguments for it; or nothing."""
    last = messages[-1]
    if not isinstance(last, ToolMessage) or last.status != "error":
        return ""
    tool = context.tools.get(last.name or "")
    value = strict_json(turn.text.strip("` \n").removeprefix("json"))
    if not tool or not isinstance(value, dict) or not value:
        return ""
    return tool.name if value.keys() <= tool.arguments.properties.keys() else ""


def _may_hold_call(text: str, names: Iterable[str]) -> bool:
    """Say whether a text may hold a call; costs little, because each run ends with a text."""
    if _OPENERS.search(text) is None:
        return False
    squeezed = _APART.sub("", _fold(text))
    # A tag may be that of a call that names no tool.
    return "<" in text or any(letters(name).casefold() in squeezed for name in names)


def stop_reason(turn: AIMessage) -> str | None:
    """Return why the model stopped writing, if its provider says so; a refusal comes first."""
    return stop_reason_of(
        {**turn.additional_kwargs, **turn.response_metadata, "content": turn.content}
    )


def _is_account(chosen: "Chosen", messages: Thread, context: RunContext) -> bool:
    """Say whether the text tells what was done: it repeats calls, or speaks of their tools."""
    made = [*_calls_made(messages)]
    if chosen.around or any(call.positional for call in chosen.calls):
        tools = {letters(call["name"]) for call, is_now in made if is_now}
        return any(letters(call.name) in tools for call in chosen.calls)
    keys = {_key(call["name"], call["args"], context) for call, _ in made}
    return all(_key(call.name, call.arguments, context) in keys for call in chosen.calls)


def _calls_made(messages: Thread) -> Iterator[tuple[ToolCall, bool]]:
    """Yield the calls that have succeeded, and whether the user has said nothing since."""
    done: set[str] = set()
    is_now = True
    for message in reversed(messages):
        if isinstance(message, ToolMessage) and message.status != "error":
            done.add(message.tool_call_id)
        elif isinstance(message, AIMessage):
            yield from ((call, is_now) for call in message.tool_calls if call["id"] in done)
        is_now &= not is_word_of_user(message)


def _key(name: str, args: JSON, context: RunContext) -> str:
    tools = tools_named(name, context.tools)
    own = tools[0].name if tools else name
    return context.key_of(Call(own, args if isinstance(args, dict) else {"": args}))


def _with_text_calls(turn: AIMessage, chosen: "Chosen") -> Readable:
    calls: list[ToolCall] = []
    starts: Starts = {}
    for index, each in enumerate(chosen.calls):
        call_id, args = f"call_{uuid4().hex[:12]}", each.arguments
        if not isinstance(args, dict) or each.positional:
            args = {}
        calls.append(ToolCall(name=each.name, args=args, id=call_id, type="tool_call"))
        starts[call_id] = Start(
            shown={"name": each.name, "args": args}, given={"raw": turn.text, "index": index}
        )
    update = {"tool_calls": calls, "content": _without_text(turn, chosen.around)}
    return turn.model_copy(update=update), starts


def _without_text(turn: AIMessage, around: str) -> str | list[Any]:
    """Return the content without the text of the calls; what is no text stays."""
    if isinstance(turn.content, str):
        return around
    kept = [each for each in turn.content if isinstance(each, dict) and each.get("type") != "text"]
    return [*kept, {"type": "text", "text": around}] if around else kept


def is_quoted(calls: Iterable[TextCall], messages: Thread) -> bool:
    """Say whether one of these calls is a quotation: a page may hold one, and must not make it.

    Whatever its form, a call is one where what a tool answered names its tool and one of its
    values. The user speaks of tools and values too, so what the user wrote must also have the form
    of a call.
    """
    said = [
        (_fold(each.text), _FORM if isinstance(each, HumanMessage) else "")
        for each in messages
        if isinstance(each, ToolMessage | HumanMessage)
    ]
    return any(_stands_in(call, text, form) for call in calls for text, form in said)


_FORM = r"['\"`]?\s*(?:[({<>]|[,:]?\s*['\"]?(?:arguments|args|parameters|params|input)\b)"
"""What follows the name of a tool in a call, be it markup, JSON or code."""
_APART = re.compile(r"[\W_]+")


def _stands_in(call: TextCall, text: str, form: str) -> bool:
    name = r"[\W_]*".join(map(re.escape, words(call.name)))
    if re.search(rf"(?<![^\W_]){name}(?![^\W_]){form}", text) is None:
        return False
    squeezed = _APART.sub("", text)
    written = _leaves([call.arguments, *call.positional])
    values = {_APART.sub("", _fold(each)) for each in written} - {""}
    return not values or any(each in squeezed for each in values)


def _leaves(value: JSON) -> Iterator[str]:
    """Yield what is written in arguments."""
    if isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(each)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _fold(text: str) -> str:
    return normalize("NFKC", text).casefold()


TURN = "selfcorrect_turn"


class Turn(TypedDict):
    """What is known of the calls of a turn, by call id.

    Attributes:
        message: The id of its message.
        starts: What the loop starts from.
        words: What the model reads about names that no tool has.
    """

    message: str | None
    starts: Starts
    words: dict[str | None, str]


def with_readable_calls(message: AIMessage) -> Readable:
    """Return the message with every malformed call as a call, and where the loop starts from.

    Each call gets an id of its own, and a call that was sent twice is one. The arguments of a
    malformed call are empty in the thread; the loop starts from its text. Where a piece of the turn
    belongs to no call, each call is malformed: the piece may be the rest of any.
    """
    once = each_once(message)
    pieces = [*once.tool_calls, *once.invalid_tool_calls]
    is_torn = any(each["args"] and not each["name"] for each in pieces)
    calls: dict[str, ToolCall] = {}
    starts: Starts = {}
    for index, (call, piece) in enumerate(zip(calls_of(once), pieces, strict=True)):
        call_id = call["id"] or ""
        if not call_id or call_id in calls:
            # The same when a node runs again from its top.
            place = digest(message.id or uuid4().hex, index)
            call_id = call["id"] = f"call_{place[:12]}"
        calls[call_id] = call
        if is_torn or index >= len(once.tool_calls):
            call["args"] = {}
            text = _NO_OWNER if is_torn else piece["args"] or ""
            start = {"call": {"name": call["name"], "args": text, "id": call_id}}
            starts[call_id] = Start(shown={"name": call["name"], "args": {}}, given=start)
    return with_calls(once, list(calls.values())), starts


_NO_OWNER = "(a piece of this turn belongs to no call)"


def with_made_calls(messages: Thread) -> AIMessage | None:
    """Return the last turn with its calls as they were made; None if it shows them so."""
    turn, behind = last_turn(messages)
    accounts = {
        each.tool_call_id: each.additional_kwargs.get(ACCOUNT, {})
        for each in behind
        if isinstance(each, ToolMessage)
    }
    if turn is None or not any("made" in each for each in accounts.values()):
        return None
    calls = calls_of(turn)
    for call in calls:
        call.update(accounts.get(call["id"] or "", {}).get("made", {}))
    changed = with_calls(turn, calls)
    return None if changed is turn else changed


def beside_calls(turn: AIMessage | None, messages: Thread) -> JsonDict:
    """Return what the loop is given beside the call of a turn."""
    return {
        "request": last_request(messages),
        "messages": messages,
        "finish_reason": stop_reason(turn) if turn else None,
        TOOL_CHOICE: turn.response_metadata.get(TOOL_CHOICE) if turn else None,
    }
