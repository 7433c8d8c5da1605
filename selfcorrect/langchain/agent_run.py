"""What lasts as long as one run of an agent: its id, its tools, its policies, and what it costs."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any
from uuid import uuid4

from langchain_core.messages import ToolCall

from selfcorrect.langchain.budget import Account
from selfcorrect.langchain.ending import Objection
from selfcorrect.policies.agent import EmptyAnswerPolicy, ToolNotFoundPolicy

RUN = "selfcorrect_run"
"""The key of the agent's state that holds its run."""


@dataclass
class AgentRun:
    """One run of an agent; it lives in memory only.

    Attributes:
        not_found: The policy of this run for names that no tool has.
        empty: The policy of this run for blank turns; without one, the model is asked once.
        begins: The id of the last message before its first turn.
        account: What the run costs; without a budget it has no bounds.
        id: The scope of the ledger, where the agent has no thread.
        structured: The names of the tools of which one must be called for the answer.
        names: The names that the model may call, as it was offered them last.
        objections: The reasons for which the model was asked again.
    """

    not_found: ToolNotFoundPolicy
    empty: EmptyAnswerPolicy | None
    begins: str | None
    _: KW_ONLY
    account: Account = field(default_factory=Account)
    id: str = field(default_factory=lambda: uuid4().hex)
    structured: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    objections: set[str] = field(default_factory=set)

    def object_once(self, objection: Objection | None) -> str | None:
        """Return what the model reads of an objection; None where the run has had its reason."""
        if objection is None or objection.reason in self.objections:
            return None
        self.objections.add(objection.reason)
        return objection.text

    def words_for(self, calls: Sequence[ToolCall]) -> dict[str | None, str]:
        """Return the policy's words by call id, for the calls whose names mean no tool.

        Several misses of one message count once, and none where another name means a tool.

        Raises:
            Exception: If the policy says so.
        """
        if not self.names:
            return {}
        misses = [call for call in calls if call["name"] not in self.names]
        has_hit = len(misses) < len(calls)
        if has_hit:
            self.not_found.on_tool_found()
        words: dict[str | None, str] = {}
        for at, call in enumerate(misses):
            policy = self.not_found.fresh() if has_hit or at else self.not_found
            decision: Any = policy.handle(call["name"], self.names)
            if (error := getattr(decision, "error", None)) is not None:
                raise error
            words[call["id"]] = decision.message
        return words
