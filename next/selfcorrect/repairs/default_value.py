"""default-value: fills in a missing argument that has a default."""

from dataclasses import dataclass, field

from selfcorrect.model import (
    ABSENT,
    Call,
    Change,
    Changed,
    Diagnosis,
    GiveUp,
    JsonObject,
    Repair,
    Safety,
)
from selfcorrect.pointer import keys_of, look
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.slot import subschema


@dataclass(frozen=True, slots=True)
class DefaultValue:
    """Fill in the default of the schema, or of the map; the change is lossy.

    Attributes:
        values: Defaults by argument, over those of the schema.
    """

    values: JsonObject = field(default_factory=dict)

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        path = diagnosis.path
        if not keys_of(path) or look(call, path) is not ABSENT:
            return GiveUp("no argument is missing")
        schema = subschema(context.schema, keys_of(path))
        name = diagnosis.params[0]
        value = self.values.get(name, schema.get("default", ABSENT))
        if value is ABSENT:
            return GiveUp(f"`{name}` has no default")
        return Changed(Change(path, ABSENT, value, Safety.LOSSY, "its default"))
