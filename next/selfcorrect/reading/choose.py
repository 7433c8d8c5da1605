"""Says whether a text is a call: all of it, or lines of its own, or neither."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, Literal, TypeAlias

from selfcorrect.model import JSON
from selfcorrect.reading.call_object import MAX_BYTES
from selfcorrect.reading.json_calls import CallTextError, read_json_calls
from selfcorrect.reading.json_text import CLOSERS, Scanner, read_json_text
from selfcorrect.reading.literals import JsonTextError
from selfcorrect.reading.markup import TAG, THINKING, read_markup
from selfcorrect.reading.python_calls import NAME, read_python_calls
from selfcorrect.reading.text_call import TextCall

IsTool: TypeAlias = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The calls of a text.

    Attributes:
        calls: All calls, in order; one that the words behind only repeat is there once.
        around: The words that stand around and between them.
        edge: Whether the calls are lines of their own that begin or end the text.
    """

    calls: tuple[TextCall, ...]
    around: str = ""
    edge: bool = True


@dataclass(frozen=True, slots=True)
class NoCall:
    """The text holds no call."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The text holds a call that cannot be read.

    Attributes:
        reason: Why not.
        name: The tool that it names, where one is known.
    """

    reason: str
    name: str = ""


def may_read(chosen: Chosen, policy: Literal["whole", "edge", "off"], *, acts: bool) -> bool:
    """Return whether the calls count as calls.

    Args:
        chosen: What stands in the text.
        policy: The deployment's `[reading] text`.
        acts: Whether one of the tools acts.
    """
    if policy == "off" or not chosen.around:
        return policy != "off"
    return chosen.edge and (policy == "edge" or (policy == "whole" and not acts))


def read_text(
    text: str, is_tool: IsTool, finish_reason: str | None = None
) -> Chosen | NoCall | Unreadable:
    """Read the calls of a text.

    >>> read_text("Sure! f(a=1)", bool).around
    'Sure!'

    Args:
        text: What a model wrote.
        is_tool: Whether a name is the name of a tool.
        finish_reason: Why the model stopped; after `length` no missing closer is added.
    """
    if len(text) > MAX_BYTES:
        return Unreadable(f"the text is longer than {MAX_BYTES} characters")
    is_tool = cache(is_tool)  # a long text asks for the same few names again and again
    is_markdown = _is_markdown(text)
    if is_markdown:
        text = text.replace("\\_", "_")
    try:
        spans = _whole(text, is_tool) or _find_spans(text, is_tool)
    except CallTextError as error:
        return Unreadable(str(error), error.name)
    chosen = _choose(text, spans, is_tool)
    if chosen is None:
        return NoCall()
    if finish_reason == "length" and any(CLOSERS & {*call.skipped} for call in chosen.calls):
        return Unreadable("the text was cut off at the limit of tokens", chosen.calls[-1].name)
    if is_markdown:
        calls = (replace(call, skipped=(*call.skipped, "markdown")) for call in chosen.calls)
        return replace(chosen, calls=tuple(calls))
    return chosen


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    calls: tuple[TextCall, ...] = ()


def _is_markdown(text: str) -> bool:
    """Return whether Markdown escaped a name that stands before all quotes and tags."""
    at = text.find("\\_")
    return bool(_ESCAPED_NAME.match(text, max(at, 0))) and not {*"\"'“‘<"} & {*text[:at]}


def _whole(text: str, is_tool: IsTool) -> list[_Span]:
    """Read a text that is one value of JSON, which may be encoded again, and nothing else."""
    value: JSON = text
    skipped: tuple[str, ...] = ()
    for _ in range(4):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
            break
        try:
            read = read_json_text(value)
        except JsonTextError:
            return []
        if "comment" in read.skipped:
            # Behind the value, it may be words about the call, or another call.
            return []
        value, skipped = read.value, skipped + read.skipped
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        calls = _quoted(value, skipped)
    else:
        calls = read_json_calls(value, is_tool, skipped)
    return [_Span(0, len(text), calls)] if calls else []


def _quoted(texts: list[str], skipped: tuple[str, ...]) -> tuple[TextCall, ...]:
    """Read a list of texts that are one call in Python's notation each."""
    calls: list[TextCall] = []
    for text in texts:
        try:
            found = read_python_calls(text, 0)
        except JsonTextError as error:
            name = _CALLED.match(text)
            raise CallTextError(name[1] if name else "", error) from None
        if found is None or found[1] != len(text):
            return ()
        calls += (replace(call, skipped=(*skipped, "quote", *call.skipped)) for call in found[0])
    return tuple(calls)


def _find_spans(text: str, is_tool: IsTool) -> list[_Span]:
    """Find every stretch of a text that reads as calls, and the thoughts."""
    spans: list[_Span] = []
    at = failures = 0
    while failures < _MOST_FAILURES and (found := _START.search(text, at)):
        if len(spans) > _MOST_SPANS:
            raise CallTextError("", f"the text holds more than {_MOST_SPANS} calls or thoughts")
        start = found.start()
        thought = THINKING.match(text, start)
        span = _Span(start, thought.end()) if thought else _read_span(text, start, is_tool)
        if span is not None:
            at = max(span.end, start + 1)
            counts = bool(span.calls or thought)
            spans += [span] * counts
            failures += not counts
        else:
            tag = TAG.match(text, start)
            at = tag.end() if tag else start + 1
            failures += 1
    return spans


def _read_span(text: str, start: int, is_tool: IsTool) -> _Span | None:
    """Read what begins at a place: calls, a value that is none, or nothing.

    Raises:
        CallTextError: If it names a known tool and cannot be read.
    """
    try:
        if found := read_python_calls(text, start) or read_markup(text, start, is_tool):
            return _Span(start, found[1], found[0])
        if text[start] not in "{[":
            return None
        scanner = Scanner(text, start)
        value = scanner.value()
        calls = read_json_calls(value, is_tool, tuple(scanner.skipped))
        return _Span(start, scanner.at, calls)
    except CallTextError as error:
        if is_tool(error.name):
            raise
        return _Span(start, len(text))
    except JsonTextError as error:
        name = _named_tool(text, start, is_tool)
        if name and not _words(text[text.rfind("\n", 0, start) + 1 : start]):
            raise CallTextError(name, error) from None
        return None


def _named_tool(text: str, start: int, is_tool: IsTool) -> str:
    """Return the known tool that a call which cannot be read begins with; empty if none."""
    near = text[start : start + 20_000]
    quoted = dict.fromkeys(_QUOTED.findall(near))
    called = _CALLED.match(near)
    return next(filter(is_tool, [called[1]] if called else quoted), "")


def _choose(text: str, spans: list[_Span], is_tool: IsTool) -> Chosen | None:
    start = 0
    for end, gap in zip([0, *(span.end for span in spans)], _gaps(text, spans), strict=True):
        # The host took away what opened this thought.
        if _THOUGHT_END in gap:
            start = end + gap.rindex(_THOUGHT_END) + len(_THOUGHT_END)
    spans = [span for span in spans if span.start >= start]
    if any(map(_words, _gaps(text, spans, start))):
        # A name that no tool has, amid words, is prose about code.
        spans = [span for span in spans if all(is_tool(call.name) for call in span.calls)]
    if not any(span.calls for span in spans):
        return None
    gaps = _gaps(text, spans, start)
    words = [_words(gap) for gap in gaps]
    first = next((at for at in range(1, len(words)) if words[at]), len(spans))
    begins = not words[0] and not _words(gaps[first].partition("\n")[0])
    said = [span.calls for span in spans]
    if begins and first < len(spans) and all(calls in said[:first] for calls in said[first:]):
        # A model that goes on to talk about its call means no other one.
        return Chosen(_calls(spans[:first]), _words(text[spans[first - 1].end :]))
    opens = not any(words[:-1]) and not _words(gaps[-1].partition("\n")[0])
    closes = not any(words[1:]) and not _words(gaps[0].rpartition("\n")[2])
    return Chosen(_calls(spans), "\n".join(filter(None, words)), opens or closes)


def _calls(spans: list[_Span]) -> tuple[TextCall, ...]:
    return tuple(call for span in spans for call in span.calls)


def _gaps(text: str, spans: list[_Span], start: int = 0) -> list[str]:
    """Return what stands before, between and behind the spans."""
    starts = [*(span.start for span in spans), len(text)]
    ends = [start, *(span.end for span in spans)]
    return [text[end:start] for end, start in zip(ends, starts, strict=True)]


def _words(gap: str) -> str:
    """Return what a stretch says beside tags and the punctuation of lists."""
    if not gap or gap.isspace():
        return ""
    return _PUNCTUATION.sub(" ", TAG.sub(" ", gap)).strip()


_MOST_FAILURES: Final = 400
_MOST_SPANS: Final = 100
_THOUGHT_END: Final = "</think>"
_START: Final = re.compile(
    rf"[\[{{<]|(?:Action|Thought):|(?<![\w.\-]){NAME}(?=\(|[ \t]*\n?[ \t]*\{{)"
)
_QUOTED: Final = re.compile(rf"[\"']({NAME})[\"']")
_CALLED: Final = re.compile(rf"(?:\[\s*)?[\"']?({NAME})[\"']?\(")
_ESCAPED_NAME: Final = re.compile(r"\\_[\w\\]*+\s*[=(]")
_PUNCTUATION: Final = re.compile(r"[\[\](){},;]")
