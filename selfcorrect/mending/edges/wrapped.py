"""A value in a wrapper of its own, and items in one each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from selfcorrect.kernel.wrappers import value_in
from selfcorrect.mending.choice import Fit, candidate
from selfcorrect.model import JSON
from selfcorrect.pointer import split
from selfcorrect.schema.places import Place
from selfcorrect.schema.slots import slots_of

_DEEPEST: Final = 4


def value_wrapper(value: JSON, want: Place) -> Iterator[Fit]:
    """The value without the wrapper around it alone: `{"type": "string", "value": "Oslo"}`."""
    inner: Any = value
    slot = slots_of(want.tool.schema)(tuple(split(want.path)[1:]))
    if want.key.isdigit():
        slot = replace(slot, name="")  # what names the items stands around all of them
    for _ in range(_DEEPEST):
        if not isinstance(inner, Mapping):
            return
        inner = value_in(inner, slot)
        if inner is None:
            return
        if want.fits(inner) or isinstance(inner, str):
            reason = "a value inside a wrapper"
            yield candidate(inner, "value-wrapper", reason, opens=True)
            return


def bare_items(value: JSON, want: Place) -> Iterator[Fit]:
    """The items of a list without the object around each: `[{"tag": "new"}, {"tag": "old"}]`."""
    if not isinstance(value, list) or not value or not _is_lone(value[0]):
        return
    slot = slots_of(want.tool.schema)((*split(want.path)[1:], "0"))
    # The first tells of most lists that they are none such: each of a thousand faults asks anew.
    if value_in(value[0], slot) is None or not all(map(_is_lone, value)):
        return
    bare = [value_in(item, slot) for item in value]
    if None not in bare and len({key for item in value for key in item}) == 1:
        reason = "items inside an object of one key each"
        yield candidate(bare, "value-wrapper", reason, opens=True)


def _is_lone(item: JSON) -> bool:
    """Whether this is an object that holds one value, and no other structure."""
    if not isinstance(item, Mapping) or len(item) != 1:
        return False
    return not any(value is None or isinstance(value, Mapping | list) for value in item.values())
