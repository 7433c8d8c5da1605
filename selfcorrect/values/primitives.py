"""The strategies that share one pass over arguments, as `primitives.toml` lists them."""

from collections.abc import Mapping

from selfcorrect.lazy import load_table
from selfcorrect.values.reading import Primitive

PRIMITIVES: Mapping[str, Primitive] = {
    name: Primitive(name, **row) for name, row in load_table("values/primitives.toml").items()
}
"""What each of them does, by name."""
EVERY = tuple(PRIMITIVES.values())
