"""Why a map decided what it decided, as data."""

from __future__ import annotations

from dataclasses import dataclass

from selfcorrect.model import Finding


@dataclass(frozen=True, slots=True)
class Missed:
    """A rule that was tried before the winner, and the first of its conditions that failed."""

    rule: str
    condition: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a map decided what it decided.

    Attributes:
        finding: The finding as it was decided; its `rule` won, or is None.
        matches: Every rule whose conditions hold, the winner first.
        missed: The rules that were tried before the winner.
    """

    finding: Finding
    matches: tuple[str, ...]
    missed: tuple[Missed, ...]
