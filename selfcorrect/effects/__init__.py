"""What calling a tool does to the world, what one execution did, and what may run again."""

from selfcorrect.effects.effect import Effect
from selfcorrect.effects.outcome import Outcome

__all__ = ["Effect", "Outcome"]
