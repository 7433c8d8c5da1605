"""An error's text with what a rule's pattern found in it marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from selfcorrect.kernel.texts import excerpt, visible
from selfcorrect.mapping.patterns import PatternError, compile_pattern
from selfcorrect.notebook.shown import plain_text

_LONGEST: Final = 1_200
_WHOLE: Final = "selfcorrect_whole_match"


class _Span(NamedTuple):
    name: str
    start: int
    end: int


def marked(text: str, pattern: str | None, captures: Mapping[str, str]) -> dict[str, Any]:
    """The text in pieces, and a table of the named groups.

    A piece is `[text, mark]`; its mark is empty, `match`, or the name of a group.

    Args:
        text: What the emitter of the error wrote.
        pattern: The pattern of the rule that decided, if it has one.
        captures: What the diagnosis captured.

    >>> marked("no flight on 2026-10-26", "on (?P<got>[0-9-]+)", {"got": "2026-10-26"})["pieces"]
    [['no flight ', ''], ['on ', 'match'], ['2026-10-26', 'got']]
    """
    text = excerpt(text, _LONGEST)
    spans = _spans(text, pattern)
    order = {span.name: number for number, span in enumerate(spans)}
    groups = [
        [visible(name), plain_text(value, 200)] for name, value in list(captures.items())[:20]
    ]
    return {
        "pattern": plain_text(pattern, 1_000) if pattern else "",
        "pieces": _pieces(text, spans),
        "groups": sorted(groups, key=lambda group: order.get(group[0], len(order))),
    }


def _spans(text: str, pattern: str | None) -> list[_Span]:
    """Where the match lies, and where its named groups lie inside it."""
    if not pattern:
        return []
    try:
        found = compile_pattern(f"(?P<{_WHOLE}>{pattern})", built_in=True).captures(text.encode())
    except (PatternError, ValueError):
        return []
    whole = (found or {}).pop(_WHOLE, "")
    start = text.find(whole)
    if found is None or not whole or start < 0:
        return []
    spans = [_Span("match", start, start + len(whole))]
    at = start
    named = sorted(found.items(), key=lambda item: pattern.find(f"<{item[0]}>"))
    for name, value in named:
        here = text.find(value, at, spans[0].end) if value else -1
        here = text.find(value, start, spans[0].end) if value and here < 0 else here
        if here >= 0:
            spans.append(_Span(visible(name), here, here + len(value)))
            at = here
    return spans


def _pieces(text: str, spans: Sequence[_Span]) -> list[list[str]]:
    """The text cut where a mark begins or ends; the innermost mark holds."""
    cuts = sorted({0, len(text), *(at for span in spans for at in (span.start, span.end))})
    pieces = []
    for start, end in pairwise(cuts):
        around = [span for span in spans if span.start <= start and end <= span.end]
        inner = min(around, key=lambda s: (s.end - s.start, s.name == "match"), default=None)
        pieces.append([visible(text[start:end]), inner.name if inner else ""])
    return pieces
