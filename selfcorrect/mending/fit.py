"""The whole search: the cheapest edits after which all arguments fit, or why there are none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from selfcorrect.mending.choice import Choice, Edge, Priced, choose
from selfcorrect.mending.cost import OFF, PRICES
from selfcorrect.mending.edges.boolean import boolean
from selfcorrect.mending.edges.date import Date
from selfcorrect.mending.edges.encoded import encoded
from selfcorrect.mending.edges.extra import Extra
from selfcorrect.mending.edges.format import normal_form
from selfcorrect.mending.edges.key import renames, together
from selfcorrect.mending.edges.level import deeper, higher, unwrapped
from selfcorrect.mending.edges.list import one_item, only_item, several
from selfcorrect.mending.edges.member import Member
from selfcorrect.mending.edges.null import nothing
from selfcorrect.mending.edges.number import Number
from selfcorrect.mending.edges.text import kept_text, text
from selfcorrect.mending.edges.time import Time
from selfcorrect.mending.edges.wrapped import bare_items, inner_list, value_wrapper
from selfcorrect.mending.place import level_at
from selfcorrect.model import ABSENT, Call, Change, Finding, GiveUp, JsonObject
from selfcorrect.pointer import apply
from selfcorrect.protocols import RepairContext, Tool
from selfcorrect.schema.places import Place, around, parent, place_of
from selfcorrect.text import Unclear

EDGES: Final[Mapping[str, tuple[Edge, ...]]] = {
    "convert-type": (nothing, kept_text, Number(), boolean, text, only_item, one_item),
    "correct-enum": (Member(),),
    "parse-nested": (encoded,),
    "split-list": (several,),
    "correct-format": (normal_form,),
    "format-date": (Date(),),
    "format-time": (Time(),),
    "unwrap-arguments": (value_wrapper, bare_items, inner_list),
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
    call, made = Call(tool.name, args), list[Change]()
    for _ in range(_MOST_PASSES):
        if tool.is_valid(call.args):
            return tuple(made)
        step = _moved(call, tool, costs) or _valued(call, tool, priced, costs)
        if isinstance(step, Unclear):
            return step
        made += step
        call = apply(call, step)
    return Unclear("it would take more edits than are looked for")


def _moved(call: Call, tool: Tool, costs: Mapping[str, float]) -> list[Change]:
    """What brings a value to its place; nothing where every value is at its own."""
    if costs["wrapper"] < OFF and (whole := unwrapped(call, tool)) is not None:
        return [replace(whole, strategy="unwrap-arguments")]
    asked = dict[str, list[str]]()
    for place in _places(call, tool):
        if not place.declared or place.value is ABSENT:
            asked.setdefault(parent(place.path), []).append(place.key)
    renamed = []
    for path, keys in asked.items():
        if (level := level_at(call, tool, path)) is None:
            continue
        for key in keys:
            moved = deeper(level, key, costs)
            moved = moved or (higher(level, key) if costs["higher"] < OFF else None)
            if moved:
                return [replace(change, strategy="unwrap-arguments") for change in moved]
        moves = renames(level, set(keys), {}, costs)
        renamed += [] if isinstance(moves, Unclear) else [(level, moves)]
    found = together(renamed) if renamed else []
    found = [] if isinstance(found, Unclear) else found
    return [replace(change, strategy="rename-argument") for change in found]


def _valued(
    call: Call, tool: Tool, edges: Iterable[Priced], costs: Mapping[str, float]
) -> list[Change] | Unclear:
    """The cheapest value for every place where a wrong one stands and one is found."""
    extra = [Priced(Extra(), costs, "drop-extra")]
    changes = dict[str, Change]()
    why = Unclear("nothing is wrong at a place that is known")
    for place in _places(call, tool):
        if place.value is ABSENT:
            why = Unclear(f"nothing says what {place.key} is")
            continue
        for here in around(place) if place.declared else [place]:
            found = choose(here, edges if here.declared else extra)
            if isinstance(found, Choice):
                one = found.fit
                (change,) = here.put(one.value, one.safety, one.reason).changes
                changes.setdefault(here.path, replace(change, strategy=found.strategy))
                break
            why = found if here is place else why
    return [one for path, one in changes.items() if not _is_covered(path, changes)] or why


def _is_covered(path: str, changes: Mapping[str, Change]) -> bool:
    return any(path.startswith(other + "/") for other in changes)


def _places(call: Call, tool: Tool) -> list[Place]:
    """The places where something is wrong."""
    context = RepairContext(tool=tool)
    findings: Sequence[Finding] = tool.violations(call.args)
    places = [place_of(call, finding, context) for finding in findings]
    return [place for place in places if not isinstance(place, GiveUp)]
