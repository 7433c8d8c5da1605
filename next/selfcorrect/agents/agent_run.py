"""What lasts as long as one run of an agent: its id, its tools, the counters of its policies."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from langchain_core.messages import ToolCall
from langchain_core.tools import BaseTool

from selfcorrect.agents.budget import Account
from selfcorrect.agents.ending import Objection
from selfcorrect.policies.empty_answers import EmptyAnswerPolicy
from selfcorrect.policies.unknown_tools import ToolNotFoundPolicy

RUN = "selfcorrect_run"


@dataclass
class AgentRun:
    """One run of an agent; it lives in memory only.

    Attributes:
        not_found: The policy of this run for names that no tool has.
        empty: The policy of this run for blank turns; without one, the model is asked once.
        account: What the run costs; without a budget it has no bounds.
        id: The scope of the ledger, where the agent has no thread.
        begins: The id of the last message before its first turn.
        offered: The tools that the model was offered last.
        structured: The names of the tools of which one must be called for the answer.
        objections: The reasons for which the model was asked again.
    """

    not_found: ToolNotFoundPolicy
    empty: EmptyAnswerPolicy | None
    account: Account = field(default_factory=Account)
    id: str = field(default_factory=lambda: uuid4().hex)
    begins: str | None = None
    offered: tuple[BaseTool, ...] = ()
    structured: tuple[str, ...] = ()
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
        """Return the policy's words by call id, for the calls whose names mean no tool.

        Several misses of one message count once, and none where another name is found.

        Raises:
            Exception: If the policy says so.
        """
        if not calls or not (names := self.names):
            return {}
        misses = [call for call in calls if call["name"] not in names]
        counting = self.not_found
        if len(misses) < len(calls):
            self.not_found.on_tool_found()
            counting = self.not_found.fresh()
        words: dict[str, str] = {}
        for call in misses:
            decision: Any = counting.handle(call["name"], names)
            if (error := getattr(decision, "error", None)) is not None:
                raise error
            words[call["id"] or ""] = decision.message
            counting = self.not_found.fresh()
        return words
