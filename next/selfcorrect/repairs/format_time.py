"""format-time: writes a time of day as the schema wants it."""

from selfcorrect.repairs.primitive import Primitive


class FormatTime(Primitive):
    """Format `9:30 pm` as `21:30:00`; a zone is never invented."""
