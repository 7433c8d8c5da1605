"""unwrap-list: takes the only item of a list."""

from selfcorrect.repairs.primitive import Primitive


class UnwrapList(Primitive):
    """Unwrap `[5]` as 5 where one value fits; never a list of two."""
