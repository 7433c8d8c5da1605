"""Types, formats and patterns that a sentence asks for."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from selfcorrect.model import JSON

TYPES: Final = MappingProxyType(
    {
        "str": "string",
        "string": "string",
        "text": "string",
        "varchar": "string",
        "char": "string",
        "unicode": "string",
        "bytes": "string",
        "int": "integer",
        "integer": "integer",
        "int32": "integer",
        "int64": "integer",
        "int8": "integer",
        "int16": "integer",
        "bigint": "integer",
        "smallint": "integer",
        "long": "integer",
        "u32": "integer",
        "u64": "integer",
        "i32": "integer",
        "i64": "integer",
        "usize": "integer",
        "uint": "integer",
        "uint64": "integer",
        "number": "number",
        "numeric": "number",
        "float": "number",
        "float64": "number",
        "f64": "number",
        "double": "number",
        "decimal": "number",
        "real": "number",
        "bool": "boolean",
        "boolean": "boolean",
        "list": "array",
        "array": "array",
        "sequence": "array",
        "tuple": "array",
        "vec": "array",
        "iterable": "array",
        "dict": "object",
        "object": "object",
        "dictionary": "object",
        "map": "object",
        "mapping": "object",
        "record": "object",
        "hash": "object",
        "struct": "object",
        "null": ("null"),
        "none": "null",
        "nil": "null",
        "nonetype": "null",
    }
)
FORMATS: Final = MappingProxyType(
    {
        "date": "date",
        "datetime": "date-time",
        "date-time": "date-time",
        "timestamp": "date-time",
        "timestamptz": "date-time",
        "datetime.datetime": "date-time",
        "datetime.date": "date",
        "time": "time",
        "duration": "duration",
        "interval": "duration",
        "email": "email",
        "e-mail": "email",
        "email address": "email",
        "e-mail address": "email",
        "idn-email": "email",
        "url": "uri",
        "uri": "uri",
        "http url": "uri",
        "uuid": "uuid",
        "guid": "uuid",
        "ipv4": "ipv4",
        "ipv6": "ipv6",
        "ip": "ipv4",
        "ip address": "ipv4",
        "inet": "ipv4",
        "ipv4 address": "ipv4",
        "ipv6 address": "ipv6",
        "hostname": "hostname",
        "json": "json",
        "regex": "regex",
        "regular expression": "regex",
        "json-pointer": "json-pointer",
        "base64": "base64",
        "objectid": "objectid",
        "hex": "hex",
        "phone number": "phone",
        "credit card number": "credit-card",
        "cidr": "cidr",
        "mac address": "mac",
        "slug": "slug",
        "xml": "xml",
    }
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
