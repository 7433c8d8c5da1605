"""What lasts as long as one run of an agent: its id, its tools, the counters of its policies."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, Self
from uuid import uuid4

from langchain_core.messages import ToolCall
from langchain_core.tools import BaseTool

from selfcorrect.agents.ending import Objection
from selfcorrect.likeness import only_near

RUN: Final = "selfcorrect_run"
_FEEDBACK = "Your last answer was empty. Answer the user, or call a tool."


class NotFoundPolicy(Protocol):
    """Says what the model reads when it names a tool that does not exist, or what is raised."""

    def fresh(self) -> Self:
        """Return the policy of one run."""
        ...

    def handle(self, requested: str, available: Sequence[str]) -> Any:
        """Return `Feedback(message, suggestions)` or `Raise(error)`."""
        ...

    def on_tool_found(self) -> None:
        """Take note that a name was found."""


class EmptyPolicy(Protocol):
    """Says what the model reads when its turn was blank."""

    def fresh(self) -> Self:
        """Return the policy of one run."""
        ...

    def handle(self) -> str | None:
        """Return the text for the model; None leaves the blank turn."""
        ...

    def on_answer(self) -> None:
        """Take note that a turn was not blank."""


@dataclass
class AskOnce:
    """Asks once more; a second blank turn in a row is left to the middleware."""

    blanks: int = 0

    def fresh(self) -> "AskOnce":
        return AskOnce()

    def handle(self) -> str | None:
        self.blanks += 1
        return _FEEDBACK if self.blanks == 1 else None

    def on_answer(self) -> None:
        self.blanks = 0


@dataclass
class AgentRun:
    """One run of an agent; it lives in memory only.

    Attributes:
        not_found: The policy of this run for names that no tool has, or None.
        empty: The policy of this run for blank turns.
        id: The scope of the ledger, where the agent has no thread.
        offered: The tools that the model was offered last.
        structured: The names of the tools of which one must be called for the answer.
        has_answer: Whether the last turn gave the structured answer.
        made: The calls that succeeded otherwise than the model wrote them, by call id.
        objections: The reasons for which the model was asked again.
    """

    not_found: NotFoundPolicy | None
    empty: EmptyPolicy
    id: str = field(default_factory=lambda: uuid4().hex)
    offered: tuple[BaseTool, ...] = ()
    structured: tuple[str, ...] = ()
    has_answer: bool = False
    made: dict[str, ToolCall] = field(default_factory=dict)
    objections: set[str] = field(default_factory=set)

    @property
    def names(self) -> list[str]:
        """The names that the model may call."""
        return [*(each.name for each in self.offered), *self.structured]

    def may_ask(self, objection: Objection) -> bool:
        """Say whether the model is asked again; for each reason it is once in a run."""
        is_new = objection.reason not in self.objections
        self.objections.add(objection.reason)
        return is_new

    def words_for(self, calls: Sequence[ToolCall]) -> dict[str, str]:
        """Return the policy's words by call id, for the names that no tool has or is near to.

        Several misses of one message count once, and none where another name is found.

        Raises:
            Exception: If the policy says so.
        """
        if self.not_found is None or not calls or not (names := self.names):
            return {}
        misses = [call for call in calls if not _resolves(call["name"], names)]
        counting = self.not_found
        if len(misses) < len(calls):
            self.not_found.on_tool_found()
            counting = self.not_found.fresh()
        words: dict[str, str] = {}
        for call in misses:
            decision = counting.handle(call["name"], names)
            if (error := getattr(decision, "error", None)) is not None:
                raise error
            words[call["id"] or ""] = decision.message
            counting = self.not_found.fresh()
        return words


def _resolves(name: str, names: Sequence[str]) -> bool:
    return name in names or only_near(name, names) is not None
