"""What calling a tool does to the world, what one execution did, and what may run again."""

from selfcorrect.effects.outcome import Outcome
from selfcorrect.model import Effect

__all__ = ["Effect", "Outcome"]
