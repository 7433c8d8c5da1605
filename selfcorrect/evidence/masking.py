r"""Mask what a message merely echoes: argument values must not speak for the emitter.

Each echo becomes one private character while the message is read. Afterwards it is put back
(`raw`), or stands as letters without meaning (`masked`), which keeps lengths, digits' places and
quotes, so that a pattern such as `[A-Z]{3}` or `\d{4}-\d\d` still fits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from selfcorrect.model import JSON
from selfcorrect.pointer import join

_FIRST: Final = 0xF0000
_MOST: Final = 4000
_LEAVES: Final = 300
_LONGEST: Final = 32 * 1024
PRIVATE: Final = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
_KEPT: Final = "-_./:@+"
"""Signs that shape dates, names, numbers and addresses; any other sign is masked too."""

_QUOTED: Final = re.compile(
    r"'([^'\n]{1,200})'|\"([^\"\n]{1,200})\"|`([^`'\n]{1,200})[`']|‘([^’\n]{1,200})’"
    r"|“([^”\n]{1,200})”"
)
_NAMELIKE: Final = re.compile(r"\w[./\\]\w|\A[./~]+\w|\w-\w*\.|@")
_TOKENS: Final = 200
_TRIES: Final = 4000


@dataclass(frozen=True, slots=True)
class Echo:
    """One place of a message that repeats an argument: its text, and the argument's pointers."""

    text: str
    paths: tuple[str, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class Masked:
    """A message with its echoes taken out."""

    text: str
    echoes: tuple[Echo, ...] = ()

    def echo(self, char: str) -> Echo | None:
        """The echo that a private character stands for."""
        index = ord(char) - _FIRST
        return self.echoes[index] if 0 <= index < len(self.echoes) else None

    def within(self, text: str) -> list[Echo]:
        """The echoes in any part of the masked text, in order."""
        return [echo for char in text if (echo := self.echo(char)) is not None]

    def raw(self, text: str) -> str:
        """Any part of the masked text with the echoes put back."""
        return PRIVATE.sub(lambda match: self._show(match[0], blind=False), text)

    def masked(self, text: str) -> str:
        """Any part of the masked text with meaningless letters for the echoes, of their length."""
        return PRIVATE.sub(lambda match: self._show(match[0], blind=True), text)

    def _show(self, char: str, *, blind: bool) -> str:
        echo = self.echo(char)
        if echo is None:
            return ""
        return "".join(map(_blind, echo.text)) if blind else echo.text


def mask(text: str, arguments: JSON, shown: Callable[[str], str] = str) -> Masked:
    """Find where a message repeats argument values, in plain, JSON-escaped and quoted form.

    Args:
        text: The message.
        arguments: The arguments of the call.
        shown: What was done to the message before, and so to the values in it.

    >>> found = mask("no city 'Error 429' known", {"city": "Error 429"})
    >>> found.masked(found.text)
    "no city 'Xxxxx 000' known"
    """
    text = PRIVATE.sub("", text)
    spans: list[tuple[int, int, tuple[str, ...], bool]] = []
    values = _strings(arguments)
    for needle, paths in (*_containers(arguments), *_needles(values, shown)):
        spans += [(start, start + len(needle), paths, True) for start in _find(text, needle)]
    for needle, paths in _tokens(values):
        spans += [(at, at + len(needle), paths, False) for at in _find(text, needle)]
    for start, end, paths in _quoted_parts(text, values):
        spans.append((start, end, paths, False))
    spans.sort(key=lambda span: (span[0], -span[1]))
    parts: list[str] = []
    echoes: list[Echo] = []
    position = 0
    for start, end, paths, whole in spans:
        if start < position or len(echoes) >= _MOST:
            continue
        parts += [text[position:start], chr(_FIRST + len(echoes))]
        echoes.append(Echo(text[start:end], paths, whole))
        position = end
    return Masked("".join([*parts, text[position:]]), tuple(echoes))


def _blind(char: str) -> str:
    if char.isdigit():
        return "0"
    if char.isalpha():
        return "X" if char.isupper() else "x"
    if char.isspace():
        return " "  # an echo ends no sentence
    return char if char in _KEPT else "x"


def _strings(arguments: JSON) -> dict[str, tuple[str, ...]]:
    """Every string among the arguments, with the pointers of the places that hold it."""
    found: dict[str, list[str]] = {}
    stack: list[tuple[Any, tuple[str | int, ...]]] = [(arguments, ("args",))]
    leaves = 0
    while stack and leaves < _LEAVES:
        value, path = stack.pop()
        if isinstance(value, str):
            leaves += 1
            if value.strip():
                found.setdefault(value[:_LONGEST], []).append(join(*path))
        elif isinstance(value, Mapping) and len(path) < 12:
            stack.extend((child, (*path, str(key))) for key, child in list(value.items())[:_LEAVES])
        elif isinstance(value, list | tuple) and len(path) < 12:
            stack.extend((child, (*path, index)) for index, child in enumerate(value[:50]))
    return {value: tuple(sorted(paths)) for value, paths in found.items()}


def _needles(
    values: Mapping[str, tuple[str, ...]], shown: Callable[[str], str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for value, paths in sorted(values.items(), key=lambda item: -len(item[0])):
        if len(value) > 2000:
            continue
        forms = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
        forms |= {repr(value)[1:-1], value.strip()}
        for form in forms | {shown(form).strip() for form in forms}:
            if form:
                yield form, paths


def _containers(arguments: JSON) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Objects and lists among the arguments as JSON and as Python print them."""
    stack: list[tuple[Any, tuple[str | int, ...]]] = [
        (value, ("args", str(key)))
        for key, value in (arguments.items() if isinstance(arguments, Mapping) else ())
    ]
    for _ in range(60):
        if not stack:
            return
        value, path = stack.pop(0)
        if not isinstance(value, Mapping | list | tuple) or len(path) > 5:
            continue
        try:
            forms = {json.dumps(value), json.dumps(value, separators=(",", ":")), repr(value)}
        except (TypeError, ValueError, RecursionError):
            continue
        yield from ((form, (join(*path),)) for form in forms if len(form) <= 2000)
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        stack += [(child, (*path, key)) for key, child in list(items)[:20]]


def _find(text: str, needle: str) -> Iterator[int]:
    """Where the needle stands: anywhere if it is long or odd enough, else only between quotes."""
    loose = len(needle) >= 5 or (len(needle) >= 3 and not needle.isalpha())
    start = text.find(needle)
    count = tries = 0
    while start >= 0 and count < 200 and tries < _TRIES:
        tries += 1
        end = start + len(needle)
        before, after = text[start - 1 : start], text[end : end + 1]
        alone = len(needle) >= 2 and (not text[:start].strip() or not text[end:].strip(" .!"))
        closed = before in _OPENERS and after in _CLOSERS and before != "" and after != ""
        free = needle[0] not in "{[" or len(needle) > 2 or alone
        free = (
            free
            and not (_wordy(before) and _wordy(needle[0]))
            and not (_wordy(after) and _wordy(needle[-1]))
        )
        if closed or ((loose or alone) and free):
            yield start
            count += 1
        start = text.find(needle, max(end, start + 1))


_OPENERS: Final = "'\"`‘“«([{<|„"
_CLOSERS: Final = "'\"`’”»)]}>|"


def _wordy(char: str) -> bool:
    return char.isalnum() or char == "_"


def _quoted_parts(
    text: str, values: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Quoted pieces of longer arguments: a token of a command, a word of a query."""
    long = [(value, paths) for value, paths in values.items() if len(value) > 8][:20]
    if not long:
        return
    for count, match in enumerate(_QUOTED.finditer(text)):
        if count >= 200:
            return
        group = match.lastindex or 0
        piece = match[group]
        if len(piece) < 3 or text[match.end() : match.end() + 2].lstrip()[:1] == ":":
            continue  # too short to tell, or the key of an object
        if piece[0] == "$":
            continue  # the name of a variable of the query
        paths = tuple(path for value, where in long if _stands(piece, value) for path in where)
        if paths:
            yield match.start(group), match.end(group), paths


def _tokens(values: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """File names, addresses and the like within longer arguments: no word of a sentence."""
    found: dict[str, tuple[str, ...]] = {}
    for value, paths in values.items():
        for token in value[:4000].split():
            plain = token.strip("'\"`()[]{},;")
            if 4 <= len(plain) <= 200 and not plain.startswith("-") and _NAMELIKE.search(plain):
                found.setdefault(plain, paths)
    yield from (
        (token, paths) for token, paths in list(found.items())[:_TOKENS] if token not in values
    )


def _stands(piece: str, value: str) -> bool:
    """Whether a piece stands in a value as whole words."""
    start = value.find(piece)
    end = start + len(piece)
    return start >= 0 and not (
        (_wordy(value[start - 1 : start]) and _wordy(piece[0]))
        or (_wordy(value[end : end + 1]) and _wordy(piece[-1]))
    )
