"""Types and formats that a sentence asks for."""

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
