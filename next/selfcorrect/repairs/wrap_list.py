"""wrap-list: makes a list of one value."""

from dataclasses import dataclass
from typing import ClassVar

from selfcorrect.repairs.primitive import Primitive


@dataclass(frozen=True, slots=True)
class WrapList(Primitive):
    """Wrap `"a"` as `["a"]` where only a list fits."""

    NAME: ClassVar[str] = "wrap-list"
