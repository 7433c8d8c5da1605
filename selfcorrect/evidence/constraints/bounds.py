"""Bounds in prose: ranges, lengths, multiples; demands and complaints.

"must be greater than 5" is a demand (`exclusiveMinimum`); "7 is greater than 5" is a complaint, and
so the opposite bound.
"""

from __future__ import annotations

import re
from typing import Final

from selfcorrect.model import JSON

_N: Final = r"[-−+]?\d{1,15}(?:,\d{3})*(?:\.\d{1,12})?(?:e[+-]?\d{1,3})?(?![\w]|\.\d)"
_OF: Final = (
    r"(?: (?:value|length|size|number|count|limit|of|is|for|was|=|allowed|permitted|:))*[ "
    r":=]{0,3}[\"'(\[]?"
)

_MORE: Final = r"(?:more|greater|larger|longer|higher|bigger)"
_LESS: Final = r"(?:less|fewer|smaller|lower|shorter)"


def _form(name: str, *parts: str) -> tuple[str, re.Pattern[str]]:
    return name, re.compile("".join(parts), re.IGNORECASE)


_FORMS: Final = (
    _form("between", rf"\bbetween ({_N})(?: \w+)? and ({_N})"),
    _form(
        "between",
        r"\b(?:in|within|of|from|out of|outside|outside of)(?: the| a| permitted| valid| allowed)*",
        r"(?: (?:range|interval))?(?: of| from| is)?[ :]{0,2}",
        rf"(?:[\[(]({_N}) ?, ?({_N})[\])]",
        rf"|[\[(]?({_N}) ?(?:to|and|-|–|—|\.\.\.?|…|through) ?({_N}))",
    ),
    _form("between", rf"({_N}) ?<=? ?\w{{1,30}} ?<=? ?({_N})"),
    _form("between", rf"\brange[ :=(\[]{{1,4}}({_N}) ?(?:to|-|–|,|\.\.\.?|…) ?({_N})"),
    _form(
        "ge",
        rf"(?:>=|≥|=>|{_MORE} (?:than )?or equal (?:to|than)|equal to or {_MORE} than|at least",
        rf"|no {_LESS} than|not (?:be )?(?:{_LESS}|below|under)(?: than)?",
        rf"|can(?:no|')t be {_LESS} than)(?: the)?(?: minimum)?{_OF}({_N})",
    ),
    _form(
        "le",
        rf"(?:<=|≤|=<|{_LESS} (?:than )?or equal (?:to|than)|equal to or {_LESS} than|at most",
        rf"|up to|no {_MORE} than|not (?:be )?(?:{_MORE}|above|over|exceed)(?: than)?",
        rf"|can(?:no|')t (?:be {_MORE} than|exceed))(?: the)?(?: maximum)?{_OF}({_N})",
    ),
    *(
        _form(
            name,
            rf"\b{word}(?:imum)?(?:[_ -](?:allowed|value|length|len|size|items|limit))*",
            r"(?: (?:value|length|number|size|of|allowed|is|characters?|items|permitted))*",
            rf"{_OF}({_N})",
        )
        for name, word in (("ge", "min"), ("le", "max"))
    ),
    _form(
        "le",
        r"\b(?:exceed(?:s|ed|ing)?|over|above|beyond)(?: (?:the|a|an|its|limit|maximum|allowed",
        rf"|permitted|upper|length|size|of|bound))*{_OF}({_N})",
    ),
    _form("le", rf"\blimit(?:ed)?(?: (?:is|of|to|:))*[ :=(]{{1,3}}({_N})"),
    _form("ge", rf"({_N}) or (?:{_MORE}|above)"),
    _form("le", rf"({_N}) or (?:{_LESS}|below)"),
    _form("gt", rf"(?<![<=])(?:>|(?:strictly )?{_MORE} than)(?! or) ?(?:the )?{_OF}({_N})"),
    _form(
        "lt", rf"(?<![>=])(?:<|(?:strictly )?{_LESS} than|below|under)(?! or) ?(?:the )?{_OF}({_N})"
    ),
    _form("multiple", rf"(?:multiples? of|divisible by){_OF}({_N})"),
    _form("le", rf"\b(?:var)?char(?:acter)?(?: varying)?\(({_N})\)"),
    _form(
        "exactly",
        rf"\b(?:exactly|length (?:must be|of|is)|must be|expected|expects|requires?|not) ({_N})",
        r"(?:[- ]| of )(?:characters?|chars?|digits?|bytes?|items?|elements?|letters?|hex)",
    ),
)
"""Ways of saying a bound, each with its side; the first of a side counts."""

_SIGN: Final = re.compile(
    r"\bnon-?negative|(?:not|cannot|can't) be negative|\b(?<!non-)(?P<above>positive)\b",
    re.IGNORECASE,
)
_SIZE: Final = re.compile(
    r"\b(character|char(?:acter)?(?: varying)?(?=\()|varchar|char|letter|digit|byte|symbol"
    r"|octet|item|element|entr(?:y|ie)|value|row|member"
    r"|propert(?:y|ie)|key|long(?:er)?|short(?:er)?|length|size|too (?:long|short|many|few))s?\b",
    re.IGNORECASE,
)
_DEMAND: Final = re.compile(
    r"\b(?:must|should|shall|has to|have to|need|needs|required?|requires|ensure|expect\w{0,3}"
    r"|be|only"
    r"|allowed|valid|want|accepts?)\b",
    re.IGNORECASE,
)


def bounds_in(text: str) -> dict[str, JSON]:
    """The bounds that a sentence states, as a JSON Schema fragment.

    >>> bounds_in("DelaySeconds must be >= 0 and <= 900.")
    {'minimum': 0, 'maximum': 900}
    """
    found: dict[str, JSON] = {}
    for name, pattern in _FORMS:
        match = pattern.search(text)
        if match is None:
            continue
        if name in ("gt", "lt") and found:
            continue
        demanded = _DEMAND.search(text[max(0, match.start() - 40) : match.start()])
        around = text[max(0, match.start() - 80) : match.end() + 40]
        sized = _sized(around)
        numbers = [_number(group) for group in match.groups() if group]
        if name == "between" and len(numbers) == 2:
            return _pair(sized, *numbers)
        if name == "exactly":
            return _pair(sized, numbers[0], numbers[0])
        if name == "multiple":
            return {"multipleOf": numbers[0]}
        side = name if demanded else {"gt": "le", "lt": "ge"}.get(name, name)
        key = _keyword(side, sized)
        value = numbers[0]
        if sized and side in ("gt", "lt") and isinstance(value, int):
            value += 1 if side == "gt" else -1
        found.setdefault(key, value)
    return found


def _keyword(name: str, sized: str | None) -> str:
    low = name in ("ge", "gt")
    if sized:
        return f"{'min' if low else 'max'}{sized}"
    side = "Minimum" if low else "Maximum"
    return side.lower() if name in ("ge", "le") else f"exclusive{side}"


def _pair(sized: str | None, low: float, high: float) -> dict[str, JSON]:
    names = (f"min{sized}", f"max{sized}") if sized else ("minimum", "maximum")
    return {names[0]: low, names[1]: high}


def _sized(text: str) -> str | None:
    words = [match[1].lower() for match in _SIZE.finditer(text)]
    word = next((word for word in words if word != "value"), None)
    if word is None:
        return None
    if word.startswith(("item", "element", "entr", "row", "member", "too many", "too few")):
        return "Items"
    if word.startswith(("propert", "key")):
        return "Properties"
    return "Length"


def sign_in(text: str) -> dict[str, JSON]:
    """The sign that a sentence asks for: "must be positive", "cannot be negative"."""
    match = _SIGN.search(text)
    if match is None:
        return {}
    return {"exclusiveMinimum": 0} if match["above"] else {"minimum": 0}


def _number(text: str) -> int | float:
    plain = text.replace(",", "").replace("−", "-").lstrip("+")
    value = float(plain)
    return int(value) if value.is_integer() and "e" not in plain and "." not in plain else value
