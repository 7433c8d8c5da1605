"""unwrap-value: takes the value that an object holds."""

from selfcorrect.repairs.primitive import Primitive


class UnwrapValue(Primitive):
    """Unwrap `{"value": 5}` and `{"type": "number", "value": 5}` as 5."""
