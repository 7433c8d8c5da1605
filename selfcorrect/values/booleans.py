"""Words for true and false."""

from collections.abc import Iterator

from selfcorrect.model import JSON, Safety
from selfcorrect.schema.place import Place
from selfcorrect.values.primitives import Reading
from selfcorrect.values.texts import unquote


def read_boolean(value: JSON, _place: Place) -> Iterator[Reading]:
    """Read "true" and "false", and less surely "yes", "no", 1 and 0.

    Nobody knows what "off" turns off: the argument, or what the argument turns off.
    """
    if not isinstance(value, str | int):
        return
    word = unquote(str(value)).lower()
    if word in _SAME:
        yield Reading(_SAME[word], Safety.EXACT, "convert-type")
    elif word in _ALIKE:
        yield Reading(_ALIKE[word], Safety.INFERRED, "convert-type")


_SAME = {"true": True, "false": False}
_ALIKE = {"yes": True, "1": True, "no": False, "0": False}
