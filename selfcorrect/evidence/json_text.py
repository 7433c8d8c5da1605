"""Find the JSON value, or the Python repr of one, that a message consists of or ends in."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from itertools import islice
from typing import Final

from selfcorrect.model import JSON
from selfcorrect.words import word_list

_LONGEST: Final = 70 * 1024
_TRIES: Final = 6
_DEEPEST: Final = 60
_OPENING: Final = re.compile(r"[{\[]")
_BRACKETS: Final = re.compile(r"[{}()\[\]]")
_PARTS: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[{}()\[\]]", re.DOTALL)
"""Texts of Python, and brackets outside of them."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """A JSON object or list within a message, and the text before and after it."""

    value: JSON
    before: str
    after: str


def find_json(text: str) -> Embedded | None:
    """The object or list that the text is, ends in, or starts with; None if there is none.

    >>> find_json('HTTP 400: {"error": "bad"}')
    Embedded(value={'error': 'bad'}, before='HTTP 400:', after='')
    """
    text = text.strip()
    if len(text) > _LONGEST or not ("{" in text or "[" in text):
        return None
    if text[:1] == '"' and (inner := _parse(text)) and isinstance(inner[0], str):
        return find_json(inner[0])
    for opening in islice(_OPENING.finditer(text), _TRIES):
        position = opening.start()
        parsed = _parse(text[position:])
        if parsed is None:
            continue
        value, length = parsed
        before, after = text[:position].strip(), text[position + length :].strip(" \n.)'\"")
        # A list of scalars is what an error names, not how it is put.
        held = value if isinstance(value, list) else [value]
        if not value or not any(isinstance(item, dict) for item in held):
            continue
        if not before or (len(after) <= 3 and _speaks(value)):
            return Embedded(value, before, after)
    return None


_SAYS: Final = frozenset(
    word_list("""
        error errors message msg detail details code status statuscode title reason type fault
        exception iserror error_description errormessage issues violations description loc ok
        success""")
)


def _speaks(value: JSON) -> bool:
    """Whether an object within prose looks like an error, rather than like data that is shown."""
    if isinstance(value, list):
        return any(isinstance(item, dict) and _speaks(item) for item in value[:3])
    names = {str(key).lower() for key in value}
    inner = [child for child in value.values() if isinstance(child, dict)]
    return (
        bool(names & _SAYS)
        or any(str(key).startswith("odata") for key in value)
        or (len(inner) == 1 and len(value) == 1 and _speaks(inner[0]))
    )


def _parse(text: str) -> tuple[JSON, int] | None:
    if _too_deep(text):
        return None
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return _python(text)
    return value, end


_DECODER: Final = json.JSONDecoder(strict=False)


def _python(text: str) -> tuple[JSON, int] | None:
    """A dict or list as Python prints it; only literals are read, nothing is evaluated."""
    end = _closing(text[:8192])
    if end is None or "'" not in text[:end]:
        return None
    try:
        value = json.loads(json.dumps(ast.literal_eval(text[:end]), default=str))
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    return (value, end) if isinstance(value, dict | list) else None


def _closing(text: str) -> int | None:
    """Behind the bracket that closes the first one."""
    depth = 0
    for match in _PARTS.finditer(text):
        if match[0] in "{[(":
            depth += 1
        elif match[0] in "}])":
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def _too_deep(text: str) -> bool:
    depth = 0
    for match in _BRACKETS.finditer(text):
        depth += 1 if match[0] in "{[(" else -1
        if depth > _DEEPEST:
            return True
    return False
