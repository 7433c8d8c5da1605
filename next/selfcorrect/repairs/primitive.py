"""What the strategies of the pass over arguments have in common."""

from dataclasses import dataclass
from typing import ClassVar

from selfcorrect.effects.effect import acts
from selfcorrect.model import (
    ABSENT,
    Call,
    Changed,
    Diagnosis,
    GiveUp,
    JsonDict,
    Repair,
    Safety,
)
from selfcorrect.names import words
from selfcorrect.pointer import keys_of, look, pointer
from selfcorrect.protocols import RepairContext
from selfcorrect.repairs.arguments import repair_arguments
from selfcorrect.schema.slot import Slot
from selfcorrect.values.readings import Allow


@dataclass(frozen=True, slots=True)
class Primitive:
    """One strategy of the pass; called alone, it runs the pass restricted to itself and one place.

    Attributes:
        NAME: How ladders and trails call it, and `Allow` too: the words of the class.
        TABLE: The option in which a map gives it words to look up.
        KEYS: Which keys of the place lead to the value that it works on.
    """

    NAME: ClassVar[str]
    TABLE: ClassVar[str] = ""
    KEYS: ClassVar[slice] = slice(None)

    def __init_subclass__(cls) -> None:
        cls.NAME = "-".join(words(cls.__name__))

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        keys = keys_of(diagnosis.path)[self.KEYS]
        if not keys and self.KEYS.stop is None:
            return GiveUp("the error names no argument")
        written = look(call, pointer(*keys))
        if written is ABSENT:
            return GiveUp("there is no value where the error points")
        slot = context.place(call).at(keys, call.args)
        asked = self.demand(slot, context.trust(diagnosis))
        wanted = Slot({**slot.view, **asked}, slot.root, slot.name)
        if wanted.accepts(written):
            return GiveUp("the value fits already")
        tool = context.tools.get(call.name)
        said = tool.description if tool else ""
        allow = Allow.of([self], Safety, acts=acts(context.effect), description=said)
        found = repair_arguments(written, wanted, allow, keys)
        if found.changes:
            return Changed(found.changes)
        return GiveUp(found.problems[0].text if found.problems else "it finds nothing to change")

    def demand(self, slot: Slot, diagnosis: Diagnosis) -> JsonDict:
        """Return what the error asks of the place beside its schema."""
        return dict(diagnosis.constraint)
