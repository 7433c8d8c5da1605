"""Reads calls in Python's notation: `find(city="Bonn", limit=5)`. Literals only."""

import re
from typing import Final

from selfcorrect.model import JSON, JsonDict
from selfcorrect.reading.json_text import Scanner, inside
from selfcorrect.reading.text_call import TextCall

NAME: Final = r"[A-Za-z_][\w.\-]*+"


def read_python_calls(text: str, start: int) -> tuple[tuple[TextCall, ...], int] | None:
    """Read the call, or the list of calls, that begins at a place; return it with its end.

    >>> read_python_calls("f(a=1, b='x')", 0)[0][0].arguments
    {'a': 1, 'b': 'x'}

    Returns:
        The calls and where they end; None where no name with a parenthesis begins.

    Raises:
        JsonTextError: If an argument is no literal, or its value is not certain.
    """
    if not _START.match(text, start):
        return None
    scanner = Scanner(text, start)
    parts = scanner.parts("]") if text[start] == "[" else (None,)
    calls = [_call(scanner) for _ in parts]
    skipped = inside(scanner.skipped)
    return tuple(TextCall(*call, skipped) for call in calls), scanner.at


def _call(scanner: Scanner) -> tuple[str, JsonDict, tuple[JSON, ...]]:
    found = _NAME.match(scanner.text, scanner.at)
    if found is None:
        scanner.refuse("a list of calls holds something else")
    scanner.at = found.end()
    scanner.skipped += ["quote"] * bool(found[1])
    named: JsonDict = {}
    positional: list[JSON] = []
    for _ in scanner.parts(")"):
        key = _KEY.match(scanner.text, scanner.at)
        if key is not None:
            scanner.at = key.end()
            scanner.put(named, key[1], scanner.value())
        elif named:
            scanner.refuse("a value without a name stands behind a named one")
        else:
            positional.append(scanner.value())
    return found[2], named, tuple(positional)


_NAME: Final = re.compile(rf"([\"']?)({NAME})\1(?=\()")
_START: Final = re.compile(rf"{NAME}\(|\[\s*{_NAME.pattern}")
_KEY: Final = re.compile(r"([^\W\d]\w*+)\s*=(?!=)")
