"""Says whether a text is a call: all of it, or lines of its own, or neither."""

from dataclasses import replace
from functools import cache
from typing import Literal

from selfcorrect.model import frozen
from selfcorrect.pointer import MAX_BYTES
from selfcorrect.reading.attempt import find_attempt, near_tool
from selfcorrect.reading.call_object import is_cut
from selfcorrect.reading.json_calls import USUAL_KEYS, CallTextError, ToolCallKeys
from selfcorrect.reading.json_text import CLOSERS
from selfcorrect.reading.markup import with_tags
from selfcorrect.reading.spans import blocks_in, find_spans, line_before, next_turn, words_in
from selfcorrect.reading.surroundings import is_foreign, shares_line
from selfcorrect.reading.text_call import IsTool, Span, TextCall


@frozen
class Chosen:
    """The calls of a text.

    Attributes:
        calls: All calls, in order; one that the words behind only repeat is there once.
        around: The words that stand around and between them.
        edge: Whether the calls are lines of their own that begin or end the text.
        is_meant: Whether the text begins or ends with one, though words stand on their lines.
    """

    calls: tuple[TextCall, ...]
    around: str = ""
    edge: bool = True
    is_meant: bool = True


@frozen
class Unreadable:
    """The text holds a call that cannot be read.

    Attributes:
        reason: Why not.
        name: The tool that it names; empty where it names none.
    """

    reason: str
    name: str = ""


def may_read(chosen: Chosen, policy: Literal["whole", "edge", "off"], *, acts: bool) -> bool:
    """Return whether the calls count as calls.

    Args:
        chosen: The calls of a text.
        policy: The deployment's `[reading] text`.
        acts: Whether one of the tools acts.
    """
    if not chosen.around:
        return policy != "off"
    return chosen.edge and (policy == "edge" or (policy == "whole" and not acts))


def read_text(
    text: str,
    is_tool: IsTool,
    finish_reason: str | None = None,
    keys: ToolCallKeys = USUAL_KEYS,
) -> Chosen | Unreadable | None:
    """Read the calls of a text; None if it holds none.

    >>> read_text("Sure! f(a=1)", bool).around
    'Sure!'

    Args:
        text: What a model wrote.
        is_tool: Whether a name is the name of a tool.
        finish_reason: Why the model stopped; at a limit of tokens no missing closer is added.
        keys: The keys under which a call in JSON holds its parts.
    """
    if len(text) > MAX_BYTES:
        return Unreadable(f"the text is longer than {MAX_BYTES} characters")
    text = with_tags(text)
    # A long text asks for the same few names again and again.
    is_tool = cache(is_tool)
    try:
        spans = find_spans(text, replace(keys, is_tool=is_tool))
    except CallTextError as error:
        return Unreadable(str(error), error.name)
    chosen = _choose(text, spans, is_tool)
    if chosen is None:
        name = find_attempt(text, is_tool)
        return None if name is None else Unreadable("it shows a call that has no form", name)
    if is_cut(finish_reason) and any(CLOSERS & {*call.skipped} for call in chosen.calls):
        return Unreadable("the text was cut off at the limit of tokens", chosen.calls[-1].name)
    return chosen


def _choose(text: str, spans: list[Span], is_tool: IsTool) -> Chosen | None:
    for span in spans:
        if not span.calls:
            text = text[: span.start] + " " * (span.end - span.start) + text[span.end :]
    spans = [span for span in spans if span.calls]
    if spans:
        text = text[: next_turn(text, spans[-1].end)]
    if _around(text, spans):
        # A name that no tool has, amid words, is prose about code.
        spans = [
            span for span in spans if all(near_tool(call.name, is_tool) for call in span.calls)
        ]
    if not spans:
        return None
    gaps = _gaps(text, spans)
    words = [words_in(gap) for gap in gaps]
    # Words stand on one side only, and on lines of their own.
    first = next((at for at in range(1, len(words)) if words[at]), len(spans))
    is_edge = not (words[0] and any(words[1:])) and not shares_line(gaps[0], gaps[first])

    def is_quoted(span: Span) -> bool:
        return is_foreign(text, span.start, span.end)

    for run in (spans[:first] if is_edge else [], _in_blocks(text, spans)):
        if any(map(is_quoted, run)):
            continue
        calls = [span.calls for span in run]
        others = [span.calls for span in spans if _is_alone(text, span.start, span.end)]
        # A model that goes on to talk about its call means no other one.
        if run and all(other in calls for other in others):
            return Chosen(_calls(run), _around(text, run))
    is_meant = not (words[0] and words[-1]) and not any(map(is_quoted, spans))
    return Chosen(_calls(spans), _around(text, spans), edge=False, is_meant=is_meant)


def _in_blocks(text: str, spans: list[Span]) -> list[Span]:
    """Return the calls of the blocks of code that hold nothing else, each block once."""
    blocks: list[list[Span]] = []
    contents: list[list[tuple[TextCall, ...]]] = []
    for start, end, is_marked in blocks_in(text):
        inside = [span for span in spans if start <= span.start and span.end <= end]
        content = [span.calls for span in inside]
        # The first line of a block shows whether it is quoted or a comment.
        is_full = _is_alone(text, start, end) and not _around(text[:end], inside, start)
        if is_marked and not (inside and is_full):
            # It is marked as a call and cannot be read as one.
            return []
        if is_full and content not in contents:
            blocks.append(inside)
            contents.append(content)
    return [span for block in blocks for span in block]


def _is_alone(text: str, start: int, end: int) -> bool:
    """Say whether lines hold nothing but a stretch: it is not a piece of other code."""
    return not words_in(line_before(text, start)) and not words_in(text[end:].partition("\n")[0])


def _around(text: str, spans: list[Span], start: int = 0) -> str:
    return "\n".join(filter(None, map(words_in, _gaps(text, spans, start))))


def _calls(spans: list[Span]) -> tuple[TextCall, ...]:
    return tuple(call for span in spans for call in span.calls)


def _gaps(text: str, spans: list[Span], start: int = 0) -> list[str]:
    """Return what stands before, between and behind the spans."""
    starts = [*(span.start for span in spans), len(text)]
    ends = [start, *(span.end for span in spans)]
    return [text[end:start] for end, start in zip(ends, starts, strict=True)]
