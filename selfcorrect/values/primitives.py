"""The strategies that share one pass over arguments, as `primitives.toml` lists them."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from selfcorrect.values.reading import Primitive

_ROWS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
PRIMITIVES: Mapping[str, Primitive] = {name: Primitive(name, **row) for name, row in _ROWS.items()}
"""What each of them does, by name."""
EVERY = tuple(PRIMITIVES.values())
