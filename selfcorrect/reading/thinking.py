"""Where a model thinks aloud: a call that is weighed there is not made."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_WORD: Final = r"(?:seed:|antml:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)"
_MARK: Final = re.compile(
    rf"(?P<open><{_WORD}>|\[THINK\]|\u25c1think\u25b7|<\|START_THINKING\|>|<\|begin_of_thought\|>"
    r"|<\|channel\|>analysis(?:\s*<\|constrain\|>\w+)?<\|message\|>)"
    rf"|(?P<close></{_WORD}>|\[/THINK\]|\u25c1/think\u25b7|<\|END_THINKING\|>|<\|end_of_thought\|>)"
    r"|(?P<over><\|end\|>|<\|return\|>)",
    re.IGNORECASE,
)
_LEADING: Final = re.compile(
    r"(?:\s|<\|(?:im_start|start|start_header_id|end_header_id|begin_of_text)\|>|assistant\b)*+"
)


def without_thinking(text: str) -> str:
    """The text with the thinking that it starts with made blank, so that offsets stay as they are.

    A text that starts to think and never ends is all thinking.

    >>> without_thinking("<think>f(x=1)?</think>f(x=2)")
    '                      f(x=2)'
    """
    end, pos = 0, _behind(text, 0)
    while (mark := _MARK.match(text, pos)) is not None and mark["open"]:
        while mark is not None and mark["open"]:
            mark = _MARK.search(text, mark.end())
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
    for mark in _MARK.finditer(text):
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
    found = _LEADING.match(text, pos)
    return found.end() if found else pos
