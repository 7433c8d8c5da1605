"""convert-type: writes a value in the type that the schema wants."""

from dataclasses import dataclass
from typing import ClassVar

from selfcorrect.repairs.primitive import Primitive


@dataclass(frozen=True, slots=True)
class ConvertType(Primitive):
    """Convert `"5"` to 5, `"yes"` to true, `"five"` to 5, and 5 to `"5"`; nothing is rounded."""

    NAME: ClassVar[str] = "convert-type"
