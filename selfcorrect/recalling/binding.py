"""Values by where they come from: `{args.path}`, `{error.list1}`, `{request.date}`.

A learnt entry holds no value of a run. It says where the value stands in the failing call, its
error or its request, and names a constant only where the schema itself does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from selfcorrect.model import JSON, JsonObject
from selfcorrect.recalling.named import equal

SHAPES: Final[Mapping[str, re.Pattern[str]]] = {
    "date": re.compile(r"(?<![\w-])\d{4}-\d\d-\d\d(?![\w-])"),
    "email": re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+"),
    "file": re.compile(r"(?<![\w./@-])[\w-]{1,80}\.[A-Za-z]{1,5}(?![\w/.])"),
    "code": re.compile(r"(?<![\w-])[A-Z]{3,10}(?![\w-])"),
    "quoted": re.compile(r"(?<!\w)['\"]([^'\"\n]{1,200})['\"](?!\w)"),
    "number": re.compile(r"(?<![\w.-])\d{1,15}(?:\.\d{1,6})?(?![\w-]|\.\d)"),
}
"""Tokens of a request by shape: a value is bound to one only where it is the only one."""

PARTS: Final = ("name", "folder", "first", "list")
"""What may be taken of a text: the last step of a path, what stands before it, the first step; and
a list of the value alone."""

_EXPRESSION: Final = re.compile(
    r"\{(args\.[^{}|]{1,200}|error\.(?:text|number|token|list)\d{1,2}|request\.[a-z]+)"
    r"(?:\|([a-z]+))?\}"
)
_LONGEST_REQUEST: Final = 4_000
_SEPARATOR: Final = re.compile(r"[/\\]")


@dataclass(frozen=True, slots=True)
class Sources:
    """Where values may come from.

    Attributes:
        args: The arguments of the failing call.
        error: What its error holds, by name: see `Template.values`.
        request: What the user asked for.
    """

    args: JsonObject
    error: Mapping[str, JSON] = field(default_factory=dict)
    request: str | None = None


class Unbound(LookupError):
    """A value is not where an entry says that it is."""


def is_bound(value: Any) -> bool:
    """Whether this says where a value comes from, rather than being one."""
    return isinstance(value, str) and value.startswith("{") and value.endswith("}")


def fault_of(value: Any) -> str | None:
    """What is wrong with an expression, or None."""
    if not is_bound(value):
        return None
    match = _EXPRESSION.fullmatch(value)
    if match is None:
        return f"{value!r} names no source: write {{args.…}}, {{error.text1}} or {{request.date}}"
    source, part = match[1], match[2]
    if source.startswith("request.") and source[8:] not in SHAPES:
        return f"a request has {', '.join(SHAPES)}, not {source[8:]!r}"
    if part is not None and part not in PARTS:
        return f"of a value one takes {', '.join(PARTS)}, not {part!r}"
    return None


def bound(value: JSON, sources: Sources, wanted: JsonObject | None = None) -> JSON:
    """The value that an entry means.

    >>> bound("{args.path|name}", Sources({"path": "a/b.txt"}))
    'b.txt'

    Args:
        value: A constant, which is returned, or an expression.
        sources: Where it may come from.
        wanted: The schema of the place that it is for: a number is read from a text.

    Raises:
        Unbound: If there is no such value, or more than one.
    """
    if not is_bound(value):
        return value
    match = _EXPRESSION.fullmatch(value)
    if match is None:
        raise Unbound(f"{value} names no source")
    found = _source(match[1], sources)
    if match[2]:
        found = _part(found, match[2])
    return _typed(found, wanted or {})


def expressions(value: JSON, sources: Sources, wanted: JsonObject) -> Iterator[str]:
    """Every expression that gives this value, the nearest source first.

    >>> list(expressions("b.txt", Sources({"path": "a/b.txt"}), {"type": "string"}))
    ['{args.path|name}']
    """
    names = [f"error.{key[6:]}" for key, item in sources.error.items() if isinstance(item, list)]
    names += [f"args.{key}" for key in sources.args]
    names += [key for key, item in sources.error.items() if not isinstance(item, list)]
    names += [f"request.{shape}" for shape in SHAPES] if sources.request else []
    for part in (None, *PARTS):
        for name in names:
            expression = f"{{{name}|{part}}}" if part else f"{{{name}}}"
            if _EXPRESSION.fullmatch(expression) is None:
                continue
            try:
                found = bound(expression, sources, wanted)
            except Unbound:
                continue
            if _same(found, value) and not (part and _is_whole(found, name, sources)):
                yield expression


def _is_whole(found: JSON, name: str, sources: Sources) -> bool:
    """Whether a part is the whole: it then says no more than its source."""
    try:
        return _same(_source(name, sources), found)
    except Unbound:
        return False


def _same(one: JSON, other: JSON) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return sorted(map(repr, one)) == sorted(map(repr, other))
    return equal(one, other)


def _source(name: str, sources: Sources) -> JSON:
    kind, _, key = name.partition(".")
    if kind == "args":
        if key in sources.args:
            return sources.args[key]
        raise Unbound(f"the call has no {key}")
    if kind == "error":
        if name in sources.error:
            return sources.error[name]
        raise Unbound(f"the error holds no {key}")
    pattern = SHAPES.get(key)
    text = (sources.request or "")[:_LONGEST_REQUEST]
    found = {match[match.lastindex or 0] for match in pattern.finditer(text)} if pattern else set()
    if len(found) != 1:
        raise Unbound(f"the request holds {len(found) or 'no'} {key}")
    return found.pop()


def _part(value: JSON, part: str) -> JSON:
    if part == "list":
        if isinstance(value, list):
            raise Unbound("a list is one already")
        return [value]
    if not isinstance(value, str):
        raise Unbound(f"{part} is taken of a text")
    steps = [step for step in _SEPARATOR.split(value) if step]
    if len(steps) < 2:
        raise Unbound("the text is no path")
    return {"name": steps[-1], "first": steps[0], "folder": "/".join(steps[:-1])}[part]


def _typed(value: JSON, wanted: JsonObject) -> JSON:
    """A text as the number that a schema asks for; anything else as it is."""
    if not isinstance(value, str):
        return value
    kind = wanted.get("type")
    try:
        if kind == "integer":
            return int(value)
        if kind == "number":
            number = float(value)
            return int(number) if number.is_integer() and "." not in value else number
    except (ValueError, OverflowError):
        raise Unbound("the text is no number") from None
    return value
