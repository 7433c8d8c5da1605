"""An address, identifier or code in its normal form."""

from __future__ import annotations

from collections.abc import Iterator

from selfcorrect.mending.choice import Contested, Fit, candidate
from selfcorrect.model import JSON
from selfcorrect.schema.places import Place
from selfcorrect.schema.subschema import strings
from selfcorrect.text import Unclear
from selfcorrect.values.normal_forms import normal_forms


def normal_form(value: JSON, want: Place) -> Iterator[Fit]:
    """Respell what is certain: white space, quotes, case and separators between the same signs."""
    if not isinstance(value, str):
        raise Unclear("the value is no text")
    fitting = fitting_forms(value, want)
    if len(fitting) > 1:
        raise Contested("several spellings of it would fit")
    for form in fitting:
        yield candidate(form, "normal-form", "the same in its normal form")
    if not fitting:
        raise Unclear("no other spelling of it fits")


def fitting_forms(value: str, want: Place) -> list[str]:
    """The other spellings of a text that may stand at a place."""
    patterns = strings([schema.get("pattern") for schema in want.schemas])
    return [form for form in normal_forms(value, want.formats, patterns) if want.fits(form)]
