"""split-list: makes a list of a text that lists its items."""

from selfcorrect.repairs.primitive import Primitive


class SplitList(Primitive):
    """Split `"a, b"` into `["a", "b"]` at the one separator that it uses."""
