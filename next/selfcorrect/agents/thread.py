"""The thread of an agent: made valid for any provider, and which of its calls are unanswered."""

from collections.abc import Sequence
from itertools import takewhile
from json import dumps
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage

from selfcorrect.agents.answers import last_turn
from selfcorrect.agents.calls import calls_of
from selfcorrect.agents.history import make_valid, pair_units
from selfcorrect.agents.langchain_form import LangChainForm
from selfcorrect.context import RunContext
from selfcorrect.effects.again import Record
from selfcorrect.nodes.execution import unpack
from selfcorrect.text import quote


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


async def with_known_answers(
    messages: Sequence[AnyMessage], context: RunContext, scope: str | None
) -> list[AnyMessage]:
    """Return the thread with the answers of calls that are done, but that it does not answer.

    Args:
        messages: The thread.
        context: The parts of the loop, its ledger among them.
        scope: What the ledger's memory belongs to; without one nothing is known.
    """
    lost = {at: calls for at in range(len(messages)) if (calls := _open_at(messages, at))}
    records: list[Record] = []
    if lost and scope is not None:
        records = await context.use_ledger(context.ledger.records)
    thread: list[AnyMessage] = []
    for at, message in enumerate(messages):
        thread.append(message)
        for call in lost.get(at, ()):
            same = [each for each in records if each.thread == scope and _is_of(each, call)]
            if len(same) == 1:
                value, _ = unpack(same[0].value)
                text = value if isinstance(value, str) else dumps(value, ensure_ascii=False)
                thread.append(ToolMessage(text, name=call["name"], tool_call_id=call["id"]))
    return thread


def _open_at(messages: Sequence[AnyMessage], at: int) -> list[ToolCall]:
    """Return the calls of a message that have no answer behind it."""
    behind = map(messages.__getitem__, range(at + 1, len(messages)))
    said = takewhile(lambda each: isinstance(each, ToolMessage), behind)
    return open_calls([messages[at], *said])


def _is_of(record: Record, call: ToolCall) -> bool:
    """Say whether a record is of this very call, and says that it is done."""
    is_named = (record.tool, record.call_id) == (call["name"], call["id"])
    return is_named and record.status == "done" and record.about == quote(call["args"], 500)
