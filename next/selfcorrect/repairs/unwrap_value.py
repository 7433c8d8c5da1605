"""unwrap-value: takes the value that an object holds."""

from dataclasses import dataclass
from typing import ClassVar

from selfcorrect.repairs.primitive import Primitive


@dataclass(frozen=True, slots=True)
class UnwrapValue(Primitive):
    """Unwrap `{"value": 5}` and `{"type": "number", "value": 5}` as 5."""

    NAME: ClassVar[str] = "unwrap-value"
