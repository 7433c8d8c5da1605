"""drop-null: leaves out null for an argument that may be absent."""

from dataclasses import dataclass
from typing import ClassVar

from selfcorrect.repairs.primitive import Primitive


@dataclass(frozen=True, slots=True)
class DropNull(Primitive):
    """Drop null where the argument may be absent; an empty text too, on tools that only read."""

    NAME: ClassVar[str] = "drop-null"
    OF_OBJECT: ClassVar[bool] = True
