"""Where the calls of a text stand in it: alone, on lines of their own, or among words.

What is no word is told by what is allowed, not by what is forbidden: the tokens and tags of the
forms that models write calls in, brackets and separators. All else is a word.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

from selfcorrect.plain import canonical
from selfcorrect.reading.contract import Candidate

_TAGS: Final = (
    "tool_?calls?|function_?calls?|functions?|tools?|tool_use|tool_code|multi_?tool_?calls?|actions?|invoke"
    r"|(?:minimax|seed|antml):tool_?calls?|(?:antml:)?function_calls|steptml:invoke"
    "|[|\uff5c]DSML[|\uff5c](?:function_calls|invoke)"
)
_SPECIAL: Final = (
    "begin_of_text|end_of_text|endoftext|eot|eot_id|eom_id|im_start|im_end|end_header_id|end|start"
    "|call|return|stop|message|content|recipient|plugin|python_tag|python_(?:start|end)"
    "|/?tool_calls?|tool_calls?_(?:start|end)|tool_calls_begin|tool_calls_section_(?:begin|end)|tool_sep"
    "|tool_call_argument_begin|tools_(?:prefix|suffix)|action_(?:start|end)"
    "|(?:START|END)_(?:ACTION|RESPONSE)|(?:START|END)_OF_TURN_TOKEN|CHATBOT_TOKEN|BOS_TOKEN"
    "|tool\u2581calls?\u2581(?:begin|end)|tool\u2581sep"
    "|(?:begin|end)\u2581of\u2581sentence|Assistant"
)
FORM: Final = re.compile(
    "```(?:json[5c]?|python|py|xml|javascript|js|text|plaintext|tool_code|tool_calls?|tool)?(?![\\w-])"
    rf"|</?(?i:{_TAGS})>|<<function>>"
    r"|</?(?:s|bos|eos|bot_end|end_code|end_of_turn)>|<start_of_turn>(?:model\b)?"
    r"|<\|(?:start|im_start)\|>[ \t]*assistant\b|<\|from\|>[ \t]*assistant\b"
    r"|<\|(?:start_header_id|start_of_role)\|>[ \t]*assistant[ \t]*"
    r"<\|(?:end_header_id|end_of_role)\|>"
    r"|<\|channel\|>(?:commentary|final)?|<\|constrain\|>(?:json)?|<\|assistant\|>"
    rf"|<[|\uff5c](?:{_SPECIAL})[|\uff5c]>"
    r"|\[/?(?:TOOL_CALLS?|ARGS)\]|^[ \t]*functools(?=\0)|\bprint(?=\()"
    r"|^Call:(?=[^\n]*<bot_end>)|^>>>(?=\0)|<[|\uff5c]tool_call_begin[|\uff5c]>(?:function)?"
    r"|\u273fFUNCTION\u273f:|^Action:(?=[ \t]*(?:```|$))|\ufeff",
    re.MULTILINE,
)
"""The tokens of the forms in which models write calls."""
_REASONED: Final = re.compile(r"\s*Thought:[^\n]*\n(?:(?!Action:|\0)[^\n]*\n)*(?=Action:|\0)")
"""The thinking of the form whose calls are `Action:` and `Action Input:`."""
_TURN_ENDS: Final = re.compile(
    r"<\|(?:im_end|eot|eot_id|eom_id|end_of_text|endoftext|call|return|stop|END_OF_TURN_TOKEN)\|>"
    "|</s>|<end_of_turn>|<bot_end>|<end_code>|<\uff5cend\u2581of\u2581sentence\uff5c>"
    r"|^Observation:",
    re.MULTILINE,
)
"""Behind one of these a model has ended its turn; what follows it was not asked to write."""
_WORDS: Final = re.compile(r"[^\0\s\[\](){},;`]+")
"""What is no bracket, no separator and no call."""
_STRAY: Final = re.compile(r"(?<=\[)['\"](?=\0)|(?<=\0)['\"](?=\])")
"""A quote between a call and the bracket of a list of calls: `['find(q="x")]`."""
_CLOSED: Final = re.compile(r"\s*+</([\w.-]{1,200})>")
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)|/\*.*?(?:\*/|\Z)", re.DOTALL)


class Standing:
    """What of a text is neither a call nor a token of a form; offsets are those of the text."""

    __slots__ = ("_behind_words", "_lines", "_rest", "_words")

    def __init__(self, text: str, calls: Sequence[Candidate]) -> None:
        """Look at a text in which thinking was made blank, and at its calls, in order."""
        rest = without(text, calls)
        acting = bool(calls) and text.startswith("Action:", calls[0].start)
        if acting and (reasoned := _REASONED.match(rest)) is not None:
            rest = _blank(reasoned) + rest[reasoned.end() :]
        self._rest = _STRAY.sub(" ", FORM.sub(_blank, rest))
        self._words = [found.start() for found in _WORDS.finditer(self._rest)]
        self._lines = [found.start() for found in re.finditer("\n", self._rest)]
        self._behind_words = {call.start for call in calls if _is_behind_words(text, call)}

    def alone(self) -> bool:
        """Whether the calls are all of the text."""
        return not self._words

    def before(self, end: int) -> bool:
        """Whether words stand before an offset."""
        return bool(self._words) and self._words[0] < end

    def own_lines(self, call: Candidate, *, joined: bool = False) -> bool:
        """Whether no words stand in the lines of a call; but for a sentence `joined` to it."""
        line = bisect_left(self._lines, call.start)
        start = self._lines[line - 1] if line else -1
        start = call.start - 1 if joined and call.start in self._behind_words else start
        line = bisect_left(self._lines, call.end)
        end = self._lines[line] if line < len(self._lines) else len(self._rest)
        return not self._between(start + 1, end)

    def at_edge(self, calls: Sequence[Candidate], end: int) -> Sequence[Candidate]:
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
            meant = {_key(call) for call in block}
            if (first or last) and all(self.own_lines(call, joined=True) for call in block):
                return block if all(_key(call) in meant for call in rest) else ()
        return ()

    def _between(self, start: int, end: int) -> bool:
        """Whether words begin between two offsets, of which the first begins a line or a call."""
        return bisect_left(self._words, start) < bisect_left(self._words, end)


def _is_behind_words(text: str, call: Candidate) -> bool:
    """Whether a sentence ends right before a call of the form that puts its name on a line.

    The template of that form (GLM) joins what a model says and the name without a break.
    """
    joined = text[max(call.start - 1, 0) : call.start] in (".", "!", "?")
    return joined and text.startswith(f"{call.name}\n", call.start)


def _key(call: Candidate) -> tuple[str, str]:
    return call.name, canonical(call.args)


def end_of_turn(text: str, calls: Sequence[Candidate]) -> int:
    """Where a form's own token ends the turn behind the first call; else the end of the text."""
    found = _TURN_ENDS.search(without(text, calls), calls[0].end)
    return found.start() if found else len(text)


def commented(text: str, calls: Sequence[Candidate]) -> list[Candidate]:
    """The calls that stand inside a comment."""
    spans = [found.span() for found in _COMMENT.finditer(without(text, calls))]
    starts = [start for start, _ in spans]
    found = []
    for call in calls:
        at = bisect_right(starts, call.start) - 1
        if at >= 0 and call.start < spans[at][1]:
            found.append(call)
    return found


def without(text: str, calls: Sequence[Candidate]) -> str:
    """The text with zeros in the place of its calls, and of tags with the names of their tools."""
    parts: list[str] = []
    pos = 0
    for start, end in sorted({_span(text, call) for call in calls}):
        if end > pos:
            parts += [text[pos:start], "\0" * (end - max(start, pos))]
            pos = end
    return "".join([*parts, text[pos:]])


def said_beside(text: str, calls: Sequence[Candidate]) -> str:
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


def _span(text: str, call: Candidate) -> tuple[int, int]:
    closed = _CLOSED.match(text, call.end)
    if closed is not None and closed[1] == call.name and text[call.start - 1 : call.start] == "<":
        return call.start - 1, closed.end()
    return call.start, call.end


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])
