"""What the words of errors mean in JSON Schema: types, formats, and what a keyword is about."""

from __future__ import annotations

from typing import Final

from selfcorrect.model import Category, JsonObject
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
CATEGORIES: Final = by_word(
    {
        Category.MISSING_PARAM: "required",
        Category.EXTRA_PARAM: "additionalProperties",
        Category.ENUM: "enum",
        Category.RANGE: "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
        Category.LENGTH: """
            minLength maxLength minItems maxItems minProperties maxProperties uniqueItems""",
        Category.FORMAT_PATTERN: "pattern",
        Category.WRONG_TYPE: "type",
    }
)
"""What each keyword is about."""

_DATE_FORMATS: Final = ("date", "date-time", "time", "duration")


def category_of_constraint(constraint: JsonObject) -> Category | None:
    """What a constraint is about; None where it says nothing."""
    for keyword, value in constraint.items():
        if keyword in CATEGORIES:
            return CATEGORIES[keyword]
        if keyword == "format":
            return Category.FORMAT_DATE if value in _DATE_FORMATS else Category.FORMAT_OTHER
    return None
