"""What a primitive answers: one way to read a written value."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from selfcorrect.model import JSON, Safety
from selfcorrect.schema.slot import Slot


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a written value.

    Attributes:
        value: What it means in the place.
        safety: `exact` for another spelling of the same thing, `inferred` for one best reading.
        strategy: The name of the strategy that reads so, as ladders and trails call it.
        is_guess: Whether letters decide where meaning should, or a free text is taken apart: no
            tool that acts runs with it.
    """

    value: JSON
    safety: Safety
    strategy: str
    is_guess: bool = False


Reader: TypeAlias = Callable[[JSON, Slot], Iterator[Reading]]
"""A primitive: yields every way in which it can read a value in a place."""
