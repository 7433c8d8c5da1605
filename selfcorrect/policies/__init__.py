"""Policies: who may do what, and when a run ends."""

from selfcorrect.policies.safety import SafetyPolicy
from selfcorrect.policies.source import PolicySource
from selfcorrect.policies.terminal_kinds import ToolErrorPolicy

__all__ = ["PolicySource", "SafetyPolicy", "ToolErrorPolicy"]
