"""correct-format: writes a text in its format or pattern."""

from dataclasses import dataclass
from typing import ClassVar

from selfcorrect.repairs.primitive import Primitive


@dataclass(frozen=True, slots=True)
class CorrectFormat(Primitive):
    """Trim a text, or change its case, so that its format or pattern fits."""

    NAME: ClassVar[str] = "correct-format"
