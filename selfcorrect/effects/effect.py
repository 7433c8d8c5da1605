"""What calling a tool does to the world, as its author or a deployment declares it."""

from typing import Literal, TypeAlias

Effect: TypeAlias = Literal["read_only", "idempotent", "mutating", "destructive"]
EFFECTS: tuple[Effect, ...] = ("read_only", "idempotent", "mutating", "destructive")
UNDECLARED: Effect = "mutating"
"""A tool without a declared effect counts as one that acts."""
HARMLESS: frozenset[str] = frozenset({"read_only", "idempotent"})
"""Effects of tools of which one call more than meant changes nothing."""


def acts(effect: str) -> bool:
    """Say whether one call more than meant would change something."""
    return effect not in HARMLESS
