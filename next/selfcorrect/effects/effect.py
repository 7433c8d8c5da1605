"""What calling a tool does to the world, as its author or a deployment declares it."""

from typing import Final, Literal, TypeAlias

Effect: TypeAlias = Literal["read_only", "idempotent", "mutating", "destructive"]
EFFECTS: Final[tuple[Effect, ...]] = ("read_only", "idempotent", "mutating", "destructive")
UNDECLARED: Final[Effect] = "mutating"
"""A tool without a declared effect counts as one that acts."""
HARMLESS: Final[frozenset[str]] = frozenset({"read_only", "idempotent"})
"""Effects of tools of which one call more than meant changes nothing."""


def acts(effect: str) -> bool:
    """Say whether one call more than meant would change something."""
    return effect not in HARMLESS
