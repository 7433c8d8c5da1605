"""correct-enum: takes the one listed value that is meant."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from selfcorrect.model import Diagnosis, JsonDict
from selfcorrect.repairs.primitive import Primitive
from selfcorrect.schema.slot import Slot


@dataclass(frozen=True, slots=True)
class CorrectEnum(Primitive):
    """Correct `" Business"` and `"business class"` to `"business"`.

    Gives up where two values are equally near, or none is.

    Attributes:
        synonyms: Listed values by the other words that they go by.
    """

    synonyms: Mapping[str, str] = field(default_factory=dict)

    TABLE: ClassVar[str] = "synonyms"

    def demand(self, slot: Slot, diagnosis: Diagnosis) -> JsonDict:
        """Take the listed values from the error where the schema has none."""
        if slot.choices:
            return {}
        if (listed := diagnosis.constraint.get("enum")) is None:
            said = diagnosis.captures.get("allowed", "").strip("[]()").split(",")
            listed = [each.strip(" '\"") for each in said]
        found = [each for each in listed if each]
        return {"enum": found} if found else {}
