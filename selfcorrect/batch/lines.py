"""One line of a file of JSON lines: read strictly, written safely."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, TypeAlias

from selfcorrect.drawing.visible import visible
from selfcorrect.model import JSON
from selfcorrect.plain import plain, problem
from selfcorrect.redaction import redact


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: its value, or what is wrong with it."""

    where: str
    value: JSON = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Raw:
    """One line of a file as it was read.

    Attributes:
        name: The file's name.
        number: The line's number, from 1.
        content: Its bytes.
        cut: It is longer than a line may be, and this is its beginning.
    """

    name: str
    number: int
    content: bytes
    cut: bool = False


Item: TypeAlias = Raw | Line
"""One line on its way: as it was read, or what it holds."""


def read(raw: Raw) -> Line | None:
    """What a line holds, or None if it is empty."""
    where = f"{raw.name}:{raw.number}"
    if raw.cut:
        return Line(where, error=f"{where}: longer than {len(raw.content):,} bytes")
    try:
        text = raw.content.decode("utf-8-sig" if raw.number == 1 else "utf-8").strip()
        return Line(where, parse(text)) if text else None
    except UnicodeDecodeError as error:
        return Line(where, error=f"{where}: not UTF-8 at byte {error.start + 1}")
    except ValueError as error:
        return Line(where, error=f"{where}: {error}")


def is_empty(raw: Raw) -> bool:
    """Whether there is nothing in a line of a file, which then is left out."""
    return raw.content.strip() in (b"", b"\xef\xbb\xbf")


def as_item(value: Any, number: int) -> Item:
    """A line that comes from a caller rather than from a file: its text, or what it holds."""
    if isinstance(value, str):
        return Raw("line", number, value.encode("utf-8", "surrogatepass"))
    if isinstance(value, bytes):
        return Raw("line", number, value)
    return Line(f"line:{number}", value)


def line_of(item: Item) -> Line:
    """What a line holds; one that is empty, or no JSON, holds an error."""
    if isinstance(item, Raw):
        empty = Line("", error=f"{item.name}:{item.number}: an empty line")
        return read(item) or empty
    if (wrong := problem(item.value)) is None:
        return item
    return Line(item.where, error=f"{item.where}: at {wrong[0] or 'the top'}: {wrong[1]}")


def parse(text: str) -> JSON:
    """Read JSON strictly: no duplicate keys, no NaN, no number beyond the range of a float.

    Raises:
        ValueError: If the text is not such JSON, naming the place where that is known.
    """
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_number
        )
    except json.JSONDecodeError as error:
        at = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno}"
        raise ValueError(f"not JSON: {error.msg} at {at}") from None
    except RecursionError:
        raise ValueError("not readable: nested too deeply") from None


def dump(value: JSON) -> str:
    r"""The value as JSON on one line, safe to print and to read back.

    >>> print(dump({"city": "Zürich", "note": "\x1b[2J\ud800"}))
    {"city": "Zürich", "note": "\u001b[2J\ud800"}
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        text = json.dumps(plain(value), ensure_ascii=False)
    return visible(text)


def clip(text: str, width: int = 200) -> str:
    """The text without its secrets, cut to a width; what is left out is counted."""
    text = redact(text)
    if len(text) <= width:
        return text
    return f"{text[:width]}… ({len(text) - width:,} more characters)"


def _object(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    made: dict[str, JSON] = {}
    for key, value in pairs:
        if key in made:
            raise ValueError(f"not readable: the key {dump(key)} appears twice")
        made[key] = value
    return made


def _constant(name: str) -> JSON:
    raise ValueError(f"not JSON: {name} is not a JSON number")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"not readable: the number {text[:20]} is too large")
    return value
