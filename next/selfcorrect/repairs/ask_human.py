"""ask-human: asks a person for the value at fault."""

from dataclasses import dataclass

from selfcorrect.effects.effect import acts
from selfcorrect.model import ABSENT, JSON, Ask, Call, Diagnosis, Repair
from selfcorrect.pointer import keys_of, look
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.slot import Slot, subschema
from selfcorrect.text import bound


@dataclass(frozen=True, slots=True)
class AskHuman:
    """Ask with the error's own words; offer the listed values, or what the value may mean."""

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        keys = keys_of(diagnosis.path)
        question = f"{call.name or 'the call'}: {bound(diagnosis.text, 500)}."
        if listed := subschema(context.schema, keys).get("enum"):
            return Ask(question, listed)
        options = _meanings(look(call, diagnosis.path), keys, context) if keys else []
        if len(options) < 2:
            return Ask(question)
        from selfcorrect.values.dates import name_day

        return Ask(f"{question} It may be {' or '.join(map(name_day, options))}.", options)


def _meanings(written: JSON, keys: list[str], context: RepairContext) -> list[JSON]:
    """Return the values that a written one can mean in its place."""
    from selfcorrect.repairs.arguments import VALUE_STRATEGIES
    from selfcorrect.values.readings import Allow, readings

    slot = Slot.of(context.schema).at(keys)
    if written is ABSENT or slot.accepts(written):
        return []
    allow = Allow(VALUE_STRATEGIES, acts=acts(context.effect))
    found = readings(written, slot, allow)
    return list({repr(each.value): each.value for each in found}.values())
