"""The thread of an agent: made valid for any provider, and what its messages say of its calls."""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command

from selfcorrect.context import RunContext
from selfcorrect.diagnosis.facts import reported_error
from selfcorrect.errors import NotDone, ToolReportedError
from selfcorrect.langchain.calls import LANGCHAIN, shown_calls
from selfcorrect.langchain.ending import SOURCE, Thread, is_word_of_user
from selfcorrect.model import JSON
from selfcorrect.reading.call_object import strict_json
from selfcorrect.text import quote
from selfcorrect.threads.forms import KEYS, NO_WORDS, ThreadCall, Unit
from selfcorrect.threads.history import make_valid, pair
from selfcorrect.tools.error_value import error_in
from selfcorrect.tools.run import plain


def valid_thread(messages: Thread) -> list[AnyMessage]:
    """Return the thread as every provider accepts it; a valid thread comes back unchanged.

    See `make_valid`, which takes the messages of any provider.
    """
    return make_valid(messages, LANGCHAIN).messages


def open_calls(messages: Thread) -> list[ThreadCall]:
    """Return the calls of the model's last message that have no answer; no others may run."""
    turn, behind = last_turn(messages)
    if turn is None:
        return []
    calls = shown_calls(turn)
    answers = find_answers(calls, behind)
    return [call for at, call in enumerate(calls) if at not in answers]


def find_answers(calls: Sequence[ThreadCall], behind: Thread) -> dict[int, Any]:
    """Return the answers to the calls of one turn, by the place of the call in it."""
    answers = pair([Unit(-1, None, tuple(calls)), *LANGCHAIN.split(behind)])
    return {index: behind[at - 1] for (turn, index), at in answers.items() if turn == 0}


def answer_to(call_id: str | None, messages: Thread) -> ToolMessage | None:
    """Return the answer that a call has already, or None.

    Args:
        call_id: The call; the last one that has this id is meant.
        messages: The thread.
    """
    answer: ToolMessage | None = None
    for message in reversed(messages):
        if isinstance(message, ToolMessage) and message.tool_call_id == call_id:
            answer = message
        calls = shown_calls(message) if isinstance(message, AIMessage) else ()
        if any(call.id == call_id for call in calls):
            return answer
    return None


async def with_ledger_answers(
    messages: Thread, context: RunContext, scope: str | None
) -> list[AnyMessage]:
    """Return the thread with the answers that it lacks, but that the ledger has.

    Args:
        messages: The thread.
        context: The parts of the loop, its ledger among them.
        scope: What the ledger's memory belongs to; without one the thread stays as it is.
    """
    if scope is None:
        return list(messages)
    units = LANGCHAIN.split(messages)
    calls = {(at, index) for at, unit in enumerate(units) for index in range(len(unit.calls))}
    lost = sorted(calls - pair(units).keys(), reverse=True)
    records = await context.use_ledger(context.ledger.records) if lost else []
    thread = list(messages)
    for turn, index in lost:
        call = units[turn].calls[index]
        of = (scope, call.name, call.id, "done", quote(call.args, 500))
        same = [
            record
            for record in records
            if (record.thread, record.tool, record.call_id, record.status, record.about) == of
        ]
        if len(same) == 1:
            text = text_in(load_answer(same[0].value)[0])
            thread.insert(turn + 1, ToolMessage(text, name=call.name, tool_call_id=call.id))
    return thread


NO_ANSWER = "The model gave no answer."
ACCOUNT = "selfcorrect"
"""Where an answer to a repaired call says what was written, what was changed, and what was made."""


def own_message(answer: Any, call_id: str | None) -> ToolMessage | None:
    """Return the message in a tool's answer that belongs to the call, or None.

    Args:
        answer: A `ToolMessage`, a `Command`, or a list of both.
        call_id: The call.
    """
    if isinstance(answer, Command):
        answer = answer.update.get("messages") if isinstance(answer.update, Mapping) else None
    if isinstance(answer, ToolMessage):
        return answer if answer.tool_call_id == call_id else None
    parts = answer if isinstance(answer, list | tuple) else ()
    messages = (own_message(part, call_id) for part in parts)
    return next(filter(None, messages), None)


def value_in(message: ToolMessage | None) -> JSON:
    """Return what a message says as plain JSON; a text is a text, whatever it looks like."""
    content = message.content if message else None
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], Mapping):
        content = content[0].get("text", content)
    return plain(content)


def text_in(value: JSON) -> str:
    """Return what a model reads of a value: a text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def dump_answer(answer: Any, value: JSON) -> JSON:
    """Return a value as a replay needs it: with a tool's answer that is more than a text."""
    is_text = isinstance(answer, ToolMessage) and isinstance(answer.content, str)
    if answer is None or (is_text and answer.artifact is None):
        return value
    _, data = _SERIALIZER.dumps_typed(answer)
    return {_KEPT: b64encode(data).decode(), "value": value}


def load_answer(memory: JSON) -> tuple[JSON, Any]:
    """Return the value of which `dump_answer` has made this, and the answer; None without one."""
    if not isinstance(memory, Mapping) or memory.keys() != {_KEPT, "value"}:
        return memory, None
    return memory["value"], _SERIALIZER.loads_typed(("msgpack", b64decode(memory[_KEPT])))


_KEPT = "selfcorrect answer"
_SERIALIZER = JsonPlusSerializer()


def error_of(message: ToolMessage, causes: Sequence[BaseException]) -> ToolReportedError:
    """Return the exception that a message of an error stands for.

    Args:
        message: The message.
        causes: What the tool's own code raised; without it, nothing shows that the code ran.
    """
    value = value_in(message)
    value = strict_json(value) if isinstance(value, str) else value
    error = reported_error(value, error_in(value) or message.text)
    error.is_refusal = error.is_refusal or not causes
    error.__cause__ = chain_of(causes) if causes else None
    return error


def chain_of(errors: Sequence[BaseException]) -> BaseException:
    """Return the last of several errors, each of which counts: the ones before become causes.

    That nothing was done at last says nothing of the executions before.
    """
    errors = [error for error in errors if not isinstance(error, NotDone)] or errors
    for before, error in pairwise(errors):
        if error is not before and error.__cause__ is None:
            error.__cause__ = before
    return errors[-1]


def last_turn(messages: Thread) -> tuple[AIMessage | None, list[AnyMessage]]:
    """Return the last message of the model, and the messages behind it."""
    for behind, message in enumerate(reversed(messages)):
        if isinstance(message, AIMessage):
            return message, list(messages[len(messages) - behind :])
    return None, []


def feedback_message(text: str) -> HumanMessage:
    """Return a message to the model that no user wrote."""
    return HumanMessage(text, additional_kwargs={SOURCE: "selfcorrect"})


def last_request(messages: Thread) -> str | None:
    """Return what the user asked for last; messages that middleware wrote do not count."""
    words = (message.text for message in reversed(messages) if is_word_of_user(message))
    return next(words, None)


def is_blank(message: AIMessage) -> bool:
    """Say whether a turn holds neither text nor a call, nor anything else for the user."""
    # A model repeats what stood for its blank turns.
    has_text = message.text.strip(" \n\t.…-_") and message.text.strip() != NO_WORDS
    if message.tool_calls or message.invalid_tool_calls or has_text:
        return False
    blocks = message.content if isinstance(message.content, list) else []
    return all(
        isinstance(block, str) or block.get("type") in KEYS["silent_blocks"] for block in blocks
    )
