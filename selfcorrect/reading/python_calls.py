"""Reads calls in Python's notation: `find(city="Bonn", limit=5)`. Literals only.

A whole call may be quoted, as in `['find(city=Bonn, NW)']`. A model that writes so leaves out the
quotes inside, or uses the same ones.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from selfcorrect.model import JSON, JsonDict
from selfcorrect.reading.json_text import Scanner, inside
from selfcorrect.reading.literals import JsonTextError
from selfcorrect.reading.text_call import Span, TextCall

NAME = r"[A-Za-z_](?:[\w.\-]|\\_)*+"
"""The name of a tool; Markdown escapes an underscore of it."""


def read_python_calls(text: str, start: int, *, quoted: bool = False) -> Span | None:
    """Read the call, or the list of calls, that begins at `start`.

    >>> read_python_calls("f(a=1, b='x')", 0).calls[0].arguments
    {'a': 1, 'b': 'x'}

    Args:
        text: The text.
        start: Where the call begins.
        quoted: Whether the calls stood in quotes.

    Returns:
        The calls; None where no name with a parenthesis begins.

    Raises:
        JsonTextError: If an argument is not a literal, or its value is not certain.
    """
    if not _START.match(text, start):
        return None
    scanner = Scanner(text, start)
    parts = scanner.parts("]") if text[start] == "[" else (None,)
    calls = [call for _ in parts for call in _calls(scanner, quoted=quoted)]
    skipped = inside(scanner.skipped)
    return Span(start, scanner.at, tuple(replace(call, skipped=skipped) for call in calls))


def bare(name: str) -> str:
    """Return a name without the escapes of Markdown."""
    return name.replace("\\_", "_")


def _calls(scanner: Scanner, *, quoted: bool) -> Iterator[TextCall]:
    """Read a call, or the calls in the same quotes."""
    opening = _QUOTE.match(scanner.text, scanner.at)
    if opening is not None:
        scanner.at = opening.end()
        scanner.skipped.append("quote")
        quoted = True
    yield _call(scanner, quoted=quoted)
    while quoted and (comma := _NEXT.match(scanner.text, scanner.at)):
        scanner.at = comma.end()
        yield _call(scanner, quoted=True)
    if opening is not None and scanner.peek() == opening[0]:
        scanner.at += 1


def _call(scanner: Scanner, *, quoted: bool) -> TextCall:
    opening = _NAME.match(scanner.text, scanner.at)
    if opening is None:
        scanner.refuse("a list of calls holds something else")
    scanner.at = opening.end()
    if opening[1]:
        scanner.skipped.append("quote")
    name = _name(scanner, opening[2])
    named: JsonDict = {}
    positional: list[JSON] = []
    for _ in scanner.parts(")"):
        key = _KEY.match(scanner.text, scanner.at)
        if key is not None:
            scanner.at = key.end()
            scanner.put(named, _name(scanner, key[1]), _value(scanner, quoted=quoted))
        elif named:
            scanner.refuse("a value without a name stands behind a named one")
        else:
            positional.append(scanner.value())
    return TextCall(name, named, tuple(positional))


def _name(scanner: Scanner, written: str) -> str:
    if "\\" in written:
        scanner.skipped.append("markdown")
    return bare(written)


def _value(scanner: Scanner, *, quoted: bool) -> JSON:
    """Read a value; in a quoted call, a text may lack quotes of its own."""
    words = _UNQUOTED.match(scanner.text, scanner.at) if quoted else None
    if words is None:
        return scanner.value()
    count = len(scanner.skipped)
    with suppress(JsonTextError):
        value = scanner.value()
        if scanner.at >= words.end():
            return value
    scanner.at = words.end()
    scanner.skipped[count:] = ["bare text"]
    return words[0]


_QUOTE = re.compile(rf"[\"'](?={NAME}\()")
"""What opens a call that is quoted as a whole."""
_NAME = re.compile(rf"([\"']?)({NAME})\1(?=\()")
_NEXT = re.compile(rf"\s*,\s*(?={NAME}\()")
_START = re.compile(rf"{NAME}\(|\[\s*(?:[\"'](?={NAME}\()|{_NAME.pattern})")
_KEY = re.compile(r"([^\W\d](?:\w|\\_)*+)\s*=(?!=)")
# Behind a comma only what begins like a name goes on: `New York, NY`, never `to=ann, force`.
_UNQUOTED = re.compile(
    r"[^\W_][\w .&/:\-]*+(?:, ?[A-Z][\w .&/:\-]*+)*+(?=,\s*[^\W\d][\w\\]*+\s*=|\))"
)
