"""Where a model thinks aloud: a call that is weighed there is not made."""

from __future__ import annotations

from collections.abc import Sequence

from selfcorrect.kernel.forms import LEADING, THINKS


def without_thinking(text: str) -> str:
    """The text with the thinking that it starts with made blank, so that offsets stay as they are.

    A text that starts to think and never ends is all thinking.

    >>> without_thinking("<think>f(x=1)?</think>f(x=2)")
    '                      f(x=2)'
    """
    end, pos = 0, _behind(text, 0)
    while (mark := THINKS.match(text, pos)) is not None and mark["open"]:
        while mark is not None and mark["open"]:
            mark = THINKS.search(text, mark.end())
        end = mark.end() if mark is not None else len(text)
        pos = _behind(text, end)
    return " " * end + text[end:] if end else text


def thought(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Where the text thinks, outside of spans that are calls: a mark inside one is part of it.

    A closing mark without an opening one ends thinking that began before the text did.
    """
    regions: list[tuple[int, int]] = []
    opened: int | None = None
    index = 0
    for mark in THINKS.finditer(text):
        while index < len(spans) and spans[index][1] <= mark.start():
            index += 1
        if index < len(spans) and spans[index][0] < mark.start():
            continue
        if mark["open"]:
            opened = mark.start() if opened is None else opened
        elif opened is not None:
            regions.append((opened, mark.end()))
            opened = None
        elif mark["close"]:
            regions = [(0, mark.end())]
    if opened is not None:
        regions.append((opened, len(text)))
    return regions


def _behind(text: str, pos: int) -> int:
    """Behind white space and the marks that open a turn."""
    found = LEADING.match(text, pos)
    return found.end() if found else pos
