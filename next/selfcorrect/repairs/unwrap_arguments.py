"""unwrap-arguments: takes off an object that stands around all arguments."""

from typing import ClassVar

from selfcorrect.repairs.primitive import Primitive


class UnwrapArguments(Primitive):
    """Unwrap `{"arguments": {...}}`, and a lone key that is the JSON text of the arguments."""

    KEYS: ClassVar[slice] = slice(0)  # all arguments, wherever the error points
