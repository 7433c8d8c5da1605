"""What a sentence demands, in JSON Schema words: bounds, lengths, types, formats, patterns, choices.

Works on one cleaned sentence. "must be greater than 5" is a demand (`exclusiveMinimum`); "7 is
greater than 5" is a complaint, and so the opposite bound.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from selfcorrect.model import JSON

_LONGEST: Final = 1500
_N: Final = r"[-−+]?\d{1,15}(?:,\d{3})*(?:\.\d{1,12})?(?:e[+-]?\d{1,3})?(?![\w]|\.\d)"
_OF: Final = r"(?: (?:value|length|size|number|count|limit|of|is|for|was|=|allowed|permitted|:))*[ :=]{0,3}[\"'(\[]?"

_PATTERNS: Final[tuple[tuple[str, str], ...]] = (
    ("between", rf"\bbetween ({_N})(?: \w+)? and ({_N})"),
    ("between", rf"\b(?:in|within|of|from|out of|outside|outside of)(?: the| a| permitted| valid| allowed)*"
                rf"(?: (?:range|interval))?(?: of| from| is)?[ :]{{0,2}}(?:[\[(]({_N}) ?, ?({_N})[\])]|[\[(]?({_N}) ?(?:to|and|-|–|—|\.\.\.?|…|through) ?({_N}))"),
    ("between", rf"({_N}) ?<=? ?\w{{1,30}} ?<=? ?({_N})"),
    ("between", rf"\brange[ :=(\[]{{1,4}}({_N}) ?(?:to|-|–|,|\.\.\.?|…) ?({_N})"),
    ("ge", rf"(?:>=|≥|=>|greater than or equal to|greater or equal (?:to|than)|(?:more|larger|higher|bigger) than or equal to"
           rf"|equal to or (?:greater|more|larger|higher) than|at least|no (?:less|fewer|smaller|lower|shorter) than"
           rf"|not (?:be )?(?:less|fewer|smaller|lower|shorter|below|under)(?: than)?|can(?:no|')t be (?:less|fewer|smaller|lower|shorter) than)"
           rf"(?: the)?(?: minimum)?{_OF}({_N})"),
    ("le", rf"(?:<=|≤|=<|less than or equal to|(?:less|lower|smaller) or equal (?:to|than)|(?:fewer|smaller|lower) than or equal to"
           rf"|equal to or (?:less|fewer|smaller|lower) than|at most|no (?:more|greater|larger|longer|higher) than|up to"
           rf"|not (?:be )?(?:more|greater|larger|longer|higher|above|over|exceed)(?: than)?|can(?:no|')t (?:be (?:more|greater|larger|longer|higher) than|exceed))"
           rf"(?: the)?(?: maximum)?{_OF}({_N})"),
    ("ge", rf"\bmin(?:imum)?(?:[_ -](?:allowed|value|length|len|size|items))*(?: (?:value|length|number|size|of|allowed|is|characters?|items))*{_OF}({_N})"),
    ("le", rf"\bmax(?:imum)?(?:[_ -](?:allowed|value|length|len|size|items|limit))*(?: (?:value|length|number|size|of|allowed|is|characters?|items|permitted))*{_OF}({_N})"),
    ("le", rf"\b(?:exceed(?:s|ed|ing)?|over|above|beyond)(?: (?:the|a|an|its|limit|maximum|allowed|permitted|upper|length|size|of|bound))*{_OF}({_N})"),
    ("le", rf"\blimit(?:ed)?(?: (?:is|of|to|:))*[ :=(]{{1,3}}({_N})"),
    ("ge", rf"({_N}) or (?:more|greater|larger|higher|above|longer)"),
    ("le", rf"({_N}) or (?:less|fewer|smaller|lower|below|shorter)"),
    ("le", rf"({_N})[- ](?:character|char|byte|item|element|word|digit)s? (?:limit|maximum|max)"),
    ("gt", rf"(?<![<=])(?:>|(?:strictly )?(?:greater|more|larger|longer|higher|bigger) than)(?! or) ?(?:the )?{_OF}({_N})"),
    ("lt", rf"(?<![>=])(?:<|(?:strictly )?(?:less|fewer|smaller|shorter|lower) than|below|under)(?! or) ?(?:the )?{_OF}({_N})"),
    ("multiple", rf"(?:multiples? of|divisible by){_OF}({_N})"),
    ("le", rf"\b(?:var)?char(?:acter)?(?: varying)?\(({_N})\)"),
    ("exactly", rf"\b(?:exactly|length (?:must be|of|is)|must be|expected|expects|requires?|not) ({_N})(?:[- ]| of )(?:characters?|chars?|digits?|bytes?|items?|elements?|letters?|hex)"),
)  # fmt: skip
_COMPILED: Final = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _PATTERNS)

_POSITIVE: Final = re.compile(r"\b(?:a |finite )?(?<!non-)(?<!non)positive\b", re.IGNORECASE)
_NOT_NEGATIVE: Final = re.compile(
    r"\bnon-?negative\b|(?:must not|cannot|can't|may not|should not|can not|not) be negative"
    r"|negative \S{1,40}(?: \S{1,20}){0,3} (?:not|in)\w* ?(?:allowed|supported|permitted|valid)?",
    re.IGNORECASE,
)
_SIZE: Final = re.compile(
    r"\b(character|char(?:acter)?(?: varying)?(?=\()|varchar|char|letter|digit|byte|symbol|octet|item|element|entr(?:y|ie)|value|row|member"
    r"|propert(?:y|ie)|key|long|short|length|size|too (?:long|short|many|few))s?\b",
    re.IGNORECASE,
)
_DEMAND: Final = re.compile(
    r"\b(?:must|should|shall|has to|have to|need|needs|required?|requires|ensure|expect\w{0,3}|be|only"
    r"|allowed|valid|want|accepts?)\b",
    re.IGNORECASE,
)

TYPES: Final = MappingProxyType(
    {
        "str": "string", "string": "string", "text": "string", "varchar": "string", "char": "string",
        "unicode": "string", "bytes": "string", "int": "integer", "integer": "integer",
        "int32": "integer", "int64": "integer", "int8": "integer", "int16": "integer",
        "bigint": "integer", "smallint": "integer", "long": "integer", "u32": "integer",
        "u64": "integer", "i32": "integer", "i64": "integer", "usize": "integer", "uint": "integer",
        "uint64": "integer", "number": "number", "numeric": "number", "float": "number",
        "float64": "number", "f64": "number", "double": "number", "decimal": "number",
        "real": "number", "bool": "boolean", "boolean": "boolean", "list": "array",
        "array": "array", "sequence": "array", "tuple": "array", "vec": "array", "iterable": "array",
        "dict": "object", "object": "object", "dictionary": "object", "map": "object",
        "mapping": "object", "record": "object", "hash": "object", "struct": "object", "null": "null",
        "none": "null", "nil": "null", "nonetype": "null",
    }
)  # fmt: skip
FORMATS: Final = MappingProxyType(
    {
        "date": "date", "datetime": "date-time", "date-time": "date-time", "timestamp": "date-time",
        "timestamptz": "date-time", "datetime.datetime": "date-time", "datetime.date": "date",
        "time": "time", "duration": "duration", "interval": "duration", "email": "email",
        "e-mail": "email", "email address": "email", "e-mail address": "email", "idn-email": "email",
        "url": "uri", "uri": "uri", "http url": "uri", "uuid": "uuid", "guid": "uuid",
        "ipv4": "ipv4", "ipv6": "ipv6", "ip": "ipv4", "ip address": "ipv4", "inet": "ipv4",
        "ipv4 address": "ipv4", "ipv6 address": "ipv6", "hostname": "hostname", "json": "json",
        "regex": "regex", "regular expression": "regex", "json-pointer": "json-pointer",
        "base64": "base64", "objectid": "objectid", "hex": "hex", "phone number": "phone",
        "credit card number": "credit-card", "cidr": "cidr", "mac address": "mac", "slug": "slug",
        "xml": "xml",
    }
)  # fmt: skip
_TYPE_WORD: Final = "|".join(sorted((*TYPES, *FORMATS), key=len, reverse=True))
_A_TYPE: Final = re.compile(
    r"(?:\b(?:expect(?:ed|s|ing)?(?: (?:type|value of type|input of type))?|must be(?: of)?(?: type)?|should be(?: of)?"
    r"|is not(?: of)?(?: type)?|not(?: of)?(?: type)?|for type|to type|to be(?: of type)?|requires?|valid types?:"
    r"|of type|needs?(?: to be)?|instance of|as|into|to|want(?:ed|s)?|invalid|type:?|expects)"
    r"|\A(?:enter|provide|use|supply))[:=]?"
    r"(?: (?:a|an|the|valid|type|proper|well-formed|correct|some|one of|iso|value|json|utf-8|class|input syntax for type|literal for))*"
    rf"[ \"'`<(\[‘“]{{1,4}}(?:class )?['\"]?({_TYPE_WORD})(?![\w-])"
    rf"|\b(?:a|an) valid ({_TYPE_WORD})\b|\binvalid (?:input syntax for type )?({_TYPE_WORD})(?: format| string| value| literal| field)?\b",
    re.IGNORECASE,
)
_PATTERN: Final = re.compile(
    r"\b(?:match(?:es|ing)?|satisfy|fit|follow|conform to)(?: (?:the|a|this|required|following|expected))*"
    r"(?: (?:pattern|regex|regexp|regular expression(?: pattern)?|format|expression))?[: ]{1,2}(?=[\"'/^`\\\[(a-zA-Z])",
    re.IGNORECASE,
)
_LIST_HEAD: Final = re.compile(
    r"\b(?:(?:must|should|can|has to|needs to|to)? ?(?:only )?(?:be )?(?:either )?(?:one|any) of(?: the following)?(?: values?| types?| formats?| options?)?"
    r"|(?:(?:valid|allowed|possible|available|accepted|permitted|supported|acceptable|legal|known|existing|candidate|following)"
    r" ?(?:\w{1,20} ){0,3}?(?:values?|options?|choices?|names?|types?|modes?|formats?|tools?|commands?|columns?|units?|keys?|fields?|are|is)(?: are| is| include)?)"
    r"|choose from|choices(?: are)?|options(?: are)?|try one of|in|is not in|not in|(?:is )?none of|supports?(?: only)?|expected(?: one)?|input should be|must be|should be|got one of|allowed|use)"
    r"[:=]?(?= ?[\n\t ]*[\"'`\[({‘“«]|: ?\w| \w+[,|])",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(
    r"[\s\[({,|;:/]*(?:(?:or|and|und|oder)\s+)?"
    r"(?:\"([^\"\n]{0,120})\"|'([^'\n]{0,120})'|`([^`\n]{0,120})`|‘([^’\n]{0,120})’|“([^”\n]{0,120})”|«([^»\n]{0,120})»"
    r"|([\w.+-][\w.+/-]{0,60}))(?=[\s\])},|;./]|\Z)"
)
_STOP: Final = frozenset("the a an is are was but got received found for to of in with not be as at by this that".split())  # noqa: SIM905


def constraint_in(text: str) -> dict[str, JSON]:
    """The demand of a sentence as a JSON Schema fragment; empty if it states none.

    >>> constraint_in("Ensure this value is greater than or equal to 1.")
    {'minimum': 1}
    >>> constraint_in("'coach' must be one of 'economy', 'business'")
    {'enum': ['economy', 'business']}
    """
    text = text[:_LONGEST]
    bounds = _bounds(text)
    if bounds:
        return bounds
    choices = choices_in(text)
    if choices:
        return {"enum": list(choices)}
    if (match := _PATTERN.search(text)) is not None and (pattern := _regex(text, match.end())):
        return {"pattern": pattern}
    for match in list(_A_TYPE.finditer(text))[:4]:
        word = next(group for group in match.groups() if group).lower()
        if word in FORMATS:
            return {"format": FORMATS[word]}
        return {"type": TYPES[word]}
    if _NOT_NEGATIVE.search(text):
        return {"minimum": 0}
    if _POSITIVE.search(text):
        return {"exclusiveMinimum": 0}
    return {}


def choices_in(text: str) -> tuple[JSON, ...]:
    """The values that a sentence lists as allowed: "one of a, b or c", "valid values are: …"."""
    for head in list(_LIST_HEAD.finditer(text))[:6]:
        items = tuple(_items(text, head.end()))
        if len(items) >= 2 or (items and head[0].lower().rstrip(": ").endswith(("one of", "values are"))):
            return items
    return ()


def _items(text: str, position: int) -> Iterator[JSON]:
    quoted = False
    for _ in range(200):
        match = _ITEM.match(text, position)
        if match is None:
            return
        group = match.lastindex or 0
        value = match[group]
        bare = group == 7
        if bare and (quoted or value.lower() in _STOP):
            return
        quoted = quoted or not bare
        yield _plain(value.rstrip(".") if bare else value, bare=bare)
        position = match.end()
        tail = text[position : position + 8]
        if not re.match(r"[\])}]?\s*(?:,|\||;|/|or\b|and\b|\n\s*\S)", tail) or tail[:1] in "])}":
            return


def _plain(value: str, *, bare: bool) -> JSON:
    if bare:
        try:
            return json.loads(value) if value not in ("NaN", "Infinity") else value
        except ValueError:
            return value
    return value


def _bounds(text: str) -> dict[str, JSON]:
    found: dict[str, JSON] = {}
    for name, pattern in _COMPILED:
        match = pattern.search(text)
        if match is None:
            continue
        if name in ("gt", "lt") and found:
            continue
        around = text[max(0, match.start() - 80) : match.end() + 40]
        sized = _sized(around)
        numbers = [_number(group) for group in match.groups() if group]
        if name == "between" and len(numbers) == 2:
            return _pair(sized, *numbers)
        if name == "exactly":
            return _pair(sized, numbers[0], numbers[0])
        if name == "multiple":
            return {"multipleOf": numbers[0]}
        if name in ("gt", "lt") and not _DEMAND.search(text[max(0, match.start() - 40) : match.start()]):
            name = {"gt": "le", "lt": "ge"}[name]
        key = _keyword(name, sized)
        value = numbers[0]
        if sized and name in ("gt", "lt") and isinstance(value, int):
            value += 1 if name == "gt" else -1
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


def _number(text: str) -> int | float:
    plain = text.replace(",", "").replace("−", "-").lstrip("+")
    value = float(plain)
    return int(value) if value.is_integer() and "e" not in plain and "." not in plain else value


def _regex(text: str, start: int) -> str | None:
    quote = text[start : start + 1]
    if quote in "\"'/`":
        end = text.find(quote, start + 1)
        while end > 0 and text[end - 1] == "\\":
            end = text.find(quote, end + 1)
        return text[start + 1 : end] if end > start + 1 else None
    end = next((i for i in range(start, len(text)) if text[i] in " \n"), len(text))
    piece = text[start:end].rstrip(".,;")
    return piece if any(char in piece for char in "^$[\\*+{") else None
