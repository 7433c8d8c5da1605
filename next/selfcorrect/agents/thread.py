"""The thread of an agent: made valid for any provider, and which of its calls are unanswered."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage

from selfcorrect.agents.answers import last_turn
from selfcorrect.agents.calls import calls_of
from selfcorrect.agents.history import make_valid, pair_units
from selfcorrect.agents.langchain_form import LangChainForm


def valid_thread(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return the thread as every provider accepts it; a valid thread comes back unchanged.

    See `make_valid`, which takes the messages of any provider.
    """
    return make_valid(messages, LangChainForm()).messages


def open_calls(messages: Sequence[AnyMessage]) -> list[ToolCall]:
    """Return the calls of the model's last message that have no answer; no others may run."""
    turn, behind = last_turn(messages)
    if turn is None:
        return []
    answers = find_answers(turn, behind)
    return [call for at, call in enumerate(calls_of(turn)) if at not in answers]


def find_answers(turn: AIMessage, behind: Sequence[AnyMessage]) -> dict[int, Any]:
    """Return the answers to the calls of one turn, by the place of the call in it."""
    steps = pair_units(LangChainForm().split([turn, *behind]))
    return {step.call[1]: behind[step.at - 1] for step in steps if step.call and step.at}


def answer_to(call_id: str | None, messages: Sequence[AnyMessage]) -> ToolMessage | None:
    """Return the answer that a call has already, or None.

    Args:
        call_id: The call; the last one that has this id is meant.
        messages: The thread.
    """
    answer: ToolMessage | None = None
    for message in reversed(messages):
        if isinstance(message, ToolMessage) and message.tool_call_id == call_id:
            answer = message
        calls = calls_of(message) if isinstance(message, AIMessage) else ()
        if any(call["id"] == call_id for call in calls):
            return answer
    return None
