"""The thread of an agent: made valid for any provider, and which of its calls are unanswered."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage

from selfcorrect.agents.answers import last_turn
from selfcorrect.agents.calls import calls_of
from selfcorrect.agents.history import make_valid
from selfcorrect.agents.langchain_form import LangChainForm


def valid_thread(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return the thread as every provider accepts it; a valid thread comes back unchanged.

    See `make_valid`, which takes the messages of any provider.
    """
    return make_valid(messages, LangChainForm()).messages


def open_calls(messages: Sequence[AnyMessage]) -> list[ToolCall]:
    """Return the calls of the model's last message that have no answer; no others may run."""
    turn, behind = last_turn(messages)
    answered = [each.tool_call_id for each in behind if isinstance(each, ToolMessage)]
    calls: list[ToolCall] = []
    for call in calls_of(turn) if turn else ():
        if call["id"] in answered:
            # Of calls that share an id, the first one has the first answer.
            answered.remove(call["id"])
        else:
            calls.append(call)
    return calls


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
