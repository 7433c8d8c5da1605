"""What drivers print around a message: `(1146, "…")`, `('42S02', "[42S02] …")`, `{code: …}`, tags.

Each step takes off one such layer and keeps the code or the SQLSTATE that it names. One pass each,
over the first and last few hundred characters at most.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_TUPLE: Final = re.compile(r"\A\(\s*(?:(-?\d{1,6})|'([\w.-]{1,20})'),\s*b?(?=['\"])")
_MAPPED: Final = re.compile(r"\A\{\s*'([^'\n]{1,200})': (?=\()")
_RECORD: Final = re.compile(
    r"\A([A-Za-z]\w{1,60})[({]((?:\w{1,20}=[\w.-]{1,60}, ?){0,4})"
    r"(?:message|msg|str|reason|detail)=(?=[\"'])"
)
_NAMED: Final = re.compile(r"\b(?:name|code|error_?code)=([A-Za-z][\w.-]{2,60})")
_BRACES: Final = re.compile(
    r"\A\{code: ([\w.-]{1,120})\}\s*\{message: (.{1,4000})\}\s*\Z", re.DOTALL
)
_TAGS: Final = re.compile(r"\A(?:\[([^\]\n]{1,80})\] ?){2,8}(?=\S)")
_ONE_TAG: Final = re.compile(r"\A\[([0-9A-Z]{5})\] (?=\S)")
_STATE: Final = re.compile(r"\A(?:\w{1,12} )?\(([0-9A-Z]{5})\): (?=\S)")
_STATED: Final = re.compile(r"\bSQLSTATE[ :=]{1,2}\[?([0-9A-Z]{5})\b")
_LEADING: Final = re.compile(
    r"\A([A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,8})(?: [-–—:] |: ?)(?=\S)"
)
_TRAILING: Final = re.compile(
    r" \(([A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,8})\)(?: \(version [^)\n]{1,80}\))?\s*\Z"
)
_TAIL: Final = 400


@dataclass(frozen=True, slots=True)
class Printed:
    """A message without one layer of print, and the code or status that the layer named."""

    text: str
    code: str | None = None
    status: int | str | None = None


def unprinted(text: str) -> Printed | None:
    r"""The message without its outermost layer of print; None where there is none.

    >>> unprinted("(1146, \"Table 'shop.ordrs' doesn't exist\")")
    Printed(text="Table 'shop.ordrs' doesn't exist", code='1146', status=None)
    >>> unprinted("NOT_FOUND - no queue 'jobs'")
    Printed(text="no queue 'jobs'", code='NOT_FOUND', status=None)
    """
    return (
        _of_tuple(text) or _of_record(text) or _of_braces(text) or _of_tags(text) or _of_code(text)
    )


def _of_tuple(text: str) -> Printed | None:
    if match := _MAPPED.match(text):
        text = text[match.end() :]
    if (match := _TUPLE.match(text)) is None:
        return None
    inner = _literal(text, match.end())
    if inner is None or not inner.strip():
        return None
    if match[2]:
        return Printed(inner, status=match[2]) if _is_state(match[2]) else Printed(inner, match[2])
    return Printed(inner, match[1])


def _of_record(text: str) -> Printed | None:
    """`KafkaError{code=X,val=3,str="…"}`, `UserError(type=…, name=X, message="…")`."""
    if (match := _RECORD.match(text)) is None:
        return None
    inner = _literal(text, match.end())
    named = _NAMED.search(match[2])
    return Printed(inner, named[1] if named else None) if inner and inner.strip() else None


def _of_braces(text: str) -> Printed | None:
    match = _BRACES.match(text)
    return Printed(match[2], match[1]) if match else None


def _of_tags(text: str) -> Printed | None:
    """`[42S02] [Microsoft][ODBC Driver][SQL Server]Invalid …`: who speaks, in brackets."""
    if match := _ONE_TAG.match(text):
        if _is_state(match[1]):
            return Printed(text[match.end() :], status=match[1])
        return None
    match = _TAGS.match(text)
    return Printed(text[match.end() :]) if match else None


def _of_code(text: str) -> Printed | None:
    if match := _LEADING.match(text):
        return Printed(text[match.end() :], match[1])
    if match := _STATE.match(text):
        return Printed(text[match.end() :], status=match[1]) if _is_state(match[1]) else None
    tail = text[-_TAIL:]
    if match := _TRAILING.search(tail):
        return Printed(text[: len(text) - len(tail) + match.start()], match[1])
    return None


def sqlstate_in(text: str) -> str | None:
    """The SQLSTATE that a text names: "SQLSTATE=42704", "SQLSTATE[23000]: …"."""
    match = _STATED.search(text[:1000])
    return match[1] if match and _is_state(match[1]) else None


def _is_state(text: str) -> bool:
    return len(text) == 5 and any(char.isdigit() for char in text)


def _literal(text: str, start: int) -> str | None:
    """The string literal at `start`, with its escapes undone, if it closes."""
    quote = text[start]
    out: list[str] = []
    index = start + 1
    while index < len(text):
        char = text[index]
        if char == quote:
            return "".join(out)
        if char == "\\" and index + 1 < len(text):
            index += 1
            char = {"n": "\n", "t": "\t", "r": ""}.get(text[index], text[index])
        out.append(char)
        index += 1
    return None
