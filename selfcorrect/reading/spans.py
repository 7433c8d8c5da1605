"""Finds every stretch of a text that reads as calls."""

import re
from dataclasses import replace
from itertools import islice

from selfcorrect.model import JSON
from selfcorrect.names.letters import words as split_words
from selfcorrect.reading.json_calls import CallTextError, ToolCallKeys
from selfcorrect.reading.json_text import Scanner, decode
from selfcorrect.reading.literals import JsonTextError
from selfcorrect.reading.markup import PATTERNS, TAG, THINKING, read_markup
from selfcorrect.reading.python_calls import NAME, bare, read_python_calls
from selfcorrect.reading.text_call import IsTool, Span, TextCall


def find_spans(text: str, keys: ToolCallKeys) -> list[Span]:
    """Return the stretches of a text, in order.

    Raises:
        CallTextError: If a call of a known tool cannot be read.
    """
    if whole := _whole(text, keys):
        return whole
    spans: list[Span] = []
    at = failures = 0
    turn = len(text)
    while failures < _MOST_FAILURES and (opening := _START.search(text, at)):
        if len(spans) > _MOST_SPANS:
            raise CallTextError("", f"the text holds more than {_MOST_SPANS} calls or thoughts")
        start = opening.start()
        if turn <= start:
            break
        thought = THINKING.match(text, start)
        if end := _THOUGHT_END.match(text, start):
            # The host took away what opened this thought.
            spans, start, thought = [], 0, end
        span = Span(start, thought.end()) if thought else _read_span(text, start, keys)
        if span is None:
            tag = TAG.match(text, start)
            span = Span(start, tag.end() if tag else start)
        at = max(span.end, start + 1)
        if span.calls or thought:
            spans.append(span)
            turn = next_turn(text, at)
        else:
            failures += 1
    return spans


def blocks_in(text: str) -> list[tuple[int, int, bool]]:
    """Return where blocks of code and marks of calls begin and end, and whether it is a mark."""
    blocks = islice(_BLOCK.finditer(text), _MOST_BLOCKS)
    return [(*block.span(), block["mark"] is not None) for block in blocks]


def next_turn(text: str, at: int) -> int:
    """Return where the model begins to play the next turn, behind its answer; else the end."""
    turn = _NEXT_TURN.search(text, at)
    return turn.start() if turn else len(text)


def line_before(text: str, at: int) -> str:
    """Return what stands before a character on its line."""
    return text[text.rfind("\n", 0, at) + 1 : at]


def words_in(gap: str) -> str:
    """Return what a stretch says beside tags and the punctuation of lists."""
    words = _PUNCTUATION.sub(" ", TAG.sub(" ", gap)).strip()
    return words if words.strip(_QUOTES) else ""


def _whole(text: str, keys: ToolCallKeys) -> list[Span]:
    """Read a text that is one value of JSON, which may be encoded again, and nothing else."""
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return []
    try:
        read = decode(text)
    except JsonTextError:
        return []
    # Behind the value, a comment may be words about the call, or another call.
    if "comment" in read.skipped:
        return []
    calls = _calls_of(read.value, read.skipped, keys)
    return [Span(0, len(text), calls)] if calls else []


def _calls_of(value: JSON, skipped: tuple[str, ...], keys: ToolCallKeys) -> tuple[TextCall, ...]:
    """Return the calls that a value consists of, as objects or as texts in Python's notation."""
    texts = value
    if isinstance(value, dict) and len(value) == 1:
        [(key, inner)] = value.items()
        texts = inner if _CALLS.issuperset(split_words(key)) else value
    if isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts):
        return _quoted(texts, skipped)
    return keys.read(value, skipped)


def _quoted(texts: list[str], skipped: tuple[str, ...]) -> tuple[TextCall, ...]:
    """Read a list of texts that are one call in Python's notation each."""
    calls: list[TextCall] = []
    for text in texts:
        try:
            span = read_python_calls(text, 0, quoted=True)
        except JsonTextError as error:
            name = _CALLED.match(text)
            raise CallTextError(bare(name[1]) if name else "", error) from None
        if span is None or span.end != len(text):
            return ()
        calls += (replace(call, skipped=(*skipped, "quote", *call.skipped)) for call in span.calls)
    return tuple(calls)


def _read_span(text: str, start: int, keys: ToolCallKeys) -> Span | None:
    """Read what begins at `start`: calls, another value, or nothing.

    Raises:
        CallTextError: If it names a known tool and cannot be read.
    """
    try:
        span = read_python_calls(text, start) or read_markup(text, start, keys.is_tool)
        if span or text[start] not in "{[":
            return span
        scanner = Scanner(text, start)
        value = scanner.value()
        return Span(start, scanner.at, _calls_of(value, tuple(scanner.skipped), keys))
    except CallTextError as error:
        if keys.is_tool(error.name):
            raise
        return Span(start, len(text))
    except JsonTextError as error:
        name = _named_tool(text, start, keys.is_tool)
        if name and not words_in(line_before(text, start)):
            raise CallTextError(name, error) from None
        return None


def _named_tool(text: str, start: int, is_tool: IsTool) -> str:
    """Return the known tool that a call which cannot be read begins with; empty if none."""
    near = text[start : start + 20_000]
    call = _CALLED.match(near)
    names = [bare(call[1])] if call else [value[2] for value in _VALUE.finditer(near)]
    return next(filter(is_tool, names), "")


_MOST_FAILURES = 400
_MOST_SPANS = 100
_MOST_BLOCKS = 20
_BLOCK = re.compile(
    r"(?s)(?:```[^\n`]*\n|<(?P<mark>(?:tool|function)_?calls?)>).*?"
    r"(?:(?(mark)</(?P=mark)>|```)|\Z)"
)
_START = re.compile(rf"[\[{{<]|(?:Action|Thought):|(?<![\w.\-]){NAME}(?=\(|[ \t]*\n?[ \t]*\{{)")
_NEXT_TURN = re.compile(PATTERNS["next_turn"])
_THOUGHT_END = re.compile(PATTERNS["thought_end"])
_VALUE = re.compile(rf"(?::\s*|(?P<quote>[\"']))({NAME})(?(quote)(?P=quote))")
_CALLED = re.compile(rf"(?:\[\s*)?[\"']?({NAME})[\"']?\(")
_CALLS = frozenset({"call", "calls", "function", "functions", "tool", "tools"})
"""The words of a key around all calls."""
_PUNCTUATION = re.compile(r"[\[\](){},;+]")
_QUOTES = " \n'\"`"
