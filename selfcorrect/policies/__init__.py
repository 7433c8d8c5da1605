"""Policies: who may do what, what is done about failures, and when a run ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfcorrect.lazily import lazily

if TYPE_CHECKING:
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

_HOMES = {
    "AgentBudget": "selfcorrect.policies.agent_budget",
    "AutoCorrect": "selfcorrect.policies.tool_not_found",
    "Checkpoint": "selfcorrect.policies.budgets",
    "EmptyResponseError": "selfcorrect.policies.empty_responses",
    "EmptyResponsePolicy": "selfcorrect.policies.empty_responses",
    "ExitOnEmpty": "selfcorrect.policies.empty_responses",
    "Extend": "selfcorrect.policies.budgets",
    "Feedback": "selfcorrect.policies.tool_not_found",
    "Hooks": "selfcorrect.policies.hooks",
    "ImmediateRaise": "selfcorrect.policies.tool_not_found",
    "LimitReached": "selfcorrect.policies.budgets",
    "ModelDecision": "selfcorrect.models.recovery",
    "OnLimit": "selfcorrect.policies.budgets",
    "OnModelError": "selfcorrect.models.recovery",
    "PolicySource": "selfcorrect.policies.source",
    "Raise": "selfcorrect.policies.tool_not_found",
    "RespondWith": "selfcorrect.models.recovery",
    "Rethrow": "selfcorrect.models.recovery",
    "RetryModel": "selfcorrect.models.recovery",
    "RetryWithFeedback": "selfcorrect.policies.empty_responses",
    "SafetyPolicy": "selfcorrect.policies.safety",
    "Stop": "selfcorrect.policies.budgets",
    "ToolErrorPolicy": "selfcorrect.policies.terminal_kinds",
    "ToolNotFoundPolicy": "selfcorrect.policies.tool_not_found",
}

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

__getattr__ = lazily(__name__, _HOMES)
