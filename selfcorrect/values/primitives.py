"""One way to read a written value, and the strategies that share one pass over arguments."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from selfcorrect.lazy import load_table
from selfcorrect.model import JSON, JsonObject, Safety, frozen
from selfcorrect.schema.place import Place


@frozen
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


Reader: TypeAlias = Callable[[JSON, Place], Iterator[Reading]]
"""A primitive: yields every way in which it can read a value in a place."""


@frozen
class Primitive:
    """A strategy of the pass over arguments.

    Attributes:
        name: How ladders and trails call it.
        summary: What it does, for a list of strategies.
        reason: What is said of its changes.
        is_shape: Whether it reads the shape of a value; what is inside may need repair itself.
        option: The option in which a map gives it words to look up.
        levels: How many keys lead from the arguments to what it works on, as an end of a slice;
            left out, all.
    """

    name: str
    summary: str
    reason: str = ""
    is_shape: bool = False
    option: str = ""
    levels: int | None = None


PRIMITIVES: Mapping[str, Primitive] = {
    name: Primitive(name, **row) for name, row in load_table("values/primitives.toml").items()
}
"""What each of them does, by name."""
EVERY: Mapping[str, JsonObject] = {name: {} for name in PRIMITIVES}
"""The names of all, each without words to look up."""
