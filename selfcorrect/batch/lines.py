"""One line of a file of JSON lines: read strictly, written safely."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any, Final, TypeAlias

from selfcorrect.kernel.texts import redact, visible
from selfcorrect.model import JSON
from selfcorrect.plain import TwoValues, one_value, plain, problem

_HEAD: Final = 4_096
_ONE_VALUE: Final = "one object in each line is wanted, as `jq -c '.[]'` writes a list"
"""For a file that begins as one JSON value over many lines."""
_ID: Final = re.compile(r'\{\s*"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,18}\b)')
"""An id that stands first in its line."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: its value, or what is wrong with it.

    Attributes:
        where: File and number of the line.
        value: What it holds.
        error: What is wrong with it, else None.
        id: The `id` of an object, also of one that cannot be read, as far as it shows.
    """

    where: str
    value: JSON = None
    error: str | None = None
    id: JSON = None


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

    @property
    def where(self) -> str:
        """File and number of the line."""
        return f"{self.name}:{self.number}"


Item: TypeAlias = Raw | Line
"""One line on its way: as it was read, or what it holds."""


def read(raw: Raw, *, python: bool = False) -> Line | None:
    """What a line holds, or None if it is empty. `python` as in `parse`."""
    where = raw.where
    form = "utf-8-sig" if raw.number == 1 else "utf-8"
    if raw.cut:
        error = f"{where}: longer than {len(raw.content):,} bytes"
        return Line(where, error=error, id=_id_in(raw.content[:_HEAD].decode(form, "replace")))
    try:
        text = raw.content.decode(form).strip()
    except UnicodeDecodeError as wrong:
        error = f"{where}: not UTF-8 at byte {wrong.start + 1}"
        return Line(where, error=error, id=_id_in(raw.content.decode(form, "replace")))
    if not text:
        return None
    try:
        value = parse(text, python=python)
    except ValueError as wrong:
        told = f"{wrong}; {_ONE_VALUE}" if raw.number == 1 and text in ("[", "{") else str(wrong)
        return Line(where, error=f"{where}: {told}", id=_id_in(text))
    return Line(where, value, id=_id_of(value))


def _id_of(value: JSON) -> JSON:
    return value.get("id") if isinstance(value, Mapping) else None


def _id_in(text: str) -> JSON:
    """The id of a line that cannot be read, if one can be seen, so that its answer has it too."""
    try:
        return _id_of(json.loads(text))
    except (ValueError, RecursionError):
        found = _ID.match(text.strip())
    try:
        return json.loads(found[1]) if found else None
    except ValueError:
        return None


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
        empty = Line(item.where, error=f"{item.where}: an empty line")
        return read(item, python=True) or empty
    found = _id_of(item.value)
    if (wrong := problem(item.value, python=True)) is None:
        return Line(item.where, item.value, item.error, found)
    error = f"{item.where}: at {wrong[0] or 'the top'}: {wrong[1]}"
    return Line(item.where, error=error, id=found if isinstance(found, str | int) else None)


def parse(text: str, *, python: bool = False) -> JSON:
    """Read JSON strictly: no key with two values, no NaN, no number beyond the range of a float.

    Args:
        text: The text.
        python: Whether the numbers that Python writes are read as well: `NaN`, `Infinity`.

    Raises:
        ValueError: If the text is not such JSON, naming the place where that is known.
    """
    numbers: Any = {} if python else {"parse_constant": _constant, "parse_float": _number}
    try:
        return json.loads(text, object_pairs_hook=one_value, **numbers)
    except json.JSONDecodeError as error:
        at = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno}"
        raise ValueError(f"not JSON: {error.msg} at {at}") from None
    except TwoValues as error:
        raise ValueError(f"not readable: {error}") from None
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


def write(stream: IO[str], value: JSON) -> None:
    """Write one line, and hand it on at once so that a reader can follow."""
    stream.write(dump(value) + "\n")
    stream.flush()


def clip(text: str, width: int = 200) -> str:
    """The text without its secrets, cut to a width; what is left out is counted."""
    text = redact(text)
    if len(text) <= width:
        return text
    return f"{text[:width]}… ({len(text) - width:,} more characters)"


def _constant(name: str) -> JSON:
    raise ValueError(f"not JSON: {name} is not a JSON number")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"not readable: the number {text[:20]} is too large")
    return value
