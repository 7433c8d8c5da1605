"""drop-extra: an argument that the tool does not know is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from selfcorrect.model import ABSENT, JSON, Call, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.protocols import RepairContext
from selfcorrect.redaction import quoted
from selfcorrect.schema.keys import is_spelled, resembles
from selfcorrect.schema.nested import names_below
from selfcorrect.schema.places import Place, object_at, parent, place_of
from selfcorrect.schema.subschema import same
from selfcorrect.text import LONGEST, normal, tokens
from selfcorrect.values.asked import is_asked

_ARGS: Final = "/args"
_THOUGHTS: Final = frozenset(
    {"explanation", "justification", "rationale", "reasoning", "reflection", "thinking", "thought"}
    | {"thoughts"}
)
"""Keys under which a model tells what it thought, in the words of the request."""
_REMARKS: Final = frozenset({"analysis", "comment"})
"""Keys under which it may do so, unless what stands there was dictated."""
_USERS: Final = frozenset({"human", "user"})


@dataclass(frozen=True, slots=True)
class DropExtra:
    """Leaves out an argument that the tool does not know and that resembles none it knows.

    Inferred on read_only tools if nothing of it stands in the request, lossy elsewhere, and inside
    an object, which may be sent on as it is. Exact only where nothing is said: nothing under an
    unknown key, or the same value once more under another spelling; inferred where a word for
    nothing is (`"unknown"`, `"??"`). An argument that may be a misspelt one, or belong into an
    object, is never dropped.

    Attributes:
        keep: Names that are never dropped, so that a later rung deals with them.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"city": {}, "return_date": {}}}
    >>> change = try_strategy(DropExtra(), schema, {"verbose": 1}, effect="read_only").changes[0]
    >>> change.path, change.safety.value
    ('/args/verbose', 'inferred')
    >>> try_strategy(DropExtra(), schema, {"retrun_date": "x"})
    GiveUp(reason='it may stand for "return_date"')
    """

    name: ClassVar[str] = "drop-extra"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.EXACT, Safety.INFERRED, Safety.LOSSY)
    needs: ClassVar[str] = "nothing"

    keep: tuple[str, ...] = ()

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Drop the argument at the first finding."""
        place = place_of(call, diagnosis.finding, context)
        if isinstance(place, GiveUp):
            return place
        around = object_at(call, place.tool, parent(place.path))
        if place.value is ABSENT or around is None:
            return GiveUp("there is nothing to drop")
        given, _, names = around
        if place.key in names:
            return GiveUp("the schema knows this argument")
        if place.key in self.keep:
            return GiveUp("the map keeps this argument")
        return _dropped(place, given, names, context)


def _dropped(
    place: Place, given: Mapping[str, JSON], names: Mapping[str, JSON], context: RepairContext
) -> Repair:
    twin = next((name for name in names if name in given and is_spelled(place.key, name)), None)
    if twin is not None:
        if same(given[twin], place.value):
            return place.mend(ABSENT, Safety.EXACT, "the same value under another spelling")
        return GiveUp(f"it contradicts {quoted(twin, 60)}")
    if (near := resembles(place.key, [name for name in names if name not in given])) is not None:
        return GiveUp(f"it may stand for {quoted(near, 60)}")
    if place.value is None or (not place.key.strip() and place.value in ("", {}, [])):
        return place.mend(ABSENT, Safety.EXACT, "nothing is said under this key")
    if _says_nothing(place.value):
        return place.mend(ABSENT, Safety.INFERRED, "nothing is said under this key")
    if (deeper := resembles(place.key, names_below(place.tool.schema))) is not None:
        return GiveUp(f"it may stand for {quoted(deeper, 60)}, deeper inside")
    lone = resembles(place.key, names) is None and place.tool.effect == "read_only"
    is_free = lone and parent(place.path) == _ARGS and not _is_needed(place, context)
    safety = Safety.INFERRED if is_free else Safety.LOSSY
    return place.mend(ABSENT, safety, "an argument that the tool does not know")


def _is_needed(place: Place, context: RepairContext) -> bool:
    """Whether the user asked for what stands here, as far as is known."""
    key = place.key.strip("_").lower()
    if key in _THOUGHTS:
        return False
    if key in _REMARKS and isinstance(place.value, str):
        remark = _plain(place.value)
        return any(remark in _plain(text) for text in _requests(context))
    known = tokens(place.tool.name[:LONGEST])
    return any(is_asked(text, place.key, place.value, known) for text in _requests(context))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _requests(context: RepairContext) -> Iterator[str]:
    if context.request:
        yield context.request
    for message in context.messages:
        content = message.get("content")
        if message.get("role", message.get("type")) in _USERS and isinstance(content, str):
            yield content


_NOTHING: Final = frozenset(
    {"na", "none", "notavailable", "notprovided", "notspecified", "null", "undefined"}
    | {"unknown", "unspecified"}
)


def _says_nothing(value: JSON) -> bool:
    """Whether a text holds no letter and no digit, or only a word for nothing."""
    if not isinstance(value, str) or len(value) > LONGEST:
        return False
    said = normal(value)
    return not said or said in _NOTHING
