"""ask-human: asks a person for the value at fault."""

from dataclasses import dataclass

from selfcorrect.model import Ask, Call, Diagnosis, Repair
from selfcorrect.pointer import keys_of
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.slot import subschema
from selfcorrect.text import bound


@dataclass(frozen=True, slots=True)
class AskHuman:
    """Ask with the error's own words, and offer the listed values."""

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        schema = subschema(context.schema, keys_of(diagnosis.path))
        name = call.name or "the call"
        return Ask(f"{name}: {bound(diagnosis.text, 500)}.", schema.get("enum") or ())
