"""What the messages of a thread say: answers to calls, the last turn, the last request."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.types import Command

from selfcorrect.agents.ending import SOURCE, is_word_of_user
from selfcorrect.diagnosis.facts import reported_error
from selfcorrect.errors import NotDone, ToolReportedError
from selfcorrect.model import JSON
from selfcorrect.tools.error_value import error_in
from selfcorrect.tools.run import plain

PLACEHOLDER = "(no answer)"
"""Stands in the thread for a blank turn, which providers reject."""
NO_ANSWER = "The model gave no answer."
ACCOUNT = "selfcorrect"
"""Where an answer to a repaired call says what was written, what was changed, and what was made."""
_SILENT_BLOCKS = ("text", "thinking", "redacted_thinking", "reasoning")


def own_message(answer: Any, call_id: str | None) -> ToolMessage | None:
    """Return the message in a tool's answer that belongs to the call, or None.

    Args:
        answer: A `ToolMessage`, a `Command`, or a list of both.
        call_id: The call.
    """
    if isinstance(answer, ToolMessage):
        return answer if answer.tool_call_id == call_id else None
    if isinstance(answer, Command):
        update = answer.update
        inner = update.get("messages", ()) if isinstance(update, Mapping) else ()
        return own_message(list(inner), call_id)
    parts = answer if isinstance(answer, list) else ()
    return next((found for each in parts if (found := own_message(each, call_id))), None)


def value_in(message: ToolMessage | None) -> JSON:
    """Return what a message says as plain JSON; a text is a text, whatever it looks like."""
    content = message.content if message else None
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], Mapping):
        content = content[0].get("text", content)
    return plain(content)


def error_of(message: ToolMessage, causes: Sequence[BaseException]) -> ToolReportedError:
    """Return the exception that a message of an error stands for.

    Args:
        message: The message.
        causes: What the tool's own code raised; without it, nothing shows that the code ran.
    """
    said = value_in(message)
    try:
        found = json.loads(said) if isinstance(said, str) and said.startswith("{") else said
    except (ValueError, RecursionError):
        found = said
    error = reported_error(found, error_in(found) or message.text)
    error.is_refusal = error.is_refusal or not causes
    error.__cause__ = chain_of(causes)
    return error


def chain_of(errors: Sequence[BaseException]) -> BaseException | None:
    """Return the last of several errors, each of which counts: the ones before become causes.

    That nothing was done at last says nothing of the executions before.
    """
    errors = [each for each in errors if not isinstance(each, NotDone)] or errors
    for before, error in pairwise(errors):
        if error is not before and error.__cause__ is None:
            error.__cause__ = before
    return errors[-1] if errors else None


def last_turn(messages: Sequence[AnyMessage]) -> tuple[AIMessage | None, list[AnyMessage]]:
    """Return the last message of the model, and what stands behind it."""
    for behind, message in enumerate(reversed(messages)):
        if isinstance(message, AIMessage):
            return message, list(messages[len(messages) - behind :])
    return None, []


def feedback_message(text: str) -> HumanMessage:
    """Return a message to the model that no user wrote."""
    return HumanMessage(text, additional_kwargs={SOURCE: "selfcorrect"})


def last_request(messages: Sequence[AnyMessage]) -> str | None:
    """Return what the user asked for last; messages that middleware wrote do not count."""
    return next((each.text for each in reversed(messages) if is_word_of_user(each)), None)


def is_blank(message: AIMessage) -> bool:
    """Say whether a turn holds neither text nor a call, nor anything else for the user."""
    if message.tool_calls or message.invalid_tool_calls or message.text.strip():
        return False
    blocks = message.content if isinstance(message.content, list) else []
    return all(isinstance(each, str) or each.get("type") in _SILENT_BLOCKS for each in blocks)
