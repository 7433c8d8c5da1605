"""What a deployment decides of an agent: its bounds, and what happens when its model fails it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import count
from typing import Any, Protocol, Self, runtime_checkable

from selfcorrect.errors import CorrectionFailed, GraphSetupError, ToolNotFoundError, refuse_unknown
from selfcorrect.model import frozen
from selfcorrect.names.letters import letters, words
from selfcorrect.names.likeness import OTHER, difference
from selfcorrect.text import quote


@frozen
class AgentBudget:
    """Bounds of one run of an agent; None: unbounded.

    Attributes:
        turns: How often the model is asked.
        tool_calls: Calls of tools.
        seconds: Time, without what a person takes to answer.
        tokens: Tokens of the model, as far as it says so.
        same_tool: Calls of one tool in a row.
        argument_bytes: Bytes of one call's arguments, as JSON.

    Raises:
        GraphSetupError: If a bound is not a positive number.
    """

    turns: int | None = 8
    tool_calls: int | None = 32
    seconds: float | None = 300.0
    tokens: int | None = None
    same_tool: int | None = None
    argument_bytes: int | None = None

    def __post_init__(self) -> None:
        for part in fields(self):
            bound = getattr(self, part.name)
            if bound is not None and not (isinstance(bound, int | float) and bound > 0):
                raise GraphSetupError(f"`{part.name}` must be a positive number: {bound!r}")


@frozen
class Stop:
    """End the run with its report; this is what happens without a handler."""


@frozen
class Checkpoint:
    """Interrupt the run: it goes on where it stopped with `{"action": "extend", "limits": {…}}`."""


class Extend:
    """Go on with larger bounds: `Extend(turns=20)`.

    Raises:
        GraphSetupError: If a budget has no such bound, or it is not a positive number.
    """

    def __init__(self, **bounds: float) -> None:
        refuse_unknown("bound", bounds, AgentBudget.__annotations__)
        # A budget refuses a bound that is not a positive number.
        AgentBudget(**bounds)  # type: ignore[arg-type]
        self.bounds = bounds


LimitDecision = Stop | Extend | Checkpoint


FEEDBACK = "Your answer was empty. Call a tool, or answer in words."


class EmptyResponseError(CorrectionFailed):
    """A model answered nothing, too often in a row."""


@runtime_checkable
class EmptyAnswerPolicy(Protocol):
    """Decides about empty answers."""

    def fresh(self) -> EmptyAnswerPolicy:
        """Return the policy of one run: itself, unless it counts."""
        return self

    def handle(self) -> str | None:
        """Return what the model reads after an empty answer; None ends the run with that answer.

        Raises:
            EmptyResponseError: To end the run.
        """
        ...

    def on_answer(self) -> None:
        """Take note of an answer that is not empty."""


@dataclass
class InARow:
    """Counts what happens in a row."""

    def fresh(self) -> Self:
        return replace(self)

    def end_row(self) -> None:
        """Take note of something else."""
        self._row = count(1)

    def __post_init__(self) -> None:
        self.end_row()


@dataclass
class RetryWithFeedback(InARow):
    """Asks the model again, up to `max_retries` times in a row.

    Attributes:
        max_retries: How many empty answers in a row are answered with the feedback.
        feedback: What the model reads.
    """

    max_retries: int = 1
    feedback: str = FEEDBACK
    on_answer = InARow.end_row

    def handle(self) -> str:
        times = next(self._row)
        if times > self.max_retries:
            raise EmptyResponseError(f"the model answered nothing {times} times in a row")
        return self.feedback


class ExitOnEmpty(EmptyAnswerPolicy):
    """Ends the run with the empty answer."""

    def handle(self) -> None:
        return None


MAX_NAME = 128
"""Characters of a name in a message: no provider takes a tool with a longer one."""
MAX_NAMES = 100
MAX_LIST = 2_400
MAX_SUGGESTIONS = 3
CONTAINMENT = 0.2
"""What is added to the likeness of two names where one contains the other."""


@frozen
class Feedback:
    """The model reads the message, and may call again."""

    message: str
    suggestions: tuple[str, ...] = ()


@frozen
class Raise:
    """The run ends with the error."""

    error: Exception


@runtime_checkable
class ToolNotFoundPolicy(Protocol):
    """Decides about calls of tools that do not exist."""

    def fresh(self) -> ToolNotFoundPolicy:
        """Return the policy of one run: itself, unless it counts."""
        return self

    def handle(self, requested: str, available: Sequence[str]) -> Feedback | Raise:
        """Decide about a name that no tool has."""
        ...

    def on_tool_found(self) -> None:
        """Take note of a name that a tool has, before the tool runs."""


@dataclass
class AutoCorrect(InARow):
    """Tells the model which tools it may have meant, up to `max_retries` times in a row.

    Attributes:
        max_retries: How many unknown names in a row are answered with feedback.
        min_token_length: Shorter words of a name are not compared.
        min_token_similarity: How alike, from 0 to 1, a tool must be to be suggested.
    """

    max_retries: int = 3
    min_token_length: int = 3
    min_token_similarity: float = 0.25
    on_tool_found = InARow.end_row

    def handle(self, requested: str, available: Sequence[str]) -> Feedback | Raise:
        if next(self._row) > self.max_retries:
            return Raise(ToolNotFoundError(requested, available))
        names = self._suggest(requested[:MAX_NAME], available)
        return Feedback(_write_message(requested, names, available), tuple(names))

    def _suggest(self, requested: str, available: Sequence[str]) -> list[str]:
        """Return the same name, else those that share words with it, else those spelled alike."""
        own = letters(requested).casefold()
        if equal := [name for name in available if own and letters(name).casefold() == own]:
            return equal
        scored = [(self._likeness(requested, name), name) for name in available]
        alike = [pair for pair in scored if pair[0] >= self.min_token_similarity]
        alike.sort(key=lambda pair: -pair[0])
        if len(alike) > 1 and alike[0][0] >= 2 * alike[1][0]:
            alike = alike[:1]
        if alike:
            return [name for _, name in alike[:MAX_SUGGESTIONS]]
        near = [(difference(requested, name), name) for name in available]
        return [name for apart, name in sorted(near) if apart < OTHER][:MAX_SUGGESTIONS]

    def _likeness(self, one: str, other: str) -> float:
        mine, yours = (
            {word for word in words(name) if len(word) >= self.min_token_length}
            for name in (one, other)
        )
        shared = len(mine & yours) / max(1, len(mine | yours))
        contained = bool(one and other) and (one in other or other in one)
        return min(1.0, shared + CONTAINMENT * contained)


class ImmediateRaise(ToolNotFoundPolicy):
    """Ends the run at the first unknown name."""

    def handle(self, requested: str, available: Sequence[str]) -> Raise:
        return Raise(ToolNotFoundError(requested, available))


def _write_message(requested: str, suggestions: Sequence[str], available: Sequence[str]) -> str:
    parts = [f"There is no tool named {quote(requested, MAX_NAME)}."]
    if suggestions:
        names = (quote(name, MAX_NAME) for name in suggestions[: 2 * MAX_SUGGESTIONS])
        parts.append(f"Did you mean {' or '.join(names)}?")
    if not available:
        return f"{parts[0]} Available tools: none. Answer without a tool."
    parts.append(f"Available tools: {_list_names(available)}.")
    return " ".join([*parts, "Call a tool by its exact name."])


def _list_names(names: Sequence[str]) -> str:
    texts = [quote(name, MAX_NAME) for name in names[:MAX_NAMES]]
    while len(", ".join(texts)) > MAX_LIST:
        texts.pop()
    more = len(names) - len(texts)
    return ", ".join(texts) + (f", and {more} more" if more else "")


MOST_WAIT = 30.0
"""Seconds of the longest wait before a model is asked again."""


@frozen
class Rethrow:
    """Raise the error as it is; this is what happens without a handler."""


@frozen
class RespondWith:
    """Take a value in place of the model's answer.

    Attributes:
        value: A message of LangChain, or the text of one.
    """

    value: Any


@frozen
class RetryModel:
    """Ask the model again, after a wait that doubles each time.

    Attributes:
        max_attempts: Calls in all, the first one included.
        initial_backoff: Seconds before the second one.

    Raises:
        GraphSetupError: If an attempt or a wait is not possible with these numbers.

    """

    max_attempts: int = 3
    initial_backoff: float = 0.5

    def __post_init__(self) -> None:
        if not isinstance(self.max_attempts, int) or self.max_attempts < 1:
            raise GraphSetupError(
                f"`max_attempts` must be an integer of at least 1: {self.max_attempts!r}"
            )
        if not 0 <= self.initial_backoff < float("inf"):
            raise GraphSetupError(f"`initial_backoff` must be at least 0: {self.initial_backoff!r}")

    def wait(self, attempt: int) -> float:
        """Return the seconds behind an attempt, from 1."""
        return float(min(MOST_WAIT, self.initial_backoff * 2 ** min(attempt - 1, 16)))


ModelErrorHandler = Callable[[Exception], Rethrow | RespondWith | RetryModel]
"""Decides about each failure of a model; it may decide otherwise about the next one."""
