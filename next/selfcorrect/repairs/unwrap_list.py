"""unwrap-list: takes the only item of a list."""

from dataclasses import dataclass
from typing import ClassVar

from selfcorrect.repairs.primitive import Primitive


@dataclass(frozen=True, slots=True)
class UnwrapList(Primitive):
    """Unwrap `[5]` as 5 where one value fits; never a list of two."""

    NAME: ClassVar[str] = "unwrap-list"
