"""The thread of an agent: made valid for any provider, and which of its calls are unanswered."""

from collections import defaultdict
from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage

from selfcorrect.agents.answers import last_turn
from selfcorrect.agents.calls import calls_of
from selfcorrect.agents.history import make_valid
from selfcorrect.agents.langchain_form import LangChainForm
from selfcorrect.agents.pairing import MOST_COMPARED


def valid_thread(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return the thread as every provider accepts it; a valid thread comes back unchanged.

    See `make_valid`, which takes the messages of any provider.
    """
    return make_valid(messages, LangChainForm()).messages


def open_calls(messages: Sequence[AnyMessage]) -> list[ToolCall]:
    """Return the calls of the model's last message that have no answer; no others may run."""
    turn, behind = last_turn(messages)
    calls = calls_of(turn) if turn else []
    answers = find_answers(calls, behind)
    return [call for at, call in enumerate(calls) if at not in answers]


def find_answers(calls: Sequence[ToolCall], behind: Sequence[AnyMessage]) -> dict[int, ToolMessage]:
    """Return the answers to the calls of one turn, by the place of the call in it.

    Of calls that share an id, an answer belongs to the first one whose tool it names, else to the
    first one.
    """
    waiting: defaultdict[str, list[int]] = defaultdict(list)
    for at, call in enumerate(calls):
        waiting[call["id"] or ""].append(at)
    found: dict[int, ToolMessage] = {}
    for each in behind:
        same = waiting[each.tool_call_id] if isinstance(each, ToolMessage) else []
        if same and isinstance(each, ToolMessage):
            near = same[:MOST_COMPARED]
            place = next((at for at in near if calls[at]["name"] == each.name), same[0])
            same.remove(place)
            found[place] = each
    return found


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
