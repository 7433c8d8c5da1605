"""Types, formats and patterns that a sentence asks for."""

from __future__ import annotations

import re
from typing import Final

from selfcorrect.model import JSON
from selfcorrect.words import by_word

TYPES: Final = by_word(
    {
        "string": "str string text varchar char unicode bytes",
        "integer": """
            int integer int8 int16 int32 int64 bigint smallint long u32 u64 i32 i64 usize uint
            uint64""",
        "number": "number numeric float float64 f64 double decimal real",
        "boolean": "bool boolean",
        "array": "list array sequence tuple vec iterable",
        "object": "dict object dictionary map mapping record hash struct",
        "null": "null none nil nonetype",
    }
)
FORMATS: Final = by_word(
    {
        "date": "date, datetime.date",
        "date-time": "datetime, date-time, timestamp, timestamptz, datetime.datetime",
        "time": "time",
        "duration": "duration, interval",
        "email": "email, e-mail, email address, e-mail address, idn-email",
        "uri": "url, uri, http url",
        "uuid": "uuid, guid",
        "ipv4": "ipv4, ip, ip address, inet, ipv4 address",
        "ipv6": "ipv6, ipv6 address",
        "hostname": "hostname",
        "json": "json",
        "json-pointer": "json-pointer",
        "regex": "regex, regular expression",
        "base64": "base64",
        "objectid": "objectid",
        "hex": "hex",
        "phone": "phone number",
        "credit-card": "credit card number",
        "cidr": "cidr",
        "mac": "mac address",
        "slug": "slug",
        "xml": "xml",
    },
    between=",",
)
_TYPE_WORD: Final = "|".join(sorted((*TYPES, *FORMATS), key=len, reverse=True))
_A_TYPE: Final = re.compile(
    r"(?:\b(?:expect(?:ed|s|ing)?(?: (?:type|value of type|input of type))?|must be(?: of)?(?: "
    r"type)?|should be(?: of)?"
    r"|is not(?: of)?(?: type)?|not(?: of)?(?: type)?|for type|to type|to be(?: of type)?"
    r"|requires?|valid types?:"
    r"|of type|needs?(?: to be)?|instance of|as|into|to|want(?:ed|s)?|invalid|type:?|expects)"
    r"|\A(?:enter|provide|use|supply))[:=]?"
    r"(?: (?:a|an|the|valid|type|proper|well-formed|correct|some|one of|iso|value|json|utf-8"
    r"|class|input syntax for type|literal for))*"
    rf"[ \"'`<(\[‘“]{{1,4}}(?:class )?['\"]?({_TYPE_WORD})(?![\w-])"
    rf"|\b(?:a|an) valid ({_TYPE_WORD})\b|\binvalid (?:input syntax for type "
    rf")?({_TYPE_WORD})(?: format| string| value| literal| field)?\b",
    re.IGNORECASE,
)
_PATTERN: Final = re.compile(
    r"\b(?:match(?:es|ing)?|satisfy|fit|follow|conform to)(?: (?:the|a|this|required|following"
    r"|expected))*"
    r"(?: (?:pattern|regex|regexp|regular expression(?: pattern)?|format|expression))?[: "
    r"]{1,2}(?=[\"'/^`\\\[(a-zA-Z])",
    re.IGNORECASE,
)


def type_in(text: str) -> dict[str, JSON]:
    """The type or format that a sentence asks for, as a JSON Schema fragment.

    >>> type_in("A valid integer is required.")
    {'type': 'integer'}
    """
    match = _A_TYPE.search(text)
    if match is None:
        return {}
    word = next(group for group in match.groups() if group).lower()
    return {"format": FORMATS[word]} if word in FORMATS else {"type": TYPES[word]}


def pattern_in(text: str) -> str | None:
    """The regular expression that a sentence says must match."""
    match = _PATTERN.search(text)
    return _regex(text, match.end()) if match is not None else None


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
