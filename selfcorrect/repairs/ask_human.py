"""ask-human: asks a person for the value at fault."""

from selfcorrect.model import Ask, Call, Diagnosis, Repair
from selfcorrect.pointer import keys_of
from selfcorrect.protocols import RepairContext
from selfcorrect.text import bound


def ask_human(call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
    """Ask with the error's own words; offer the listed values."""
    question = f"{call.name or 'the call'}: {bound(diagnosis.text, 500)}."
    place = context.place(call).at(keys_of(diagnosis.path), call.args)
    return Ask(question, place.choices)
