"""The two tools that every agent may be given by name: `escalate` and `throw_exception`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from selfcorrect.errors import Escalation, HardFailure


def escalate(reason: str, severity: str | None = None) -> str:
    """Ask for help from above, where the problem can be solved by whoever made the call.

    Args:
        reason: What is wrong, and what would be right as far as you know.
        severity: LOW, MEDIUM, HIGH or CRITICAL.
    """
    raise Escalation(reason, severity or "HIGH")


def throw_exception(reason: str) -> str:
    """Give up for good, where nothing can help.

    Args:
        reason: Why nothing can help.
    """
    raise HardFailure(reason)


BUILT_IN: Final[Mapping[str, Any]] = MappingProxyType(
    {"escalate": escalate, "throw_exception": throw_exception}
)
"""Inactive unless listed: `build_graph([my_tool, "escalate"])`, or as tools of a fixer's model."""
