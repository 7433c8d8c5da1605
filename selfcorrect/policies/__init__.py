"""Policies: who may do what, what is done about failures, and when a run ends."""

from selfcorrect.models.recovery import (
    ModelDecision,
    OnModelError,
    RespondWith,
    Rethrow,
    RetryModel,
)
from selfcorrect.policies.agent_budget import AgentBudget
from selfcorrect.policies.budgets import Checkpoint, Extend, LimitReached, OnLimit, Stop
from selfcorrect.policies.empty_responses import (
    EmptyResponseError,
    EmptyResponsePolicy,
    ExitOnEmpty,
    RetryWithFeedback,
)
from selfcorrect.policies.hooks import Hooks
from selfcorrect.policies.safety import SafetyPolicy
from selfcorrect.policies.source import PolicySource
from selfcorrect.policies.terminal_kinds import ToolErrorPolicy
from selfcorrect.policies.tool_not_found import (
    AutoCorrect,
    Feedback,
    ImmediateRaise,
    Raise,
    ToolNotFoundPolicy,
)

__all__ = [
    "AgentBudget",
    "AutoCorrect",
    "Checkpoint",
    "EmptyResponseError",
    "EmptyResponsePolicy",
    "ExitOnEmpty",
    "Extend",
    "Feedback",
    "Hooks",
    "ImmediateRaise",
    "LimitReached",
    "ModelDecision",
    "OnLimit",
    "OnModelError",
    "PolicySource",
    "Raise",
    "RespondWith",
    "Rethrow",
    "RetryModel",
    "RetryWithFeedback",
    "SafetyPolicy",
    "Stop",
    "ToolErrorPolicy",
    "ToolNotFoundPolicy",
]
