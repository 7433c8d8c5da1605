"""rename-argument: gives an unknown key the name of the argument that it means."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from selfcorrect.model import Diagnosis, JsonDict
from selfcorrect.repairs.primitive import Primitive
from selfcorrect.schema.slot import Slot


@dataclass(frozen=True, slots=True)
class RenameArgument(Primitive):
    """Rename `departureDate` to `departure_date`, and a synonym to its argument.

    Gives up where the argument is there already, or two are equally near. For a missing argument
    it looks for the unknown key that means it.

    Attributes:
        synonyms: Arguments by the other names that they go by.
    """

    synonyms: Mapping[str, str] = field(default_factory=dict)

    TABLE: ClassVar[str] = "synonyms"
    KEYS: ClassVar[slice] = slice(-1)  # the object around the place

    def demand(self, slot: Slot, diagnosis: Diagnosis) -> JsonDict:
        """Ask that no key is unknown: the error has refused one, or misses one."""
        return {"additionalProperties": False} if slot.properties else {}
