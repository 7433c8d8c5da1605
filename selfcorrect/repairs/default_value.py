"""default-value: a missing argument gets its default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from selfcorrect.kernel.keys import asks_for_all
from selfcorrect.kernel.verdicts import FOLLOWS
from selfcorrect.model import ABSENT, JSON, Call, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.pointer import split
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.places import place_of
from selfcorrect.schema.slots import slots_of
from selfcorrect.schema.subschema import same


@dataclass(frozen=True, slots=True)
class DefaultValue:
    """Fills a missing argument with the map's value for it, or with the schema's default.

    Lossy: nobody said the value in this call. But where a schema asks for every property there is,
    as strict modes make it, "required" says nothing, and a default is the tool's own word:
    inferred. What is there is never replaced.

    Attributes:
        values: Values by argument, dotted where nested: `{passengers = 1}`.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"unit": {"default": "metric"}, "n": {}}, "required": ["unit"]}
    >>> change = try_strategy(DefaultValue(), schema, {}).changes[0]
    >>> change.after, change.safety.value
    ('metric', 'lossy')
    >>> strict = {**schema, "required": ["unit", "n"]}
    >>> try_strategy(DefaultValue(), strict, {"n": 1}).changes[0].safety.value
    'inferred'
    """

    name = "default-value"
    safety = (*FOLLOWS, Safety.LOSSY)
    needs = "nothing"

    values: Mapping[str, JSON] = field(default_factory=dict)

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Fill the place of the first finding."""
        place = place_of(call, diagnosis.finding, context)
        if isinstance(place, GiveUp):
            return place
        if place.value is not ABSENT:
            return GiveUp("the argument is there")
        if not place.declared:
            return GiveUp("the schema does not know this argument")
        for name in (*diagnosis.finding.params[:1], place.key):
            if name in self.values:
                return place.mend(self.values[name], "the map's value for it", Safety.LOSSY)
        defaults: list[JSON] = []
        for schema in place.schemas:
            told = schema.get("default", ABSENT)
            if told is not ABSENT and not any(same(told, one) for one in defaults):
                defaults.append(told)
        if len(defaults) != 1:
            return GiveUp(
                "the schema gives no default" if not defaults else "there are two defaults"
            )
        where = tuple(split(place.path)[1:-1])
        is_asked = asks_for_all(slots_of(place.tool.schema), call.args, where)
        return place.mend(defaults[0], "the schema's default", None if is_asked else Safety.LOSSY)
