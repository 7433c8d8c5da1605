"""ask-human: asks a person for the value at fault."""

from selfcorrect.model import ABSENT, JSON, Ask, Call, Diagnosis, Repair, acts
from selfcorrect.pointer import keys_of, look
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.place import Place
from selfcorrect.text import bound


def ask_human(call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
    """Ask with the error's own words; offer the listed values, or what the value may mean."""
    keys = keys_of(diagnosis.path)
    question = f"{call.name or 'the call'}: {bound(diagnosis.text, 500)}."
    place = context.place(call).at(keys, call.args)
    if place.choices:
        return Ask(question, place.choices)
    options = _meanings(look(call, diagnosis.path), place, context) if keys else []
    if len(options) < 2:
        return Ask(question)
    from selfcorrect.values.dates import name_day

    return Ask(f"{question} It may be {' or '.join(map(name_day, options))}.", options)


def _meanings(written: JSON, place: Place, context: RepairContext) -> list[JSON]:
    """Return the values that a written one can mean in its place."""
    from selfcorrect.values.readings import Permission, readings

    if written is ABSENT or place.accepts(written):
        return []
    allow = Permission(acts=acts(context.effect))
    return list({repr(each.value): each.value for each in readings(written, place, allow)}.values())
