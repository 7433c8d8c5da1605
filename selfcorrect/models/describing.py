"""What is wrong, in words for a model or a person: what is at fault, and what is asked for.

Names and values that come from outside stand in backticks or quotation marks, bounded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from selfcorrect.kernel.texts import literal, quoted, redact, spelled
from selfcorrect.model import JSON, OWN_CHECKS

_MOST: Final = 12
_LONGEST_VALUE: Final = 60
_LONGEST_NAME: Final = 120
_LONGEST_OWN: Final = 200
_PLAIN_NAME: Final = re.compile(r"[\w$@-]+", re.ASCII)

_WRONG: Final[Mapping[str, str]] = {
    "missing_param": "is required and missing",
    "extra_param": "is not a parameter of this tool",
    "wrong_type": "has the wrong type",
    "enum": "is not one of the allowed values",
    "range": "is out of range",
    "length": "has the wrong length",
    "format_date": "is not in the required date or time format",
    "format_pattern": "does not match the required pattern",
    "format_other": "is not in the required format",
    "malformed_json": "could not be read",
    "unknown_resource": "refers to something that was not found",
    "duplicate": "refers to something that exists already",
    "business_rule": "breaks a rule of the tool",
    "syntax": "has a syntax error",
    "none": "was refused",
}
"""What is wrong with parameters that are known to be at fault, by category."""

_NOBODY: Final[Mapping[str, str]] = {
    "unknown_resource": "something that the call refers to was not found",
    "duplicate": "what the call would make exists already",
    "business_rule": "a rule of the tool forbids it as things stand",
}
"""The same where nobody knows which parameter it is, if anyone."""

KINDS: Final[Mapping[str, str]] = {
    "transient": "the service is unavailable at the moment",
    "rate_limit": "the service was called too often",
    "timeout": "the tool did not answer in time",
    "auth": "access was refused",
    "quota": "a budget or limit is used up",
    "not_found": "something that the call refers to was not found",
    "conflict": "the call clashes with the present state",
    "permanent": "the tool cannot do this",
    "cancelled": "the call was cancelled",
}

_INPUT: Final = frozenset({"validation", "not_found", "conflict"})
"""Kinds of errors that the caller's input has part in."""

_BOUNDS: Final[Mapping[str, str]] = {
    "type": "type",
    "format": "format",
    "strptime": "format",
    "pattern": "pattern",
    "const": "exactly",
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
    "multipleOf": "a multiple of",
    "minLength": "length at least",
    "maxLength": "length at most",
    "minItems": "items at least",
    "maxItems": "items at most",
    "minProperties": "keys at least",
    "maxProperties": "keys at most",
}
_FORMS: Final[Mapping[str, str]] = {
    "date": "YYYY-MM-DD",
    "date-time": "YYYY-MM-DDThh:mm:ssZ",
    "time": "hh:mm:ss",
    "duration": "such as P1DT2H",
}


def parameter(path: str) -> str:
    """A parameter as the model writes it, in backticks: `/args/a/0/b` is `a[0].b`.

    A name with anything but letters, digits and `_ - $ @` in it is quoted as data.

    >>> print(parameter("/args/order/lines/0/qty"), parameter("/raw"), parameter("/args/a b/c"))
    `order.lines[0].qty` the call `["a b"].c`
    """
    if path in ("/raw", "", "/args"):
        return "the call"
    if path == "/name":
        return "the name of the tool"
    name = redact(spelled(path if path.startswith("/") else (path,), _key))
    return f"`{name}`" if len(name) <= _LONGEST_NAME else f"`{name[: _LONGEST_NAME - 1]}…`"


def _key(name: str) -> str:
    if _PLAIN_NAME.fullmatch(name) and len(name) <= _LONGEST_NAME:
        return name
    return f"[{quoted(name, _LONGEST_VALUE)}]".replace("`", "'")


def described(finding: Mapping[str, Any]) -> str:
    """One finding in words: what is at fault, what is wrong with it, what is asked for."""
    category, kind = str(finding.get("category") or "none"), str(finding.get("kind") or "internal")
    constraint = finding.get("constraint") or {}
    if category == "unknown_tool":
        return _no_such_tool(finding, constraint)
    if is_precondition(finding):
        return "something else has to be done, or has to hold, first"
    paths = list(finding.get("paths") or ())
    subject = ", ".join(map(parameter, paths[:_MOST]))
    wanted = _wanted(constraint, finding)
    if subject and not is_about_the_call(finding):
        return f"{KINDS.get(kind) or 'the tool failed'} ({subject})"
    if subject:
        text = f"{subject} {_WRONG.get(category, _WRONG['none'])}"
        first = _first_type(finding)
        if first == "MalformedCall":
            said = own_words((first,), str(finding.get("text") or ""))
            text += f": {said}" if said else ""
        return text + wanted
    if category in _NOBODY:
        return _NOBODY[category] + wanted
    if category != "none" and is_about_the_call(finding):
        return f"an argument {_WRONG.get(category, _WRONG['none'])}{wanted}"
    return KINDS.get(kind, "")


def is_about_the_call(finding: Mapping[str, Any]) -> bool:
    """Whether the caller's input has part in it, and not the tool or its service alone."""
    return finding.get("kind") in _INPUT or _first_type(finding) in OWN_CHECKS


def is_precondition(finding: Mapping[str, Any]) -> bool:
    """Whether something else has to hold before the call can be done, whatever its arguments."""
    state = (finding.get("kind"), finding.get("category"))
    return state == ("conflict", "business_rule") or state[1] == "precondition"


def own_words(types: Sequence[str], text: str) -> str:
    """What selfcorrect's own checks say of a call, on one line; nothing of what a tool says.

    >>> own_words(("MalformedCall",), "cut off inside a string (line 1, column 47)")
    'cut off inside a string (line 1, column 47)'
    >>> own_words(("builtins.ValueError",), "call me again with amount=10")
    ''
    """
    return quoted(text, _LONGEST_OWN)[1:-1] if is_own(types) else ""


def is_own(types: Sequence[str]) -> bool:
    """Whether a finding of these classes is one of selfcorrect's own checks of the arguments."""
    return tuple(types[:1]) in (("InvalidArgs",), ("MalformedCall",))


def _first_type(finding: Mapping[str, Any]) -> str:
    return str(next(iter(finding.get("types") or ()), ""))


def _no_such_tool(finding: Mapping[str, Any], constraint: Mapping[str, Any]) -> str:
    offered = [str(name) for name in constraint.get("enum") or ()]
    near = [str(name) for name in finding.get("suggestions") or ()]
    names = list(dict.fromkeys((*near, *offered)))
    if not names:
        return "there is no such tool"
    listed = ", ".join(_tool_name(name) for name in names[:_MOST])
    more = ", and more" if len(names) > _MOST else ""
    return f"there is no such tool; use the exact name of one of: {listed}{more}"


def _tool_name(name: str) -> str:
    plain = re.fullmatch(r"[\w.:/-]{1,64}", name, re.ASCII) and redact(name) == name
    return name if plain else quoted(name, _LONGEST_VALUE)


def _wanted(constraint: Mapping[str, Any], finding: Mapping[str, Any]) -> str:
    """What is asked for, as far as schema or error say it, and what is nearest to what stands."""
    words = []
    allowed = constraint.get("enum")
    near = [item for item in finding.get("suggestions") or () if not isinstance(item, dict | list)]
    if isinstance(allowed, list | tuple) and allowed:
        ranked = [*(value for value in near if value in allowed), *allowed]
        distinct = list({value_shown(value): None for value in ranked})
        more = f", and {len(distinct) - _MOST} more" if len(distinct) > _MOST else ""
        words.append(f"allowed: {', '.join(distinct[:_MOST])}{more}")
        near = [value for value in near if value not in allowed]
    for key, word in _BOUNDS.items():
        if key in constraint and (shown := _bound(key, constraint[key])):
            words.append(f"{word} {shown}")
    if near:
        words.append(f"nearest: {', '.join(map(value_shown, near[:_MOST]))}")
    return f" ({', '.join(words)})" if words else ""


def _bound(key: str, value: JSON) -> str:
    if key == "type":
        names = value if isinstance(value, list | tuple) else [value]
        return " or ".join(
            name if re.fullmatch(r"[a-z]{1,20}", name) else value_shown(name)
            for name in map(str, names)
        )
    if key == "format" and isinstance(value, str):
        form = f" ({_FORMS[value]})" if value in _FORMS else ""
        plain = re.fullmatch(r"[a-z-]{1,30}", value)
        return f"{value if plain else value_shown(value)}{form}"
    return value_shown(value)


def value_shown(value: JSON) -> str:
    """A value as JSON, in a few words."""
    return literal(value, _LONGEST_VALUE)


def seconds_shown(wait: float) -> str:
    """A time to wait: `30 seconds`, `15 minutes`."""
    seconds = float(wait)
    if seconds < 120:
        return f"{seconds:.3g} seconds"
    return f"{seconds / 60:.3g} minutes" if seconds < 7_200 else f"{seconds / 3_600:.3g} hours"
