"""An error without its values: the same for every run that met it, whatever it was about.

Structure alone says what is a value: what the arguments hold, what stands in quotation marks or in
a list, numbers, and tokens that no word of a sentence looks like. What is left are the tool's own
words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from selfcorrect.model import JSON, JsonObject

LONGEST: Final = 2_000
"""Characters of an error that are looked at."""

_MOST_ARGUMENTS: Final = 50
_LONGEST_ECHO: Final = 500
_QUOTED: Final = re.compile(
    r"(?<!\w)(?:'([^'\n]{1,200})'|\"([^\"\n]{1,200})\"|`([^`\n]{1,200})`)(?!\w)"
)
_BRACKETED: Final = re.compile(r"\[([^\[\]\n]{1,400})\]")
_LISTED: Final = re.compile(
    r"(?<=: )([\w-]{1,60}(?:, (?:and )?[\w-]{1,60})+(?:,? (?:and|or) [\w-]{1,60})?)(?=\.?\Z)"
)
_ONE_LISTED: Final = re.compile(r"(?<=: )([\w-]{1,60})(?=\.?\Z)")
_BETWEEN: Final = re.compile(r",? and |,? or |, ?")
_TOKEN: Final = re.compile(r"[^\s'\"`,;:()\[\]{}<>]+")
_NO_WORD: Final = re.compile(r"[\d@/\\]|\w\.\w")
_NUMBER: Final = re.compile(r"[-+]?\d+(?:\.\d+)?")
_HOLE: Final = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class Template:
    """An error without its values.

    Attributes:
        text: The error with a name in braces for each value: `No file '{args.path}'`.
        values: The values by name, for those that the error alone holds: `error.text1`,
            `error.number1`, `error.token1`, `error.list1`.
        otherwise: The same error where its last word is a list of one, if it may be.
    """

    text: str
    values: Mapping[str, JSON]
    otherwise: Template | None = None

    @property
    def forms(self) -> Iterator[Template]:
        """The template, and the other reading of it."""
        yield self
        if self.otherwise is not None:
            yield self.otherwise


@dataclass(frozen=True, slots=True)
class _Hole:
    """A place of an error where a value stands."""

    start: int
    end: int
    kind: str
    value: JSON


def template(error: str, args: JsonObject, tool: str = "") -> Template:
    """The error of a call without its values.

    >>> said = template("cannot write to 'a.txt': No such file", {"file": "a.txt"})
    >>> said.text
    "cannot write to '{args.file}': No such file"
    >>> said = template("2 doors are open: left, right", {})
    >>> said.text, said.values["error.list1"]
    ('{error.number1} doors are open: {error.list1}', ['left', 'right'])

    Args:
        error: What the tool said; untrusted.
        args: The arguments of the call.
        tool: The name of the tool: a tool that says the same of itself says the same.
    """
    text = error[:LONGEST].strip().replace("{", "(").replace("}", ")")
    own = [] if not tool else list(_named(text, tool))
    holes = _apart((*own, *_echoes(text, args), *_lists(text), *_quotations(text), *_tokens(text)))
    first = _filled(text, holes)
    one = _ONE_LISTED.search(text)
    if one is None or any(hole.end == one.end(1) and hole.kind != "token" for hole in holes):
        return first
    alone = _Hole(one.start(1), one.end(1), "list", [one[1]])
    return replace(first, otherwise=_filled(text, _apart((alone, *holes))))


def is_template(text: str) -> bool:
    """Whether an error can have this template: no value of a form that is always taken out.

    >>> is_template("No file '{args.path}'"), is_template("No file 'a.txt'")
    (True, False)
    """
    bare = _HOLE.sub("", text)
    return not any((*_QUOTED.finditer(bare), *_tokens(bare))) and text.strip() == text


def words(text: str) -> tuple[str, ...]:
    """The tool's own words in a template."""
    return tuple(re.findall(r"[^\W\d_]{3,}", _HOLE.sub(" ", text)))


def _filled(text: str, holes: Sequence[_Hole]) -> Template:
    values: dict[str, JSON] = {}
    counts: dict[str, int] = {}
    parts, last = [], 0
    for hole in holes:
        name = hole.kind
        if name != "tool" and not name.startswith("args."):
            counts[name] = counts.get(name, 0) + 1
            name = f"error.{name}{counts[name]}"
            values[name] = hole.value
        parts += [text[last : hole.start], "{", name, "}"]
        last = hole.end
    return Template("".join([*parts, text[last:]]), values)


def _apart(holes: Iterable[_Hole]) -> list[_Hole]:
    """Those that do not overlap, in the order of the text; of two, the one named first."""
    kept: list[_Hole] = []
    for hole in holes:
        if all(hole.end <= other.start or other.end <= hole.start for other in kept):
            kept.append(hole)
    return sorted(kept, key=lambda hole: hole.start)


def _named(text: str, tool: str) -> Iterator[_Hole]:
    """Where the error names its tool."""
    for match in re.finditer(rf"(?<!\w){re.escape(tool)}(?!\w)", text):
        yield _Hole(match.start(), match.end(), "tool", tool)


def _echoes(text: str, args: JsonObject) -> Iterator[_Hole]:
    """Where the error repeats a text of the arguments, the longest first."""
    texts = [(name, value) for name, value in list(args.items())[:_MOST_ARGUMENTS]]
    found = sorted(
        ((name, v) for name, v in texts if isinstance(v, str) and 0 < len(v) <= _LONGEST_ECHO),
        key=lambda item: -len(item[1]),
    )
    for name, value in found:
        start = text.find(value)
        while start >= 0:
            end = start + len(value)
            if _stands_alone(text, start, end, value):
                yield _Hole(start, end, f"args.{name}", value)
            start = text.find(value, end)


def _stands_alone(text: str, start: int, end: int, value: str) -> bool:
    """Whether it is the value, and no part of a word; a plain word only between quotes."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if before and before in "'\"`" and before == after:
        return True
    apart = not (
        (before.isalnum() and value[0].isalnum()) or (after.isalnum() and value[-1].isalnum())
    )
    return apart and len(value) >= 3 and not (value.isalpha() and value.islower())


def _lists(text: str) -> Iterator[_Hole]:
    for match in _BRACKETED.finditer(text):
        items = [each.strip().strip("'\"`") for each in match[1].split(",")]
        if all(items):
            yield _Hole(match.start(1), match.end(1), "list", items)
    for match in _LISTED.finditer(text):
        yield _Hole(match.start(1), match.end(1), "list", _BETWEEN.split(match[1]))


def _quotations(text: str) -> Iterator[_Hole]:
    for match in _QUOTED.finditer(text):
        group = match.lastindex or 0
        yield _Hole(match.start(group), match.end(group), "text", match[group])


def _tokens(text: str) -> Iterator[_Hole]:
    for match in _TOKEN.finditer(text):
        shown = match[0].rstrip(".!?")
        if _NO_WORD.search(shown) is None:
            continue
        kind = "number" if _NUMBER.fullmatch(shown) else "token"
        yield _Hole(match.start(), match.start() + len(shown), kind, shown)
