"""A number or boolean as text, and a text that stays one where something else may stand too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from selfcorrect.kernel.dates import moment
from selfcorrect.kernel.spellings import TRUTH
from selfcorrect.mending.choice import Contested, Fit, candidate
from selfcorrect.mending.edges.format import fitting_forms
from selfcorrect.model import JSON
from selfcorrect.schema.places import Place
from selfcorrect.schema.subschema import members, strings, types_of
from selfcorrect.text import is_spelling_of
from selfcorrect.values.spelled import as_spelled

_DIGITS: Final = re.compile(r"\d{1,30}", re.ASCII)
_DIALLED: Final = re.compile(r"\+|0\d", re.ASCII)


def text(value: JSON, want: Place) -> Iterator[Fit]:
    """Write a number or boolean as text where one is asked for, as the model spelled it."""
    if "string" not in want.kinds:
        return
    written = as_text(value, want)
    if written is not None:
        yield candidate(written, "text", "a text was asked for")


def as_text(value: JSON, want: Place) -> str | None:
    """A number or boolean in the spelling that it had, if that is known.

    Raises:
        Unclear: If it had several, or one that a text may have to keep.
    """
    match value:
        case bool():
            return str(value).lower()
        case int() if value.bit_length() < 3_000:
            plain = str(value)
        case float() if "e" not in (plain := repr(value)) and plain[-1].isdigit():
            pass
        case _:
            return None
    return (as_spelled(value, want.written) if want.written else None) or plain


def kept_text(value: JSON, want: Place) -> Iterator[Fit]:
    """Keep a text in its normal form where something else may stand as well."""
    if not isinstance(value, str) or "string" not in want.kinds or want.kinds == {"string"}:
        return
    listed = strings(members(s for s in want.schemas if types_of(s) & {"string"}))
    if meant := [one for one in listed if is_spelling_of(value, one)]:
        if len(meant) > 1:
            raise Contested("the value could become several things")
        reason = "another spelling of a listed value"
        yield candidate(meant[0], "same-text", reason)
        return
    fitting = fitting_forms(value, want)
    if len(fitting) > 1 or (fitting and _is_answer(want, value)):
        raise Contested("it could be several things")
    for form in fitting:
        yield candidate(form, "same-text", "the same in its normal form")
    if not fitting:
        _check_no_text(
            want, value.strip(), bool(listed) or any("pattern" in schema for schema in want.schemas)
        )


def _check_no_text(want: Place, value: str, told: bool) -> None:
    """Refuse a text that may be meant as one; `told` is whether the schema says what texts are."""
    if _DIALLED.match(value) or (_DIGITS.fullmatch(value) and want.fits(f"+{value}")):
        raise Contested("it could be a text such as a telephone number")
    if told and _is_answer(want, value) and value.lower() not in ("true", "false"):
        raise Contested("it could be a text, or true or false")
    if want.formats & {"date", "date-time"} and moment(value) is not None:
        raise Contested("it could be a date or a number")


def _is_answer(want: Place, value: str) -> bool:
    word = value[:50].strip().lower()
    return "boolean" in want.kinds and not word.isdigit() and word in TRUTH
