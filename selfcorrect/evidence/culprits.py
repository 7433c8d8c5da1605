"""What an error means in the light of the arguments: classes that only both together can show.

A bare `'zed'` is a key that was looked up; whether it is the tool's bug or an unknown thing that
the caller asked for, the arguments tell. What is found here is added in front of the exception's
own classes, so that a rule of a map can ask for it like for any other class.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from selfcorrect.model import JSON, Category, ErrorKind

CLASSES: Final = MappingProxyType(
    {
        "ArgumentNotFound": (ErrorKind.NOT_FOUND, Category.UNKNOWN_RESOURCE),
        "ArgumentKeyMissing": (ErrorKind.VALIDATION, Category.MISSING_PARAM),
        "ArgumentIsZero": (ErrorKind.VALIDATION, Category.RANGE),
        "ArgumentIsNull": (ErrorKind.VALIDATION, Category.WRONG_TYPE),
        "ArgumentOutOfRange": (ErrorKind.VALIDATION, Category.RANGE),
        "ArgumentLength": (ErrorKind.VALIDATION, Category.LENGTH),
        "ArgumentCode": (ErrorKind.VALIDATION, Category.UNKNOWN_RESOURCE),
        "AnswerNotJson": (ErrorKind.INTERNAL, Category.MALFORMED_JSON),
        "SecretMissing": (ErrorKind.AUTH, Category.NONE),
    }
)
"""Each class, with the kind and category that it stands for."""

_BY_ZERO: Final = re.compile(
    r"\b(?:division|divide|divided|modulo|modulus) by (?:zero|0)\b|DivisionByZero", re.IGNORECASE
)
_NULL: Final = re.compile(
    r"'?NoneType'?|\bnull\b(?! byte)|\bundefined\b|\bNone\b|\bnil\b(?! pointer)", re.IGNORECASE
)
_COMPLAINS: Final = re.compile(
    r"object (?:is not|has no|does not)|not (?:iterable|subscriptable|callable)|unsupported operand"
    r"|must be|cannot|can't|expected|argument",
    re.IGNORECASE,
)
_INDEX: Final = re.compile(r"\bindex (?:\S{1,20} )?(?:is )?out of (?:range|bounds)", re.IGNORECASE)
_UNPACK: Final = re.compile(r"values to unpack")
_BARE: Final = re.compile(r"\A\W{0,3}([\w.$@:/-]{1,80})\W{0,3}\Z")
_SECRET: Final = re.compile(
    r"\A[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)[A-Z0-9_]*\Z"
)
_ATTRIBUTE: Final = re.compile(r"has no attribute|is not defined|cannot import name", re.IGNORECASE)
_CODE: Final = frozenset({"code", "script", "expression", "expr", "program", "template", "source"})
_INDEXES: Final = frozenset(
    {"index", "idx", "position", "pos", "offset", "row", "column", "line", "n", "i"}
)
_WRAPPERS: Final = ("ToolException", "ToolError", "ToolExecutionError", "ToolInvocationError")
_LOOKUPS: Final = ("KeyError", "IndexError", "AttributeError", "LookupError")


def culprits(
    text: str,
    types: Sequence[str],
    leaves: Sequence[tuple[str, JSON]],
    lacking: Sequence[str],
    *,
    echoed: bool,
) -> tuple[str, ...]:
    """The classes that text and arguments show together; usually none.

    Args:
        text: The sentence with its echoes put back.
        types: The exception's class names, as far as known.
        leaves: Pointer and value of every place in the arguments.
        lacking: Names of declared places that the arguments lack.
        echoed: Whether the sentence is nothing but an argument's value.
    """
    first = types[0].rpartition(".")[2] if types else ""
    found = None
    if first in _LOOKUPS or not types or _is_wrapper(types[0]):
        found = _looked_up(text, first, leaves, lacking, echoed=echoed)
    found = found or _complaint(text, leaves)
    if first == "JSONDecodeError" and not any(_texty(value) for _, value in leaves):
        found = found or "AnswerNotJson"
    return (found,) if found else ()


def _looked_up(
    text: str,
    first: str,
    leaves: Sequence[tuple[str, JSON]],
    lacking: Sequence[str],
    *,
    echoed: bool,
) -> str | None:
    """What a text means that is nothing but a key or a name."""
    if echoed:
        return "ArgumentNotFound"
    bare = _BARE.match(text)
    if bare is None:
        return None
    if first in _LOOKUPS and bare[1] in _shown([value for _, value in leaves]):
        return "ArgumentNotFound"
    if bare[1] in lacking:
        return "ArgumentKeyMissing"
    return "SecretMissing" if first == "KeyError" and _SECRET.match(bare[1]) else None


def _complaint(text: str, leaves: Sequence[tuple[str, JSON]]) -> str | None:
    """What a complaint of the language means, where an argument explains it."""
    values = [value for _, value in leaves]
    if _BY_ZERO.search(text) and (any(_zero(value) for value in values) or _free(leaves)):
        return "ArgumentIsZero"
    if _INDEX.search(text) and _index(leaves):
        return "ArgumentOutOfRange"
    if _UNPACK.search(text) and any(isinstance(value, list) for value in values):
        return "ArgumentLength"
    if _ATTRIBUTE.search(text) and any(_last(path) in _CODE for path, _ in leaves):
        return "ArgumentCode"
    if _NULL.search(text) and _COMPLAINS.search(text):
        return "ArgumentIsNull" if values.count(None) == 1 else None
    return None


def _is_wrapper(name: str) -> bool:
    """Whether a class only says that some tool failed."""
    return name.startswith(("ToolMessage", "CallToolResult")) or name.endswith(_WRAPPERS)


def _shown(values: Sequence[JSON]) -> set[str]:
    return {str(value) for value in values if isinstance(value, str | int | float)}


def _zero(value: JSON) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == 0


def _texty(value: JSON) -> bool:
    return isinstance(value, str) and not value.startswith(("http://", "https://", "/"))


def _last(path: str) -> str:
    return path.rpartition("/")[2].lower()


def _free(leaves: Sequence[tuple[str, JSON]]) -> bool:
    names = {"query", "sql", "command", "statement"} | _CODE
    return any(_last(path) in names and isinstance(value, str) for path, value in leaves)


def _index(leaves: Sequence[tuple[str, Any]]) -> bool:
    numbers = [
        path
        for path, value in leaves
        if isinstance(value, int) and not isinstance(value, bool) and not isinstance(value, Mapping)
    ]
    return len(numbers) == 1 or any(_last(path) in _INDEXES for path in numbers)
