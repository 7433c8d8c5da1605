"""Where the calls of a text stand in it: alone, on lines of their own, or among words."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import Final

from selfcorrect.kernel.forms import FORM, TURN_ENDS
from selfcorrect.kernel.thinking import thought, without_thinking
from selfcorrect.model import Call, Extent, Safety
from selfcorrect.plain import canonical

_REASONED: Final = re.compile(r"\s*Thought:[^\n]*\n(?:(?!Action:|\0)[^\n]*\n)*(?=Action:|\0)")
"""The thinking of the form whose calls are `Action:` and `Action Input:`."""
_WORDS: Final = re.compile(r"[^\0\s\[\](){},;`]+")
"""What is no bracket, no separator and no call."""
_TOKENS: Final = re.compile(rf"[\[\](){{}}]|{_WORDS.pattern}")
_STRAY: Final = re.compile(r"(?<=\[)['\"](?=\0)|(?<=\0)['\"](?=\])")
"""A quote between a call and the bracket of a list of calls: `['find(q="x")]`."""
_HOLDS_MORE: Final = re.compile(r"[\s\[]*[{\"]")
_CLOSED: Final = re.compile(r"\s*+</([\w.-]{1,200})>")
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)|/\*.*?(?:\*/|\Z)", re.DOTALL)


def classes(
    text: str, calls: Sequence[Extent], *, reads: bool, edge: bool
) -> tuple[Safety | None, ...]:
    """How certain it is of each call that the text makes it, by where it stands; None: it is not.

    Args:
        text: The text in which thinking was made blank; see `spoken`.
        calls: Where calls stand in it, in order.
        reads: Whether their tools only read: lines of its own are then enough for a call.
        edge: Whether one in the first or last lines is made as well, if its tool acts.
    """
    standing = Standing(text, calls)
    if standing.alone():
        return (Safety.EXACT,) * len(calls)
    made: Collection[Extent] = ()
    if reads:
        hidden = set(map(id, commented(text, calls)))
        made = [call for call in calls if standing.own_lines(call) and id(call) not in hidden]
    elif edge and calls:
        end = end_of_turn(text, calls)
        made = standing.at_edge([call for call in calls if call.start < end], end)
    ids = set(map(id, made))
    return tuple(Safety.INFERRED if id(call) in ids else None for call in calls)


def spoken(text: str, calls: Sequence[Extent]) -> str:
    """What a text says aloud, at unchanged offsets: thinking outside of its calls made blank."""
    text = without_thinking(text)
    parts: list[str] = []
    pos = 0
    for start, end in thought(text, [(call.start, call.end) for call in calls]):
        parts += [text[pos:start], " " * (end - start)]
        pos = end
    return "".join([*parts, text[pos:]])


def unquoted(text: str) -> str | None:
    """The text that a text stands for which is a JSON string, or was escaped once too often."""
    body = text.strip()
    if body.startswith(("{\\", "[\\", "[{\\")):
        body = f'"{body}"'
    if not body.startswith('"'):
        return None
    try:
        inner = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return inner if isinstance(inner, str) and _HOLDS_MORE.match(inner) else None


class Standing:
    """What of a text is neither a call nor a token of a form; offsets are those of the text."""

    __slots__ = ("_behind_words", "_bodies", "_inside", "_lines", "_rest", "_words")

    def __init__(self, text: str, calls: Sequence[Extent]) -> None:
        """Look at a text in which thinking was made blank, and at its calls, in order."""
        rest = without(text, calls)
        acting = bool(calls) and text.startswith("Action:", calls[0].start)
        if acting and (reasoned := _REASONED.match(rest)) is not None:
            rest = _blank(reasoned) + rest[reasoned.end() :]
        self._rest = _STRAY.sub(" ", FORM.sub(_blank, rest))
        self._words = [found.start() for found in _WORDS.finditer(self._rest)]
        self._lines = [found.start() for found in re.finditer("\n", self._rest)]
        self._bodies = frozenset(_bodies(text, self._rest))
        self._inside = _in_brackets(self._rest)
        self._behind_words = {call.start for call in calls if _is_behind_words(text, call)}

    def alone(self) -> bool:
        """Whether the calls are all of the text."""
        return not self._words

    def before(self, end: int) -> bool:
        """Whether words stand before an offset."""
        return bool(self._words) and self._words[0] < end

    def own_lines(self, call: Extent, *, joined: bool = False) -> bool:
        """Whether no words stand in the lines of a call; but for a sentence `joined` to it."""
        line = bisect_left(self._lines, call.start)
        start = self._lines[line - 1] if line else -1
        around = bisect_left(self._inside, (call.start,)) - 1
        # Other code decides there whether the call is made, or how often.
        if start in self._bodies or (around >= 0 and self._inside[around][1] > call.start):
            return False
        start = call.start - 1 if joined and call.start in self._behind_words else start
        line = bisect_left(self._lines, call.end)
        end = self._lines[line] if line < len(self._lines) else len(self._rest)
        return not self._between(start + 1, end)

    def at_edge(self, calls: Sequence[Extent], end: int) -> Sequence[Extent]:
        """Those of some calls that are the first or the last lines of the text up to an offset.

        None if other calls stand elsewhere, unless they only repeat these.
        """
        borders = [
            index
            for index in range(1, len(calls))
            if self._between(calls[index - 1].end, calls[index].start)
        ]
        for block, rest in (
            (calls[: borders[0]], calls[borders[0] :]) if borders else (calls, ()),
            (calls[borders[-1] :], calls[: borders[-1]]) if borders else (calls, ()),
        ):
            first = not self._between(0, block[0].start)
            last = not self._between(max(call.end for call in block), end)
            meant = {key_of(call) for call in block}
            if (first or last) and all(self.own_lines(call, joined=True) for call in block):
                return block if all(key_of(call) in meant for call in rest) else ()
        return ()

    def _between(self, start: int, end: int) -> bool:
        """Whether words begin between two offsets, of which the first begins a line or a call."""
        return bisect_left(self._words, start) < bisect_left(self._words, end)


def _in_brackets(rest: str) -> list[tuple[int, int]]:
    """Where brackets begin that hold words, each with the farthest end of those up to it."""
    found: list[tuple[int, int]] = []
    opened: list[tuple[int, bool]] = []
    for token in _TOKENS.finditer(rest):
        if token[0] in "[({":
            opened.append((token.start(), False))
        elif opened:
            start, is_wordy = opened.pop()
            if token[0] not in "])}":
                opened.append((start, True))
            elif is_wordy:
                found.append((start, token.end()))
                opened[-1:] = [(outer, True) for outer, _ in opened[-1:]]
    found.sort()
    ends = accumulate((end for _, end in found), max)
    return [(start, end) for (start, _), end in zip(found, ends, strict=True)]


def _bodies(text: str, rest: str) -> Iterator[int]:
    """Before which lines the body of something begins or goes on: nobody knows whether it runs.

    A body stands further in than the words above it that end in `:` or `{`.
    """
    above: list[int] = []
    start = 0
    for line in rest.split("\n"):
        written = text[start : start + len(line)]
        indent = len(written) - len(written.lstrip())
        if indent < len(written):
            while above and above[-1] >= indent:
                above.pop()
            if above:
                yield start - 1
            if line.rstrip().endswith((":", "{")):
                above.append(indent)
        start += len(line) + 1


def _is_behind_words(text: str, call: Extent) -> bool:
    """Whether a sentence ends right before a call of the form that puts its name on a line.

    The template of that form (GLM) joins what a model says and the name without a break.
    """
    joined = text[max(call.start - 1, 0) : call.start] in (".", "!", "?")
    return joined and text.startswith(f"{call.name}\n", call.start)


def key_of(call: Extent | Call) -> tuple[str, str]:
    """The same for calls of the same name and arguments."""
    return call.name, canonical(call.args)


def end_of_turn(text: str, calls: Sequence[Extent]) -> int:
    """Where a form's own token ends the turn behind the first call; else the end of the text."""
    found = TURN_ENDS.search(without(text, calls), calls[0].end)
    return found.start() if found else len(text)


def commented(text: str, calls: Sequence[Extent]) -> list[Extent]:
    """The calls that stand inside a comment."""
    spans = [found.span() for found in _COMMENT.finditer(without(text, calls))]
    starts = [start for start, _ in spans]
    found = []
    for call in calls:
        at = bisect_right(starts, call.start) - 1
        if at >= 0 and call.start < spans[at][1]:
            found.append(call)
    return found


def without(text: str, calls: Sequence[Extent]) -> str:
    """The text with zeros in the place of its calls, and of tags with the names of their tools."""
    parts: list[str] = []
    pos = 0
    for start, end in sorted({_span(text, call) for call in calls}):
        if end > pos:
            parts += [text[pos:start], "\0" * (end - max(start, pos))]
            pos = end
    return "".join([*parts, text[pos:]])


def said_beside(text: str, calls: Sequence[Extent]) -> str:
    """The lines of a text that hold more than its calls and the tokens of their forms."""
    rest = FORM.sub(_blank, without(text, calls))
    # A call of several lines is one run of zeros.
    rest = "".join("\n" if char == "\n" else left for char, left in zip(text, rest, strict=True))
    kept = [
        left.replace("\0", "").strip() if "\0" in left else line
        for line, left in zip(text.split("\n"), rest.split("\n"), strict=True)
        if _WORDS.search(left) or not line.strip()
    ]
    return "\n".join(kept).strip()


def _span(text: str, call: Extent) -> tuple[int, int]:
    closed = _CLOSED.match(text, call.end)
    if closed is not None and closed[1] == call.name and text[call.start - 1 : call.start] == "<":
        return call.start - 1, closed.end()
    return call.start, call.end


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])
