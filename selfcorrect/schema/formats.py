"""The JSON Schema formats that are asserted: exact checks that take linear time.

Both validation engines are given these same functions, so that they cannot disagree. A format that
is not listed here is an annotation, as JSON Schema says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from types import MappingProxyType
from typing import Final, TypeAlias

FormatCheck: TypeAlias = Callable[[str], bool]

LOCAL: Final = "local:"
"""Prefix of the formats that also take a time without an offset, as pydantic does."""

PATTERN: Final = "pattern:"
"""Prefix of the formats that stand for patterns which no automaton can match."""

_ZONE: Final = r"([Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))"
_TIME: Final = re.compile(rf"([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.\d+)?{_ZONE}", re.ASCII)
_LOCAL_TIME: Final = re.compile(
    r"(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?",
    re.ASCII,
)
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_BYTE: Final = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4: Final = re.compile(rf"{_BYTE}(?:\.{_BYTE}){{3}}", re.ASCII)
_WORD: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LOCAL_PART: Final = re.compile(
    rf'{_WORD}(?:\.{_WORD})*|"(?:[ !#-\[\]-~]|\\[ -~])*"',
)
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DOMAIN: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_PCHAR: Final = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
_REG_NAME: Final = r"(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*"
_USER: Final = r"(?:(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*@)?"
_URI: Final = re.compile(
    rf"[A-Za-z][A-Za-z0-9+.-]*:"
    rf"(?://{_USER}(?:\[(?P<literal>[^\]]*)\]|{_REG_NAME})(?::\d*)?(?:/(?:{_PCHAR}|/)*)?"
    rf"|(?!//)(?:{_PCHAR}|/)*)"
    rf"(?:\?(?:{_PCHAR}|[/?])*)?(?:\#(?:{_PCHAR}|[/?])*)?",
    re.ASCII,
)
_FUTURE_LITERAL: Final = re.compile(r"[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+")
_LONGEST_ADDRESS: Final = 254
_LONGEST_LOCAL_PART: Final = 64


def is_date(text: str) -> bool:
    """Whether this is a day of the calendar in the form of RFC 3339, `full-date`.

    >>> is_date("2024-02-29"), is_date("2024-99-99"), is_date("20240229")
    (True, False, False)
    """
    if len(text) != 10 or text[4] != "-" or text[7] != "-" or not text.isascii():
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_time(text: str) -> bool:
    """Whether this is a time of day with its offset: RFC 3339, `full-time`.

    A leap second counts only where one can be: at 23:59:60 UTC.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        return False
    hour, minute, second, _, sign, offset_hour, offset_minute = match.groups()
    if second != "60":
        return True
    offset = int(offset_hour or 0) * 60 + int(offset_minute or 0)
    utc = int(hour) * 60 + int(minute) - (-offset if sign == "-" else offset)
    return utc % 1440 == 1439


def is_date_time(text: str) -> bool:
    """Whether this is an instant: RFC 3339, `date-time`."""
    return text[10:11] in ("T", "t") and is_date(text[:10]) and is_time(text[11:])


def is_local_time(text: str) -> bool:
    """Whether this is a time of day, with or without seconds and offset."""
    return _LOCAL_TIME.fullmatch(text) is not None


def is_local_date_time(text: str) -> bool:
    """Whether this is a day and a time of day, with or without seconds and offset."""
    return text[10:11] in ("T", "t", " ") and is_date(text[:10]) and is_local_time(text[11:])


def is_email(text: str) -> bool:
    """Whether this is a mailbox of RFC 5321."""
    local, at, domain = text.rpartition("@")
    if not at or len(text) > _LONGEST_ADDRESS or len(local) > _LONGEST_LOCAL_PART:
        return False
    if _LOCAL_PART.fullmatch(local) is None:
        return False
    if domain.startswith("[") and domain.endswith("]"):
        literal = domain[1:-1]
        return is_ipv4(literal) or (literal[:5].lower() == "ipv6:" and is_ipv6(literal[5:]))
    return _DOMAIN.fullmatch(domain) is not None


def is_uuid(text: str) -> bool:
    """Whether this is a UUID of RFC 4122, with its four hyphens."""
    return _UUID.fullmatch(text) is not None


def is_ipv4(text: str) -> bool:
    """Whether this is a dotted-quad address without leading zeros."""
    return _IPV4.fullmatch(text) is not None


def is_ipv6(text: str) -> bool:
    """Whether this is an address of RFC 4291, without a zone."""
    if len(text) > 45 or "%" in text or not text.isascii():
        return False
    from ipaddress import AddressValueError, IPv6Address

    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True


def is_uri(text: str) -> bool:
    """Whether this is a URI of RFC 3986: it has a scheme, and only characters that a URI may have.

    >>> is_uri("https://example.com/a?b#c"), is_uri("example.com"), is_uri("https://a b")
    (True, False, False)
    """
    match = _URI.fullmatch(text)
    if match is None:
        return False
    literal = match["literal"]
    return literal is None or is_ipv6(literal) or _FUTURE_LITERAL.fullmatch(literal) is not None


FORMATS: Final[Mapping[str, FormatCheck]] = MappingProxyType(
    {
        "date": is_date,
        "time": is_time,
        "date-time": is_date_time,
        "email": is_email,
        "uuid": is_uuid,
        "uri": is_uri,
        "ipv4": is_ipv4,
        "ipv6": is_ipv6,
        f"{LOCAL}time": is_local_time,
        f"{LOCAL}date-time": is_local_date_time,
    }
)
