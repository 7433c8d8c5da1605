"""What the tags of one parameter hold: `<parameter name="q">x</parameter>`, `<q>x</q>`.

Values in tags are text; a parameter's schema says whether it is meant as something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from selfcorrect.model import JSON
from selfcorrect.plain import two_values
from selfcorrect.reading.contract import Fault
from selfcorrect.reading.strict import strict_json


def put_parameter(
    args: dict[str, JSON],
    text: str,
    mark: re.Match[str],
    close: str,
    known: Mapping[str, object],
    holds_another: Callable[[str], object],
) -> int | Fault:
    """Read the parameter whose tag a mark found, and put it into the arguments.

    Args:
        args: The arguments so far; the new one is put in.
        text: The whole text.
        mark: The opening tag, with the parameter's `name`.
        close: The closing tag.
        known: The tool's parameters and their schemas.
        holds_another: Whether there is another parameter in a value.

    Returns:
        Where the parameter ends, or why it cannot be read; its `reach` is where that was seen.
    """
    key, end = mark["name"], text.find(close, mark.end())
    if end < 0:
        return Fault(mark.end(), "cut off inside a parameter", cut=True, reach=len(text))
    raw = text[mark.end() : end]
    if holds_another(raw):
        unclear = "a parameter inside another one: its end is not clear"
        return Fault(mark.end(), unclear, reach=end)
    value = _value(raw, known.get(key))
    if key in args and (why := two_values("argument", key, args[key], value)) is not None:
        return Fault(mark.start(), why, reach=end)
    args[key] = value
    return end + len(close)


def _value(raw: str, schema: object) -> JSON:
    """The value of a tag's text: text where the schema allows it, else JSON if it is JSON."""
    if len(raw) > 1 and raw[0] == raw[-1] == "\n":
        raw = raw[1:-1]
    kinds = _types(schema)
    if "string" in kinds or not kinds:
        return raw
    read = strict_json(raw.strip())
    if read is not None:
        return read.value
    words: Mapping[str, JSON] = {"True": True, "False": False, "None": None}
    return words.get(raw.strip(), raw)


def _types(schema: object) -> set[Any]:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return set(kind) if isinstance(kind, list) else {kind} if kind else set()
