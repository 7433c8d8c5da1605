"""parse-nested: parses a list or an object that was written as text."""

from dataclasses import dataclass
from typing import ClassVar

from selfcorrect.repairs.primitive import Primitive


@dataclass(frozen=True, slots=True)
class ParseNested(Primitive):
    """Parse `"[1, 2]"` as `[1, 2]`; a text that says more than that stays as it is."""

    NAME: ClassVar[str] = "parse-nested"
