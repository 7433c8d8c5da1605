"""correct-format: the same address, identifier or code in its normal form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar, Final

from selfcorrect.model import Call, Diagnosis, GiveUp, JsonObject, Repair, Safety
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.places import Place, present, without

Form = tuple[str, Safety]

_LONGEST: Final = 2_000
_LONGEST_PATTERN: Final = 200


@dataclass(frozen=True, slots=True)
class CorrectFormat:
    """Writes an e-mail address, UUID, URI, IP address, phone number or code in its normal form.

    Only what is certain: surrounding white space, quotes and brackets, `mailto:`, upper and lower
    case, separators between the same letters and digits. Nothing is made up, so an address without
    a scheme or a phone number without a country code is refused.

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
        if not isinstance(text, str) or len(text) > _LONGEST:
            return GiveUp("the value is no short text")
        forms = dict(_later_wins(_forms(text, place)))
        fitting = {form: safety for form, safety in forms.items() if place.fits(form)}
        if len(fitting) > 1:
            return GiveUp("several spellings of it would fit")
        for form, safety in fitting.items():
            return place.mend(form, safety, "the same in its normal form")
        return GiveUp("no other spelling of it fits")


def _later_wins(forms: Iterator[Form]) -> Iterator[Form]:
    """The forms in reverse, so that of two ways to one form the surer, earlier one stays."""
    return reversed([*forms])


def _forms(text: str, place: Place) -> Iterator[Form]:
    """Other spellings of a text, the surest first."""
    formats = place.formats & _NORMAL.keys()
    for name in sorted(formats):
        yield from _NORMAL[name](text)
    if formats:
        return
    for schema in place.schemas:
        if isinstance(schema.get("pattern"), str):
            yield from _of_pattern(text, schema)


def _bare(text: str) -> str:
    """The text without white space and quotes or angle brackets around it."""
    text = text.strip()
    for opening, closing in ("<>", '""', "''", "``"):
        if len(text) > 2 and text[0] == opening and text[-1] == closing:
            text = text[1:-1].strip()
    return text


_DISPLAY_NAME: Final = re.compile(r"[^<>@]{1,100}<([^<>\s]{3,254})>")


def _email(text: str) -> Iterator[Form]:
    bare = _bare(text)
    if bare[:7].lower() == "mailto:":
        bare = bare[7:]
    if "?" not in bare:
        yield bare, Safety.EXACT
        yield bare.rstrip(".,;:!"), Safety.EXACT
    if match := _DISPLAY_NAME.fullmatch(bare):
        yield match[1], Safety.INFERRED


_HEX: Final = re.compile(r"[0-9a-f]{32}")


def _uuid(text: str) -> Iterator[Form]:
    bare = _bare(text).lower().removeprefix("urn:uuid:")
    if bare[:1] + bare[-1:] in ("{}", "()"):
        bare = bare[1:-1]
    digits = re.sub(r"[\s-]", "", bare)
    if _HEX.fullmatch(digits):
        groups = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
        yield "-".join(groups), Safety.EXACT


def _uri(text: str) -> Iterator[Form]:
    yield _bare(text), Safety.EXACT


def _ipv6(text: str) -> Iterator[Form]:
    bare = _bare(text)
    yield bare, Safety.EXACT
    if bare[:1] + bare[-1:] == "[]":
        yield bare[1:-1], Safety.EXACT


def _phone(text: str) -> Iterator[Form]:
    """E.164, of a number that names its country."""
    bare = re.sub(r"^tel:", "", _bare(text), flags=re.IGNORECASE)
    if re.search(r"\(\s*0\s*\)", bare) or not re.fullmatch(
        r"\+[1-9][\d\s().\-/]{5,30}", bare, re.ASCII
    ):
        return
    yield "+" + re.sub(r"\D", "", bare), Safety.EXACT


_NORMAL: Final[Mapping[str, Callable[[str], Iterator[Form]]]] = {
    "email": _email,
    "idn-email": _email,
    "uuid": _uuid,
    "uri": _uri,
    "ipv4": _uri,
    "ipv6": _ipv6,
    "phone": _phone,
}


def _of_pattern(text: str, schema: JsonObject) -> Iterator[Form]:
    """Spellings with the same letters and digits in the same order."""
    bare, pattern = _bare(text), schema["pattern"]
    is_code = not re.search(r"[+*](?!\])|\{\d+,\}", pattern.replace("\\+", ""))
    yield bare, Safety.EXACT
    yield from _other_case(bare, Safety.EXACT if is_code else Safety.INFERRED)
    if _DATE.fullmatch(bare):
        return
    joined = re.sub(r"[\s\-]", "", bare)
    if is_code and bare[:1] not in ("+", "-") and any(char.isdigit() for char in bare):
        yield joined, Safety.EXACT
        yield from _other_case(joined, Safety.EXACT)
    if "\\+" in pattern or "[+]" in pattern:
        yield from _phone(text)
    if re.fullmatch(r"\(?\d[\d\s_.()/\-]*", bare, re.ASCII):
        grouped = _grouped(re.findall(r"\d+", bare, re.ASCII), pattern)
        if grouped is not None:
            yield grouped, Safety.INFERRED


_DATE: Final = re.compile(
    r"(?:\d{4}([-/. ])\d{1,2}\1\d{1,2}|\d{1,2}([-/. ])\d{1,2}\2\d{4})", re.ASCII
)
"""A date: which of its numbers is the month no pattern can tell."""


def _other_case(text: str, safety: Safety) -> Iterator[Form]:
    if text.isascii():
        yield text.upper(), safety
        yield text.lower(), safety


_PART: Final = re.compile(
    r"(?P<digits>(?:\\d|\[0-9\])\{(?P<size>\d{1,2})\})|(?P<one>\\d|\[0-9\])|(?P<mark>\\[-./()]|[-\s/])"
)


def _grouped(groups: Sequence[str], pattern: str) -> str | None:
    r"""The digits with the separators of a pattern such as `^\\d{3}-\\d{4}$`, if they fill it.

    What stood apart stays apart: `12-3456` is not `123-456`.
    """
    if len(pattern) > _LONGEST_PATTERN:
        return None
    digits, apart = "".join(groups), set(accumulate(map(len, groups)))
    body = pattern.removeprefix("^").removesuffix("$")
    out, at, used = [], 0, 0
    while at < len(body):
        part = _PART.match(body, at)
        if part is None:
            return None
        at = part.end()
        if part["mark"]:
            out.append(part["mark"][-1])
            apart.discard(used)
            continue
        size = int(part["size"]) if part["size"] else 1
        out.append(digits[used : used + size])
        used += size
    return "".join(out) if apart == {len(digits)} and used == len(digits) else None
