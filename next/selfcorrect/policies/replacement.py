"""Whether a model put another value in the place of a written one."""

from collections.abc import Mapping

from selfcorrect.model import ABSENT, JSON, Change
from selfcorrect.names import same_words
from selfcorrect.pointer import keys_of
from selfcorrect.schema.slot import Slot
from selfcorrect.values.nothing import is_empty
from selfcorrect.values.primitives import EVERY
from selfcorrect.values.readings import Allow, readings

_ANY = Allow(EVERY, acts=False)
"""What a written value may mean at all: a model may choose, where a rule may not guess."""


def replaces(change: Change, args: Slot) -> bool:
    """Say whether a change puts another value in the place of a written one.

    To fill in what is missing, and to choose among the readings of what was written, is neither.

    Args:
        change: A change that a model made.
        args: The place of the tool's arguments.
    """
    keys = keys_of(change.path)
    if change.path == "/name" or not (keys or isinstance(change.before, Mapping)):
        # A text that nothing could read has no value that could be replaced.
        return False
    return _is_other(change.before, change.after, args.at(keys))


def _is_other(before: JSON, after: JSON, place: Slot) -> bool:
    if before is ABSENT or is_empty(before):
        return False
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return any(
            _is_other(item, after.get(key, ABSENT), place.at([key])) for key, item in before.items()
        )
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = zip(before, after, strict=True)
        return any(_is_other(*pair, place.at([str(at)])) for at, pair in enumerate(pairs))
    is_text = isinstance(before, str) and isinstance(after, str)
    if is_text and same_words(str(before), str(after), strict=True):
        return False
    ways = [before, *(each.value for each in readings(before, place, _ANY))]
    return not any(each == after and type(each) is type(after) for each in ways)
