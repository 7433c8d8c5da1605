"""rename-argument: gives an unknown key the name of the argument that it means."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from selfcorrect.model import ABSENT, Call, Change, Changed, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.names import only_near, same_words
from selfcorrect.pointer import keys_of, look, pointer
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.slot import subschema

MAX_KEYS = 200


@dataclass(frozen=True, slots=True)
class RenameArgument:
    """Rename `departureDate` to `departure_date`, and a synonym to its argument.

    Gives up where the argument is there already, or two are equally near. For a missing argument
    it looks for the unknown key that means it.

    Attributes:
        synonyms: Arguments by the other names that they go by.
    """

    synonyms: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        *parents, key = keys_of(diagnosis.path) or [""]
        holder = look(call, pointer(*parents))
        known = subschema(context.schema, parents).get("properties") or {}
        if not isinstance(holder, Mapping) or len(holder) > MAX_KEYS:
            return GiveUp("the error points into no object of moderate size")
        free = [name for name in known if name not in holder]
        # All unknown keys are looked at together: two that mean one argument mean none.
        unknown = [name for name in holder if name not in known]
        pairs = {old: self.synonyms.get(old) or only_near(old, free) for old in unknown}
        for old, new in pairs.items():
            is_one = new in free and list(pairs.values()).count(new) == 1
            if is_one and new is not None and key in (old, new):
                safety = Safety.EXACT if same_words(old, new) else Safety.INFERRED
                source = pointer(*parents, old)
                reason = f"`{old}` is `{new}`"
                value = holder[old]
                place = pointer(*parents, new)
                return Changed(Change(place, ABSENT, value, safety, reason, moved_from=source))
        return GiveUp(f"no argument is near {key!r:.80}")
