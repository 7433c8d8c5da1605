"""drop-null: leaves out null for an argument that may be absent."""

from typing import ClassVar

from selfcorrect.repairs.primitive import Primitive


class DropNull(Primitive):
    """Drop null where the argument may be absent; an empty text too, on tools that only read."""

    KEYS: ClassVar[slice] = slice(-1)  # the object around the place
