"""wrap-list: makes a list of one value."""

from selfcorrect.repairs.primitive import Primitive


class WrapList(Primitive):
    """Wrap `"a"` as `["a"]` where only a list fits."""
