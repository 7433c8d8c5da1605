"""Families of English wordings by which a text says what is wrong with a call, and what to do.

General English only: a wording stands here because many systems write so, never because one runtime
does. What is read is what a reader would take from the sentence; nobody here decides what to do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any, Literal

FAR_S = 1e6
"""The wait until a time of day whose date is not said."""


def _any(*families: str) -> re.Pattern[str]:
    return re.compile("|".join(families), re.IGNORECASE)


_PERSON = r"(?:user|person|customer|human)"
_NOT = r"\b(?:do not|don't|must not|should not|never|avoid|not safe to)\b"
_NOT_AGAIN = _any(
    rf"{_NOT}[^.]{{0,30}}?\b(?:repeat|retry|resen[dt])",
    rf"{_NOT}[^.]{{0,30}}?"
    r"\b(?:call|send|submit|run|try|execut|mak)\w*[^.]{0,20}\b(?:again|twice|a second time)\b",
    r"\b(?:repeat|retry)\w*\b[^.]{0,30}\b(?:not safe|unsafe|twice)\b",
)
_BUT_CHANGED = _any(
    r"\b(?:same|unchanged|identical\w*|as it (?:is|was)|without|until|before|unless|more than)\b"
)
_BUT_BY_SOMEBODY = _any(
    r"\b(?:unless|until|before|without)\b.*\b(?:user|person|somebody|someone|known?)\b"
)
_ASK = _any(
    rf"\b(?:ask|check with|confirm with|clarify with|consult|turn to)\b(?: \w+){{0,2}} {_PERSON}\b",
    r"\b(?:ask|consult) them\b",
    rf"\b(?:only|must|has to|have to|needs to|should)\b[^.]{{0,40}}"
    rf"\b(?:from|by) (?:the|a|your) {_PERSON}\b",
    rf"\b{_PERSON}\b[^.]{{0,30}}\b(?:has to|have to|must|needs to|should|can) "
    r"(?:decide|say|choose|confirm|provide|tell|clarify|give)",
    r"\bonly (?:the|your) (?:user|customer) (?:knows|can)\b",
)
_CONDITION = _any(r"\b(?:if|otherwise|unless|or)\b")
_NEGATED = _any(r"(?:not|n't|without|no need to)\W+(?:\w+ )?$")

COMES_FIRST = _any(
    r"\b(?:first|before\w*|prior|beforehand|when|while|until|unless|requires?|needs?|must|please)\b",
    r"\b(?:has to|have to|not (?:yet )?\w+|is (?:closed|locked|open|off|missing))\b",
)
FIRST = _any(r"\bfirst\b|beforehand|precondition|prerequisite")
UNREADABLE = _any(
    r"\bjson\b|\bpars(?:e|ed|ing)\b|malformed|unreadable|could not be read",
    r"cut off|truncated|incomplete",
)
MISSING = _any(
    r"required|missing|must (?:be|have) (?:given|provided|specified|set|a)\b",
    r"(?:is|are|was) needed|\bneeds? an?\b|(?:must not|can ?not|may not) be (?:empty|blank|null)",
    r"no value|not (?:given|provided|specified)",
)
EXTRA = _any(
    r"unexpected|extra|not permitted|unknown|unrecognized|does not (?:know|take|have)",
    r"no (?:such )?(?:parameter|argument)",
    r"not (?:an?|one of the) (?:parameter|argument|field|property)",
)
TERMINAL = _any(
    r"permission|forbidden|denied|unauthori[sz]ed|not authori[sz]ed|\bscope\b|not allowed",
    r"quota|credit|billing|can(?:not|'t) succeed|another way|not possible|impossible",
    r"\bfault\b|\bbug\b|internal|tool itself|own code",
    r"(?:ZeroDivision|Name|Key|Attribute|Type|Index|JSONDecode|Import|ModuleNotFound)Error",
)
AGAIN = _any(r"\b(?:again|retry|correct (?:it|the|your)|fix (?:it|the|your))\b")
PROPOSES = _any(r"\b(?:call|use|try|correct\w*|send|again|instead|with|propos\w+|mended)\b")

_LENGTH = _any(r"\b(?:characters?|chars|long|length|letters)\b")
_LATER = _any(
    r"\blater\b|temporar\w+|unavailable|too many requests|rate.?limit|overloaded|\bbusy\b",
    r"retry.after|not before|\bin a (?:moment|minute|while)\b|timed? ?out",
    r"(?:again|retry|wait|before|next)[^.]{0,40}\bseconds?\b",
)
_UNTIL = _any(
    r"(?:before|until|earliest|after|at)\s+"
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.+Z-]*|\d{1,2}:\d\d(?::\d\d)?)\b"
)
_DURATION = _any(
    r"\b(\d+(?:\.\d+)?)\s*(s|secs?|seconds?|m|mins?|minutes?|h|hours?|days?)\b",
    r"retry.after\W{1,4}(\d+)",
)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

_OFFERS = _any(
    r"(?:allowed|valid|accepted|supported|possible|permitted|available|known|existing|legal)\b"
    r"[^:.]{0,50}?(?::|\b(?:is|are|includes?)\b)",
    r"(?:similar|closest|nearest|near)\b[^:.]{0,50}?(?::|\b(?:is|are)\b)",
    r"\b(?:supported|allowed|accepted|supports|accepts|allows|similar|closest|nearest)"
    r"(?:\s+only)?:?",
    r"\b(?:must|should|has to|can only|may only|needs to) (?:be|equal)(?: either| exactly)?"
    r"(?: one of)?:?",
    r"\bone of(?: these| the following)?:?|\beither\b",
    r"\b(?:expected|choose|pick|select|options?|try|use)(?: from| between| one of)?:?",
    r"\b(?:did|do) you mean:?|\bperhaps\b|\bmaybe\b",
)
_WEAKLY = _any(r"(?:must|should|has to|can only|may only|needs to|try|use)")
_EXAMPLE = _any(r"(?:e\.g\.|for example|for instance|such as|looks? like|as in)")
_EXAMPLE_OF = _any(_EXAMPLE.pattern + r"[,:]?\s+['\"`]?([\w+:\-./@]+)")
_QUOTED = re.compile(r"(?<!\w)['\"`“‘]([^'\"`“”‘’]{1,40})['\"`”’](?!\w)")

_NUMBER = r"(?:than |to |be |is |of |are |:|=)*\s*[$€£]?(-?\d[\d,]*(?:\.\d+)?)"
_BETWEEN = _any(
    r"\b(?:between|from|range(?: of)?|in)\s*\[?(-?\d+(?:\.\d+)?)"
    r"\s*(?:and|to|-|–|\.\.|,)\s*(-?\d+(?:\.\d+)?)"
)
_AT_MOST = _any(
    r"(?:at most|no more|not more|not exceed|exceeds?|maximum(?: \w+){0,3}?|max|up to|<=|≤|or less"
    r"|less than or equal|not be (?:greater|more|larger|higher)|limit(?:ed)? (?:of|is|to))\s*"
    + _NUMBER
)
_AT_LEAST = _any(
    r"(?:at least|no less|not less|no fewer|minimum(?: \w+){0,3}?|min|>=|≥|greater than or equal"
    r"|not be (?:less|smaller|lower))\s*" + _NUMBER
)

_SHAPES: tuple[tuple[str, str], ...] = (
    (r"YYYY-MM-DD|ISO.?8601|iso date|valid date\b", r"\d{4}-\d{2}-\d{2}"),
    (r"\bHH:MM\b|24.?hour", r"\d{2}:\d{2}"),
    (r"DD\.MM\.YYYY", r"\d{2}\.\d{2}\.\d{4}"),
    (r"E\.?164|international (?:format|number)|country code", r"\+\d{7,15}"),
    (r"ISO.?4217|three.letter", r"[A-Z]{3}"),
)
_WHOLE = _any(r"valid (?:integer|whole)|whole number|an? integer")
_DECIMAL = _any(r"valid (?:number|decimal|float)|be a (?:number|decimal)")

_SMALL = frozenset(
    {"a", "an", "the", "is", "are", "be", "been", "to", "of", "in", "on", "for", "and", "or", "not"}
    | {"it", "this", "that", "when", "with", "by", "as", "at", "from", "has", "have", "had", "must"}
    | {"needs", "need", "you", "your", "please", "first", "before", "tool", "call", "again"}
    | {"error", "fix", "try", "all"}
)


def unescaped(text: str) -> str:
    """The text without the marks that writing it as JSON, or as code, put into it."""
    return text.replace("\\\\", "\\").replace('\\"', '"').replace("\\n", "\n")


def without_echo(text: str, args: Any) -> str:
    """The text without the model's own arguments, where it repeats them whole."""
    if not isinstance(args, dict):
        return text
    for form in (repr(args), json.dumps(args), json.dumps(args, separators=(",", ":"))):
        text = text.replace(form, " ")
    return text


def sentences(text: str) -> list[str]:
    """The text by sentences and lines."""
    next_one, end_of_quote = r"\s+(?=[A-Z\"'`{(\[])", r"(?=[\"”»](?:\s*[,}\]]|$))"
    parts = re.split(rf"(?<=[.!?;])(?:{next_one}|{end_of_quote})|\n+", text)
    return [part for part in parts if part.strip()]


def stops(text: str) -> bool:
    """Whether the text says not to do it again, whatever is changed."""
    return any(
        _NOT_AGAIN.search(each) and (not _BUT_CHANGED.search(each) or _BUT_BY_SOMEBODY.search(each))
        for each in sentences(text)
    )


def asking(text: str) -> Literal["plainly", "in a case", ""]:
    """Whether the user is to be asked: plainly, or in a case that the sentence names."""
    said: Literal["in a case", ""] = ""
    for each in sentences(text):
        found = _ASK.search(each)
        if found is None or _NEGATED.search(each[: found.start()]):
            continue
        if not _CONDITION.search(each[: found.start()]):
            return "plainly"
        said = "in a case"
    return said


def waiting(text: str) -> float | None:
    """The seconds to wait before the same call, or None where the text speaks of no later."""
    said = [each for each in sentences(text) if _LATER.search(each)]
    for each in said:
        until, found = _UNTIL.search(each), _DURATION.search(each)
        if until:
            return _seconds_until(until[1])
        if found:
            return float(found[1] or found[3]) * _UNITS[(found[2] or "s")[0].lower()]
        if re.search(r"\ban? (?:hour|day)\b", each, re.IGNORECASE):
            return 3600.0
    return 0.0 if said else None


def _seconds_until(moment: str) -> float:
    try:
        when = datetime.fromisoformat(moment)
    except ValueError:
        return FAR_S
    return (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds()


def objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every JSON object in the text, and where it begins."""
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        try:
            data, end = decoder.raw_decode(text, at)
        except ValueError:
            at = text.find("{", at + 1)
            continue
        yield at, data
        inner = (each for each in data.values() if isinstance(each, dict) and "name" in each)
        yield from ((at, each) for each in inner)
        at = text.find("{", end)


def offered(sentence: str) -> Iterator[list[str]]:
    """The values that the sentence offers, by each wording that offers some."""
    for found in _OFFERS.finditer(sentence):
        whole = sentence[found.end() :]
        in_quotes = sentence[: found.end()].count('"') % 2
        for tail in (whole.split('"')[0], whole) if in_quotes else (whole,):
            values = _values(found[0], tail)
            if values:
                yield values
                break


def _values(wording: str, tail: str) -> list[str]:
    """The values after a wording that offers some; an example is none."""
    if _EXAMPLE.search(re.split(r"['\"`]", tail)[0]):
        return []
    quoted = _quoted(tail)
    if quoted or not _WEAKLY.match(wording) or "one of" in wording:
        return quoted or _listed(tail)
    return _listed(tail) if re.match(r"\W*\w+(?:, \w+)*,? or \w+\W*$", tail) else []


def _quoted(tail: str) -> list[str]:
    """The values of a list whose members stand in quotes."""
    values, at = [], 0
    for found in _QUOTED.finditer(tail):
        between = tail[at : found.start()]
        if not re.fullmatch(r"[\s,;/|\[({]*(?:or|and)?\s*" if values else r"[^,]{0,40}", between):
            break
        values.append(found[1])
        at = found.end()
    return values


def _listed(tail: str) -> list[str]:
    inside = re.match(r"[^\[\](){}]*[\[({]([^\])}]+)[\])}]", tail)
    tail = inside[1] if inside else re.split(r"[.;!?](?:\s|$)|\n|\s-\s", tail)[0]
    parts = re.split(r"\s*(?:,|\||/|\bor\b|\band\b)\s*", tail.strip(" :.?!"))
    values = [part.strip(" '\"`:;.?!()[]{}") for part in parts]
    return [value for value in values if value and len(value.split()) <= 3]


def bounds(sentence: str) -> tuple[float | None, float | None, bool] | None:
    """The lowest and the highest that the sentence allows, and whether it is a length."""
    is_length = _LENGTH.search(sentence) is not None
    found = _BETWEEN.search(sentence)
    if found:
        return float(found[1]), float(found[2]), is_length
    low, high = _AT_LEAST.search(sentence), _AT_MOST.search(sentence)
    if low is None and high is None:
        return None
    lowest, highest = (float(each[1].replace(",", "")) if each else None for each in (low, high))
    return lowest, highest, is_length


def formats(text: str) -> list[Callable[[Any], bool]]:
    """What the text asks of a value's form, as tests of a value."""
    shapes = [shape for said, shape in _SHAPES if re.search(said, text, re.IGNORECASE)]
    shapes += re.findall(r"\^(\S+?)\$", text)
    example = _EXAMPLE_OF.search(text)
    if example:
        shapes.append(_shape_of(example[1].rstrip(".,")))
    tests = [_matching(shape) for shape in shapes]
    if _WHOLE.search(text):
        tests.append(lambda value: isinstance(value, int) and not isinstance(value, bool))
    if _DECIMAL.search(text):
        tests.append(lambda value: as_number(value) is not None)
    return tests


def _matching(pattern: str) -> Callable[[Any], bool]:
    try:
        compiled = re.compile(pattern)
    except re.error:
        return lambda _value: True
    return lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None


def _shape_of(example: str) -> str:
    """The pattern of an example: letters before a mark stand as they are, digits are any digits."""
    head = re.match(r"[A-Za-z]+(?=[-_])", example)
    fixed = head[0] if head else ""
    rest = re.sub(r"\d+", "0", example[len(fixed) :])
    parts = (r"[A-Za-z]" if c.isalpha() else r"\d+" if c == "0" else re.escape(c) for c in rest)
    return re.escape(fixed) + "".join(parts)


def near(one: Any, other: Any) -> float:
    """How near two values are: 1 is equal; numbers are equal or not near at all."""
    first, second = as_number(one), as_number(other)
    if first is not None or second is not None:
        return float(first == second)
    a, b = (re.sub(r"[^a-z0-9]", "", str(each).lower()) for each in (one, other))
    if not a or not b:
        return 0.0
    if a == b:
        return 1.0
    if min(len(a), len(b)) == 1:
        return 0.8 * float(a[0] == b[0])
    return 0.9 if a in b or b in a else SequenceMatcher(None, a, b).ratio()


def nearest(value: str, others: list[str]) -> str | None:
    """The nearest of the others, if one is."""
    marks = sorted(((near(value, other), other) for other in others), reverse=True)
    if not marks or marks[0][0] < 0.5:
        return None
    tied = len(marks) > 1 and marks[0][0] == marks[1][0]
    return None if tied else marks[0][1]


def as_number(value: Any) -> float | None:
    """The number a value is, also where it is written as text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    is_written = isinstance(value, str) and re.fullmatch(r"-?\d+(?:\.\d+)?", value.strip())
    return float(value) if is_written else None


def names(text: str, place: str) -> bool:
    """Whether the text names the parameter at this place."""
    name = place.rsplit(".", 1)[-1]
    loose = re.escape(name).replace("_", "[ _-]?")
    if len(name) < 3:
        marked = rf"['\"`]{loose}['\"`]|\b{loose}:"
        return re.search(marked, text) is not None
    return re.search(rf"(?<![a-z0-9_]){loose}(?![a-z0-9_])", text, re.IGNORECASE) is not None


def stems(text: str) -> set[str]:
    """The content words of a text or a name by their stems, also two words written as one."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", text)
    found = re.findall(r"[a-z]+", spaced.lower())
    joined = {_stem(a + b) for a, b in pairwise(found)}
    return {_stem(word) for word in found if word not in _SMALL} | joined


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s", "d", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
