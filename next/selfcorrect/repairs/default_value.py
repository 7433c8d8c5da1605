"""default-value: fills in a missing argument that has a default."""

from dataclasses import dataclass, field
from typing import ClassVar

from selfcorrect.model import Diagnosis, JsonDict, JsonObject
from selfcorrect.pointer import keys_of
from selfcorrect.repairs.primitive import Primitive
from selfcorrect.schema.slot import Slot


@dataclass(frozen=True, slots=True)
class DefaultValue(Primitive):
    """Fill in the default of the schema, or of the map; the change is lossy.

    Attributes:
        values: Defaults by argument, over those of the schema.
    """

    values: JsonObject = field(default_factory=dict)

    TABLE: ClassVar[str] = "values"
    KEYS: ClassVar[slice] = slice(-1)  # the object around the place

    def demand(self, slot: Slot, diagnosis: Diagnosis) -> JsonDict:
        """Ask for the argument that the error misses."""
        return {"required": keys_of(diagnosis.path)[-1:]}
