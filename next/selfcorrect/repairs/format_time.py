"""format-time: writes a time of day as the schema wants it."""

from dataclasses import dataclass
from typing import ClassVar

from selfcorrect.repairs.primitive import Primitive


@dataclass(frozen=True, slots=True)
class FormatTime(Primitive):
    """Format `9:30 pm` as `21:30:00`; a zone is never invented."""

    NAME: ClassVar[str] = "format-time"
