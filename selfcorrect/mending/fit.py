"""The whole search: the cheapest edits after which all arguments fit, or why there are none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from selfcorrect.mending.choice import Edge, Priced, valued
from selfcorrect.mending.cost import OFF, PRICES
from selfcorrect.mending.edges.boolean import boolean
from selfcorrect.mending.edges.date import Date
from selfcorrect.mending.edges.encoded import encoded
from selfcorrect.mending.edges.extra import Extra
from selfcorrect.mending.edges.format import normal_form
from selfcorrect.mending.edges.key import renamed
from selfcorrect.mending.edges.level import opened
from selfcorrect.mending.edges.list import one_item, only_item, several
from selfcorrect.mending.edges.member import Member
from selfcorrect.mending.edges.null import nothing
from selfcorrect.mending.edges.number import Number
from selfcorrect.mending.edges.text import kept_text, text
from selfcorrect.mending.edges.time import Time
from selfcorrect.mending.edges.wrapped import bare_items, value_wrapper
from selfcorrect.mending.place import is_of_keys, levels_of, moved
from selfcorrect.model import ABSENT, Call, Change, Finding, GiveUp, JsonObject
from selfcorrect.pointer import apply
from selfcorrect.protocols import RepairContext, Tool
from selfcorrect.schema.places import Place, place_of
from selfcorrect.text import Unclear

EDGES: Final[Mapping[str, tuple[Edge, ...]]] = {
    "convert-type": (nothing, kept_text, Number(), boolean, text, only_item, one_item),
    "correct-enum": (Member(),),
    "parse-nested": (encoded,),
    "split-list": (several,),
    "correct-format": (normal_form,),
    "format-date": (Date(),),
    "format-time": (Time(),),
    "unwrap-arguments": (value_wrapper, bare_items),
}
"""The edges between values that are built in, by the name that maps know them by."""
NEAR: Final[Mapping[str, float]] = {**PRICES, "extra": OFF}
"""The usual prices, but that nothing is left out which says something."""
_MOST_PASSES: Final = 16


def fit(
    args: JsonObject,
    tool: Tool,
    edges: Mapping[str, Sequence[Edge]] = EDGES,
    costs: Mapping[str, float] = NEAR,
) -> tuple[Change, ...] | Unclear:
    """The changes after which arguments fit a tool; all that is needed, or none.

    First every value gets to its place (keys and levels), then every place gets the cheapest value
    that fits. A tie, a contested value, and content that would be lost are refused.

    Args:
        args: The arguments.
        tool: The tool.
        edges: The edges between values, by the name that changes carry.
        costs: The price of each kind of edit.

    >>> from selfcorrect.tools import ToolSpec
    >>> city = {"properties": {"city": {"type": "string"}, "nights": {"type": "integer"}}}
    >>> tool = ToolSpec.from_schema({"name": "book", "parameters": city})
    >>> [change.strategy for change in fit({"arguments": {"city": "Oslo", "nights": "2"}}, tool)]
    ['unwrap-arguments', 'convert-type']
    >>> str(fit({"city": "Oslo", "nights": "a few"}, tool))
    'it is not a number in a form that has one meaning'
    """
    priced = [Priced(one, costs, name) for name, several in edges.items() for one in several]
    ways = (
        ("unwrap-arguments", partial(opened, prices=costs)),
        ("rename-argument", partial(renamed, prices=costs, synonyms={})),
    )
    call, made = Call(tool.name, args), list[Change]()
    for _ in range(_MOST_PASSES):
        if tool.is_valid(call.args):
            return tuple(made)
        places = _places(call, tool)
        levels = levels_of(filter(is_of_keys, places))
        step: tuple[Change, ...] | Unclear = moved(call, tool, levels, ways)
        if isinstance(step, Unclear):
            step = _valued(places, priced, [Priced(Extra(), costs, "drop-extra")])
        if isinstance(step, Unclear):
            return step
        made += step
        call = apply(call, step)
    return Unclear("it would take more edits than are looked for")


def _valued(
    places: Iterable[Place], edges: Sequence[Priced], extra: Sequence[Priced]
) -> tuple[Change, ...] | Unclear:
    """The cheapest value for every place where a wrong one stands and one is found."""
    changes = dict[str, Change]()
    why = Unclear("nothing is wrong at a place that is known")
    for place in places:
        if place.value is ABSENT:
            why = Unclear(f"nothing says what {place.key} is")
            continue
        found = valued(place, edges if place.declared else extra)
        if isinstance(found, Unclear):
            why = found
        else:
            changes.setdefault(found[0].path, found[0])
    return tuple(one for path, one in changes.items() if not _is_covered(path, changes)) or why


def _is_covered(path: str, changes: Mapping[str, Change]) -> bool:
    return any(path.startswith(other + "/") for other in changes)


def _places(call: Call, tool: Tool) -> list[Place]:
    """The places where something is wrong."""
    context = RepairContext(tool=tool)
    findings: Sequence[Finding] = tool.violations(call.args)
    places = [place_of(call, finding, context) for finding in findings]
    return [place for place in places if not isinstance(place, GiveUp)]
