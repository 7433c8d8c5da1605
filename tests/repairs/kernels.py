"""What the kernel says of a strategy's change."""

from __future__ import annotations

from selfcorrect.model import Safety


def is_refused(strategy, change):
    """Whether the kernel calls a change lossy of which the strategy itself says no such thing."""
    return change.safety is Safety.LOSSY and Safety.LOSSY not in strategy.safety
