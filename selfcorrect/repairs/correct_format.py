"""correct-format: the same address, identifier or code in its normal form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from selfcorrect.model import Call, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.places import present, without
from selfcorrect.schema.subschema import strings
from selfcorrect.values.normal_forms import is_no_code, normal_forms


@dataclass(frozen=True, slots=True)
class CorrectFormat:
    """Writes an e-mail address, UUID, URI, IP address, phone number or code in its normal form.

    Only what is certain: surrounding white space, quotes and brackets, `mailto:`, upper and lower
    case, separators between the same letters and digits. Nothing is made up, so an address without
    a scheme, a phone number without a country code or a word for a code (`Ford`) is refused.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"to": {"type": "string", "format": "email"}}}
    >>> args = {"to": "<mailto:ann@example.org>"}
    >>> change = try_strategy(CorrectFormat(), schema, args).changes[0]
    >>> change.after, change.safety.value
    ('ann@example.org', 'exact')
    """

    name: ClassVar[str] = "correct-format"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.EXACT, Safety.INFERRED)
    needs: ClassVar[str] = "nothing"

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Rewrite the text at the first finding."""
        place = present(call, diagnosis.finding, context)
        if isinstance(place, GiveUp):
            return place
        if (nothing := without(place)) is not None:
            return nothing
        text = place.value
        if not isinstance(text, str):
            return GiveUp("the value is no text")
        patterns = strings([schema.get("pattern") for schema in place.schemas])
        forms = normal_forms(text, place.formats, patterns)
        fitting = {form: safety for form, safety in forms.items() if place.fits(form)}
        if len(fitting) > 1:
            return GiveUp("several spellings of it would fit")
        for form, safety in fitting.items():
            return place.mend(form, safety, "the same in its normal form")
        if is_no_code(text):
            return GiveUp("no other spelling of it fits, and a word is not made a code")
        return GiveUp("no other spelling of it fits")
