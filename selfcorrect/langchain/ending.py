"""May this be the end of the run? Asked when a turn of the model calls no tool."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, takewhile
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage

from selfcorrect.lazy import load_table
from selfcorrect.model import frozen
from selfcorrect.reading.call_object import promises_call
from selfcorrect.text import quote

Thread: TypeAlias = Sequence[AnyMessage]
"""The messages of an agent, in order."""
SOURCE = "lc_source"
"""LangChain's key for who wrote a message, where it is not a user."""
_SENTENCES = load_table("sentences.toml")
_OVER: Mapping[str, str] = _SENTENCES["over"]
MOST_REPEATS = 5
"""Equal turns after which the model reads of them; three more, and the run ends."""
MOST_FAILURES = 16
"""Turns in a row whose calls have all failed, after which the run ends."""
_ENDS = ("terminal_kind", "rejected")
"""Reasons of reports that end the run."""


def is_word_of_user(message: BaseMessage) -> bool:
    """Say whether a user wrote a message, and no middleware: that begins another run."""
    return isinstance(message, HumanMessage) and SOURCE not in message.additional_kwargs


@frozen
class Objection:
    """Why the run does not end here.

    Attributes:
        reason: A key of `objections` in `sentences.toml`.
        text: What the model reads; empty where the thread says it already.
    """

    reason: str
    text: str


def _object(reason: str, part: str = "") -> Objection:
    return Objection(reason, _SENTENCES["objections"][reason].format(part))


BLANK = _object("blank")
"""The turn holds neither a text nor a call."""
FAILED = _object("failed")
"""The tool whose answer is the agent's has failed."""


def may_end(stop_reason: str | None, unread: str, structured: Sequence[str]) -> Objection | None:
    """Return why the run may not end with a turn without a call, or None if it may.

    Args:
        stop_reason: Why the model stopped, as its provider says.
        unread: The tool of a call that stands in the turn's text and was not made.
        structured: The tools of which one must be called for the answer.
    """
    if unread:
        return _object("unread", quote(unread))
    if promises_call(stop_reason):
        return _object("promised")
    if structured:
        return _object("unstructured", " or ".join(map(quote, structured)))
    return None


def why_over(messages: Thread, *, is_running: bool) -> str | None:
    """Return why the model is not asked any more, as the last message of the run, or None.

    Args:
        messages: The thread.
        is_running: Whether the last turn surely belongs to the present run of the agent. If not,
            a message of the user behind it begins another run.
    """
    if (detail := _terminal_detail(messages, is_running=is_running)) is not None:
        return _OVER["terminal"].format(detail)
    if (count := _count_repeats(messages)) >= MOST_REPEATS + 3:
        return _OVER["repeated"].format(count)
    if (count := _count_failures(messages)) >= MOST_FAILURES:
        return _OVER["failed"].format(count)
    return None


def over_budget(detail: str) -> str:
    """Return the last message of a run that is ended at a bound of its budget."""
    return _OVER["budget"].format(detail)


def object_to_repeats(messages: Thread) -> Objection | None:
    """Return an objection where the model makes the same calls again and again, or None."""
    count = _count_repeats(messages)
    return _object("repeated", str(count)) if count >= MOST_REPEATS else None


def _terminal_detail(messages: Thread, *, is_running: bool) -> str | None:
    """Return the detail of an answer to the last turn that ends the agent, or None."""
    ends = AIMessage if is_running else (AIMessage, HumanMessage)
    for message in takewhile(lambda message: not isinstance(message, ends), reversed(messages)):
        if not isinstance(message, ToolMessage) or message.status != "error":
            continue
        report = message.artifact
        if isinstance(report, Mapping) and report.get("reason") in _ENDS:
            return str(report["detail"])
    return None


def _count_failures(messages: Thread) -> int:
    """Return how many turns the thread ends with whose calls have all failed."""
    turns = islice(list_turns(messages), MOST_FAILURES)
    return sum(1 for _ in takewhile(lambda turn: turn[-1], turns))


def _count_repeats(messages: Thread) -> int:
    """Return how often the thread ends with the same calls and the same answers.

    A few turns that follow each other again and again count like one turn that is repeated. A
    word of the user's ends the row; words of middleware do not. Too few to matter are 0.
    """
    turns = list(islice(list_turns(messages), _LONGEST_ROUND * (MOST_REPEATS + 3)))
    if len(turns) < MOST_REPEATS:
        return 0
    return max(_count_rounds(turns, length) for length in range(1, _LONGEST_ROUND + 1))


def _count_rounds(turns: Sequence[object], length: int) -> int:
    """Return how often the first turns follow each other, taken in rounds of this length."""
    first = list(turns[:length])
    rounds = (list(turns[at : at + length]) for at in range(0, len(turns), length))
    return sum(1 for _ in takewhile(first.__eq__, rounds))


_LONGEST_ROUND = 4


def list_turns(messages: Thread) -> Iterator[tuple[list[Any], list[Any], bool]]:
    """Yield the turns with calls since the user's last word, the last one first.

    Each comes as its calls, its answers, and whether all of them have failed.
    """
    answers: list[ToolMessage] = []
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            answers.append(message)
        elif isinstance(message, AIMessage):
            if not message.tool_calls:
                return
            calls = [(call["name"], call["args"]) for call in message.tool_calls]
            texts = sorted(((answer.name, str(answer.text)) for answer in answers), key=repr)
            yield calls, texts, all(answer.status == "error" for answer in answers)
            answers = []
        elif SOURCE not in message.additional_kwargs:
            return
