"""split-list: makes a list of a text that lists its items."""

from dataclasses import dataclass
from typing import ClassVar

from selfcorrect.repairs.primitive import Primitive


@dataclass(frozen=True, slots=True)
class SplitList(Primitive):
    """Split `"a, b"` into `["a", "b"]` at the one separator that it uses."""

    NAME: ClassVar[str] = "split-list"
