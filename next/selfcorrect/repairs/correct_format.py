"""correct-format: writes a text in its format or pattern."""

from selfcorrect.repairs.primitive import Primitive


class CorrectFormat(Primitive):
    """Trim a text, or change its case, so that its format or pattern fits."""
