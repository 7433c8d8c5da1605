"""convert-type: writes a value in the type that the schema wants."""

from selfcorrect.repairs.primitive import Primitive


class ConvertType(Primitive):
    """Convert `"5"` to 5, `"yes"` to true, `"five"` to 5, and 5 to `"5"`; nothing is rounded."""
