"""Frames: what a sentence demands and proposes, by its shape: `a ≤ v ≤ b`, `one of A, B`.

The slots of a frame become a demand in the words of JSON Schema, or names that are proposed.
"must be greater than 5" is a demand (`exclusiveMinimum`); "7 is greater than 5" is a complaint, and
so the opposite bound.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from selfcorrect.evidence.keywords import FORMATS, TYPES
from selfcorrect.evidence.masking import PRIVATE
from selfcorrect.model import JSON
from selfcorrect.words import word_list

_LONGEST: Final = 1500
_MOST: Final = 10

_N: Final = r"([-−+]?\d{1,15}(?:,\d{3})*(?:\.\d{1,12})?(?:e[+-]?\d{1,3})?(?![\w]|\.\d))"
_OF: Final = (
    r"(?: (?:value|length|size|number|count|limit|of|is|for|was|=|allowed|permitted|characters?"
    r"|items|:))*[ :=]{0,3}[\"'(\[]?"
)
_MORE: Final = r"(?:more|greater|larger|longer|higher|bigger)"
_LESS: Final = r"(?:less|fewer|smaller|lower|shorter)"
_WHAT: Final = r"(?:[_ -]?(?:allowed|value|length|len|size|items|limit))*"
_TO: Final = r"(?:to|and|through|-|–|—|\.\.\.?|…)"


def _frame(name: str, *parts: str) -> tuple[str, re.Pattern[str]]:
    return name, re.compile("".join(parts), re.IGNORECASE)


_BOUNDS: Final = (
    _frame(
        "between",
        r"\b(?:between|(?:in|within|of|from|outside)(?: the| a| permitted| valid| allowed| of)*",
        r"(?: range| interval)?(?: of| from| is)?|range)[ :=]{0,3}",
        rf"(?:[\[(]{_N} ?, ?{_N}[\])]|[\[(]?{_N}(?: \w+)? ?{_TO} ?{_N})",
    ),
    _frame("between", rf"{_N} ?(?:<=?|≤) ?\w{{1,30}} ?(?:<=?|≤) ?{_N}"),
    _frame(
        "ge",
        rf"(?:>=|≥|=>|{_MORE} (?:than )?or equal (?:to|than)|equal to or {_MORE} than|at least",
        rf"|no {_LESS} than|(?:not|can(?:no|')t) (?:be )?(?:{_LESS}|below|under)(?: than)?",
        rf"|\bmin(?:imum)?{_WHAT})(?: the)?(?: minimum)?{_OF}{_N}|{_N} or (?:{_MORE}|above)",
    ),
    _frame(
        "le",
        rf"(?:<=|≤|=<|{_LESS} (?:than )?or equal (?:to|than)|equal to or {_LESS} than|at most",
        rf"|up to|no {_MORE} than|(?:not|can(?:no|')t) (?:be )?(?:{_MORE}|above|over)(?: than)?",
        rf"|\bmax(?:imum)?{_WHAT}|\blimit(?:ed)?(?= (?:is|of|to)|[ :=(])",
        r"|\b(?:exceed(?:s|ed|ing)?|over|above|beyond)(?: (?:an|its|upper|bound))*)",
        rf"(?: (?:the|a))?(?: maximum)?{_OF}{_N}|{_N} or (?:{_LESS}|below)",
        rf"|\b(?:var)?char(?:acter)?(?: varying)?\({_N}\)",
    ),
    _frame("gt", rf"(?<![<=])(?:>|(?:strictly )?{_MORE} than)(?! or) ?(?:the )?{_OF}{_N}"),
    _frame("lt", rf"(?<![>=])(?:<|(?:strictly )?{_LESS} than|below|under)(?! or) ?{_OF}{_N}"),
    _frame("of", rf"(?:\bonly )?{_N} of (?:the )?{_N}"),
    _frame("multiple", rf"(?:multiples? of|divisible by){_OF}{_N}"),
    _frame(
        "exactly",
        rf"\b(?:exactly|length (?:must be|of|is)|must be|expected|expects|requires?|not) {_N}",
        r"(?:[- ]| of )(?:characters?|chars?|digits?|bytes?|items?|elements?|letters?|hex)",
    ),
)
"""Bounds, each with its side; the first of a side counts."""
_SIGN: Final = re.compile(
    r"\bnon-?negative|(?:not|cannot|can't) be negative|\b(?<!non-)(?P<above>positive)\b",
    re.IGNORECASE,
)
_SIZE: Final = re.compile(
    r"\b(?:(?P<Items>item|element|entr(?:y|ie)|row|member|too (?:many|few))"
    r"|(?P<Properties>propert(?:y|ie)|key)"
    r"|(?P<Length>character|(?:var)?char(?:acter)?(?: varying)?(?=\()|char|letter|digit|byte"
    r"|symbol|octet|long(?:er)?|short(?:er)?|length|size|too (?:long|short)))s?\b",
    re.IGNORECASE,
)
"""What is counted, where a bound is none of the value itself."""
_DEMAND: Final = re.compile(
    r"\b(?:must|should|shall|has to|have to|needs?|required?|requires|ensure|expect\w{0,3}|be|only"
    r"|allowed|valid|want|accepts?)\b",
    re.IGNORECASE,
)

_ONE_OF: Final = re.compile(
    r"\b(?:(?:one|any) of(?: the following)?(?: values?| types?| formats?| options?)?"
    r"|(?:valid|allowed|possible|available|accepted|permitted|supported|acceptable|legal"
    r"|known|existing|candidate|following)"
    r" ?(?:\w{1,20} ){0,3}?(?:values?|options?|choices?|names?|types?|modes?|formats?|tools?"
    r"|commands?|columns?|units?|keys?|fields?|are|is)(?: are| is| include)?"
    r"|choose from|choices(?: are)?|options(?: are)?|in|none of|supports?(?: only)?"
    r"|expected(?: one)?|must be|should be|allowed|use)"
    r"[:=]?(?= ?[\n\t ]*[\"'`\[({‘“«]|: ?\w| \w+[,|])",
    re.IGNORECASE,
)
_MEANT: Final = re.compile(
    r"\b(?:did you (?:mean|intend)|(?:perhaps|maybe|probably|possibly) you (?:meant|want(?:ed)?"
    r"|intended)|you (?:may|might|probably) (?:have meant|want(?:ed)?|meant)"
    r"|(?:most )?similar (?:\w{1,20} ){0,3}(?:names?|exists?|is|are|commands?|to|found|options?)"
    r"|(?:closest|nearest|best) (?:match(?:es)?|names?)|suggestions?|candidate (?:\w{1,20} ){1,3}"
    r"|possible (?:options?|alternatives?|matches)|try (?:using |with )?(?=[`'\"])"
    r"|instead,? (?:use|try)|use (?=[`'\"‘“][\w.-]{1,60}[`'\"’”] instead)"
    r"|help: .{0,40}?similar name(?: exists)?:?)"
    r"[\s:,(\[{-]*(?:(?:the|a|an|to|reference|column|table|alias|field|argument|parameter"
    r"|option|flag|command|attribute|function|method|key|one of|these|this|either|use|using|say"
    r"|named?|is|are|was|instead|type|relation|property|write|call)(?=[\s:,(\[{])[\s:,(\[{]*)*",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(
    r"[\s\[({,|;:/]*(?:(?:or|and|und|oder)\s+)?"
    r"(?:\"([^\"\n]{0,120})\"|'([^'\n]{0,120})'|`([^`'\n]{0,120})[`']|‘([^’\n]{0,120})’"
    r"|“([^”\n]{0,120})”|«([^»\n]{0,120})»"
    r"|((?:[+-]{1,2}|[$@])?[\w.](?:[\w.+/@$-]|:(?=\S)){0,80}))(?=[\s\])},|;./?!]|\Z)"
)
_NEXT: Final = re.compile(r"\s*(?:,|\||;|/|or\b|and\b|\n\s*\S)")
_STOP: Final = frozenset(
    word_list("""
        the a an is are was but got received found for to of in with not be as at by this that one
        it you""")
)

_TYPE_WORD: Final = "|".join(sorted((*TYPES, *FORMATS), key=len, reverse=True))
_EXPECTED: Final = re.compile(
    r"(?:\b(?:expect(?:ed|s|ing)?(?: (?:type|value of type|input of type))?"
    r"|(?:must|should) be(?: of)?(?: type)?|(?:is )?not(?: of)?(?: type)?|for type|to type"
    r"|to be(?: of type)?|requires?|valid types?:"
    r"|of type|needs?(?: to be)?|instance of|as|into|to|want(?:ed|s)?|invalid|type:?)"
    r"|\A(?:enter|provide|use|supply))[:=]?"
    r"(?: (?:a|an|the|valid|type|proper|well-formed|correct|some|one of|iso|value|json|utf-8"
    r"|class|input syntax for type|literal for))*"
    rf"[ \"'`<(\[‘“]{{1,4}}(?:class )?['\"]?({_TYPE_WORD})(?![\w-])"
    rf"|\b(?:an? valid|invalid(?: input syntax for type)?) ({_TYPE_WORD})\b",
    re.IGNORECASE,
)
_MATCHES: Final = re.compile(
    r"\b(?:match(?:es|ing)?|satisfy|fit|follow|conform to)"
    r"(?: (?:the|a|this|required|following|expected))*"
    r"(?: (?:pattern|regex|regexp|regular expression(?: pattern)?|format|expression))?[: ]{1,2}"
    r"(?:([\"'/`])(?P<quoted>(?:\\.|(?!\1).)+)\1"
    r"|(?P<bare>[^ \n]*[\^$\[\\*+{][^ \n]*?)[.,;]?(?:\s|\Z))",
    re.IGNORECASE,
)


_UNKNOWN: Final = re.compile(
    r"\b(?:unknown|unrecogni[sz]ed|unexpected)(?P<marked> (?:parameter|argument|field|key|property"
    r"|attribute|keyword(?: argument)?))?[: ]{1,2}[\"'`‘“]?"
    rf"(?P<name>[\w$@.-]{{1,80}}|{PRIVATE.pattern})[\"'`’”]?(?= ?(?:[.,;)\n]|\Z))",
    re.IGNORECASE,
)
_ORDER: Final = re.compile(
    r"(?P<one>[\w$@.-]{1,80})[\"'`’”]?(?: [a-z']{1,10}){0,3} (?:before|after|earlier than"
    r"|later than)(?: or \w{2,5})?(?: the)? [\"'`‘“]?(?P<other>[\w$@.-]{1,80})",
    re.IGNORECASE,
)


def unknown_in(text: str) -> tuple[str, bool] | None:
    """The name that a text says is not known, and whether it is marked as that of an argument.

    >>> unknown_in("Unknown field: colour")
    ('colour', True)
    """
    match = _UNKNOWN.search(text[:_LONGEST])
    return (match["name"].rstrip("."), bool(match["marked"])) if match else None


def order_in(text: str) -> tuple[str, str] | None:
    """The two names that a text says are out of order.

    >>> order_in("check_in must be before check_out")
    ('check_in', 'check_out')
    """
    match = _ORDER.search(text[:_LONGEST])
    return (match["one"], match["other"].rstrip(".")) if match else None


def constraint_in(text: str) -> dict[str, JSON]:
    """The demand of a sentence as a JSON Schema fragment; empty if it states none.

    >>> constraint_in("DelaySeconds must be >= 0 and <= 900.")
    {'minimum': 0, 'maximum': 900}
    >>> constraint_in("'coach' must be one of 'economy', 'business'")
    {'enum': ['economy', 'business']}
    >>> constraint_in("A valid integer is required.")
    {'type': 'integer'}
    """
    text = text[:_LONGEST]
    if bounds := _bounds(text):
        return bounds
    if choices := _choices(text):
        return {"enum": choices}
    if (match := _MATCHES.search(text)) is not None:
        return {"pattern": match["quoted"] or match["bare"]}
    if (match := _SIGN.search(text)) is not None:
        return {"exclusiveMinimum" if match["above"] else "minimum": 0}
    if (match := _EXPECTED.search(text)) is None:
        return {}
    word = next(group for group in match.groups() if group).lower()
    return {"format": FORMATS[word]} if word in FORMATS else {"type": TYPES[word]}


def suggestions_in(text: str) -> tuple[str, ...]:
    """The names or values that a text proposes, in its order; bounded.

    >>> suggestions_in('unknown command "instal" - maybe you meant "install"')
    ('install',)
    >>> suggestions_in("no field 'nmae'; did you mean name?")
    ('name',)
    """
    heads = list(_MEANT.finditer(text[:8000]))[:4]
    found = (item.rstrip("?.!:;") for head in heads for item, _ in _items(text, head.end()))
    return tuple(dict.fromkeys(filter(None, found)))[:_MOST]


def _bounds(text: str) -> dict[str, JSON]:
    found: dict[str, JSON] = {}
    for name, frame in _BOUNDS:
        match = frame.search(text)
        if match is None or (name in ("gt", "lt") and found):
            continue
        counted = _SIZE.search(text, max(0, match.start() - 80), match.end() + 40)
        sized = counted.lastgroup if counted else None
        first, *more = (_number(group) for group in match.groups() if group)
        if name == "of":  # 3 of 2 are too many, only 2 of 3 too few; 2 of 3 are 2 of 3
            side = "le" if first > more[0] else "ge" if match[0][0] in "oO" else ""
            found |= {_keyword(side, sized): more[0]} if side else {}
            continue
        if name == "multiple":
            return {"multipleOf": first}
        if more or name == "exactly":
            return {_keyword("ge", sized): first, _keyword("le", sized): (more or [first])[0]}
        demanded = _DEMAND.search(text, max(0, match.start() - 40), match.start())
        side = name if demanded else {"gt": "le", "lt": "ge"}.get(name, name)
        if sized and isinstance(first, int):
            first += {"gt": 1, "lt": -1}.get(side, 0)
        found.setdefault(_keyword(side, sized), first)
    return found


def _keyword(side: str, sized: str | None) -> str:
    low = "min" if side[0] == "g" else "max"
    if sized:
        return low + sized
    return f"{low}imum" if side[1] == "e" else f"exclusive{low.title()}imum"


def _number(text: str) -> int | float:
    plain = text.replace(",", "").replace("−", "-").lstrip("+")
    value = float(plain)
    return int(value) if value.is_integer() and "e" not in plain and "." not in plain else value


def _choices(text: str) -> list[JSON]:
    for head in list(_ONE_OF.finditer(text))[:6]:
        items = list(_items(text, head.end()))
        outright = head[0].lower().rstrip(": ").endswith(("one of", "values are"))
        if len(items) >= 2 or (items and outright):
            return [_plain(item.rstrip(".")) if bare else item for item, bare in items]
    return []


def _plain(value: str) -> JSON:
    try:
        return json.loads(value) if value not in ("NaN", "Infinity") else value
    except ValueError:
        return value


def _items(text: str, position: int) -> Iterator[tuple[str, bool]]:
    """What a text lists from a place on, and whether it stands there without quotes."""
    quoted = False
    for _ in range(200):
        match = _ITEM.match(text, position)
        if match is None:
            return
        value, bare = match[match.lastindex or 0], match.lastindex == 7
        if bare and (quoted or value.lower() in _STOP):
            return
        quoted = quoted or not bare
        yield value, bare
        position = match.end()
        if not _NEXT.match(text, position):
            return
