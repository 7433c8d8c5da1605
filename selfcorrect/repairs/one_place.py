"""A strategy of the pass over arguments, called alone for one place, as a ladder calls it."""

from collections.abc import Callable, Mapping

from selfcorrect.errors import unknown_name
from selfcorrect.model import (
    ABSENT,
    Call,
    Changed,
    Diagnosis,
    GiveUp,
    JsonDict,
    JsonObject,
    Repair,
    acts,
    frozen,
)
from selfcorrect.pointer import keys_of, look, pointer
from selfcorrect.protocols import RepairContext
from selfcorrect.repairs.arguments import repair_arguments
from selfcorrect.schema.place import Place
from selfcorrect.values.dates import RELATIVE
from selfcorrect.values.primitives import PRIMITIVES, Primitive
from selfcorrect.values.readings import Permission


@frozen
class OnePlace:
    """Runs the pass restricted to one strategy and to one place.

    Attributes:
        primitive: The strategy.
        words: What its option holds.
    """

    primitive: Primitive
    words: JsonObject

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        name = self.primitive.name
        keys = keys_of(diagnosis.path)
        if not keys and self.primitive.levels != 0:
            return GiveUp("the error names no argument")
        keys = keys[: self.primitive.levels]
        written = look(call, pointer(*keys))
        if written is ABSENT:
            return GiveUp("there is no value where the error points")
        place = context.place(call).at(keys, call.args)
        trusted, demand = context.trust(diagnosis), _DEMANDS.get(name)
        asked = demand(place, trusted) if demand else trusted.constraint
        wanted = Place({**place.view, **asked}, place.root, place.name)
        if wanted.accepts(written):
            return GiveUp("the value fits already")
        tool = context.tools.get(call.name)
        description = tool.description if tool else ""
        allow = Permission({name: self.words}, acts=acts(context.effect), description=description)
        rewrite = repair_arguments(written, wanted, allow, keys)
        if rewrite.changes:
            return Changed(rewrite.changes)
        return GiveUp(
            rewrite.problems[0].text if rewrite.problems else "there is nothing to change"
        )


def make_primitive(name: str, options: JsonObject) -> OnePlace:
    """Return a strategy with its option bound.

    Raises:
        ValueError: If it has no such option, or the option holds no words.
    """
    primitive = PRIMITIVES[name]
    is_switch = primitive.option == "relative"
    for key, words in options.items():
        if key != primitive.option:
            raise ValueError(unknown_name("option", key, [primitive.option or "none"]))
        if not isinstance(words, bool if is_switch else Mapping):
            wanted = "true or false" if is_switch else "a table"
            raise ValueError(f"refuses its options: {key} must be {wanted}")  # noqa: TRY004
    words = options.get(primitive.option) or {}
    return OnePlace(primitive, RELATIVE if is_switch and words else words)


def _listed(place: Place, diagnosis: Diagnosis) -> JsonDict:
    """Take the listed values from the error where the schema has none."""
    if place.choices:
        return {}
    parts = diagnosis.captures.get("allowed", "").strip("[]()").split(",")
    values = [bare for each in parts if (bare := each.strip(" '\""))]
    return {"enum": diagnosis.constraint.get("enum", values)}


_DEMANDS: Mapping[str, Callable[[Place, Diagnosis], JsonDict]] = {
    "correct-enum": _listed,
    # The error speaks of a date where the schema names no format.
    "format-date": lambda place, _: {"format": place.format or "date"},
    # The error has refused a key, or misses one.
    "rename-argument": lambda place, _: {"additionalProperties": False} if place.properties else {},
    "default-value": lambda _, diagnosis: {"required": keys_of(diagnosis.path)[-1:]},
}
"""What an error asks of a place, where it is not the keyword that was violated."""
