"""parse-nested: parses a list or an object that was written as text."""

from selfcorrect.repairs.primitive import Primitive


class ParseNested(Primitive):
    """Parse `"[1, 2]"` as `[1, 2]`; a text that says more than that stays as it is."""
