"""Calls that a text only talks about: weighed, denied, quoted, already made, or an example."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from selfcorrect.reading import (
    FORBIDDEN,
    MARKUP,
    MOST_CALLS,
    TAG_BEFORE,
    Candidate,
    asked_about,
    denied_before_tag,
    goes_on,
    put_off,
    taken_back,
    told,
)

_NEGATED: Final = re.compile(r"\b(?:not|never|cannot|without)\b|n['\u2019]t\b", re.IGNORECASE)
_QUOTED: Final = re.compile(r"(?<!`)[`\"'\u201c](?!`)(?:<[^<>\n]{1,80}>\s*|\[[A-Z_]{3,20}\]\s*)*\Z")
_CODE_BEFORE: Final = re.compile(
    r"\A\s*(?:[\w.,* \t]+=|return\b|await\b|\d+[.)]|[-*\u2022]|print\()"
)
_CLOSERS: Final = " \t\r)]}'\"`;,.!*_"
_COMMENTED: Final = re.compile(r"(?:\A\s*+(?:#++|//)|<!--|~~)\s*+\Z")
_SHOWN: Final = re.compile(
    r"(?:<(?:tool_|function_)?(?:results?|responses?|outputs?|examples?|observations?|available_tools)>"
    r"|\[/?(?:TOOL_RESULTS|AVAILABLE_TOOLS)\])\s*+\Z",
    re.IGNORECASE,
)
"""A tag right before what is shown, not called."""
_ALTERNATIVE: Final = re.compile(
    r"(?:\A|[.!?\n])[\W_]*+(?:or\b|alternatively\b|otherwise\b"
    r"|(?:an(?:other)?|the) (?:alternative|option)\b)[^.!?\n]{0,80}[\s\[(]*\Z",
    re.IGNORECASE,
)
"""What stands between two calls of which only one is to be made."""
_JOINED: Final = re.compile(r"\b(?:or|else|lambda|if)\b[^\w\n]*+\Z", re.IGNORECASE)
_WORD: Final = re.compile(r"\w")
_BEFORE: Final = 300
_BEHIND: Final = 120
_REST: Final = 600


def made(text: str, calls: Sequence[Candidate]) -> Iterator[Candidate]:
    """The calls that the text makes, in order, without those that it only talks about.

    More calls than a text may hold are not looked at one by one: it is refused with all of them.
    """
    if len(calls) > MOST_CALLS:
        yield from calls
        return
    words = _without(text, calls)
    rivals = _rivals(words, calls)
    for index, call in enumerate(calls):
        last = _last_in_line(words, calls, index) if call.code else call
        if index not in rivals and not _discussed(words, call, last.end):
            yield call


def _without(text: str, calls: Sequence[Candidate]) -> str:
    """The text with the calls made blank: what their arguments say is not about them."""
    parts: list[str] = []
    pos = 0
    for start, end in sorted({(call.start, call.end) for call in calls}):
        if end > pos:
            parts += [text[pos:start], " " * (end - max(start, pos))]
            pos = end
    return "".join([*parts, text[pos:]])


def _rivals(text: str, calls: Sequence[Candidate]) -> set[int]:
    """The calls that are offered for a choice, each as another way of the one before."""
    found: set[int] = set()
    for index, call in enumerate(calls[1:], 1):
        gap = text[calls[index - 1].end : call.start]
        if len(gap) <= _BEFORE and _ALTERNATIVE.search(MARKUP.sub(" ", gap)):
            found |= {index - 1, index}
    return found


def _last_in_line(text: str, calls: Sequence[Candidate], index: int) -> Candidate:
    """The last of the calls that follow in the same line."""
    last = calls[index]
    for call in calls[index + 1 : index + 20]:
        if call.start - last.end > _BEHIND or "\n" in text[last.end : call.start]:
            break
        last = call
    return last


def _discussed(text: str, call: Candidate, end: int) -> bool:
    before = text[max(0, call.start - _BEFORE) : call.start]
    behind = text[end : end + _BEHIND]
    above, _, line = before.rpartition("\n")
    if line.lstrip().startswith("> ") or _COMMENTED.search(line) or _SHOWN.search(before):
        return True
    if _left_open(before, "<!--", "-->") or (_left_open(before, "/*", "*/") and "*/" in behind):
        return True
    if taken_back(text[call.end : call.end + _BEHIND]) or taken_back(behind):
        return True
    if asked_about(text[end : end + _REST]):
        return True
    inline = _WORD.search(MARKUP.sub(" ", line)) is not None
    if call.tagged or TAG_BEFORE.search(before):
        return _talk_around_tag(before, behind.partition("\n")[0], inline=inline)
    if put_off(before, line=line, above=above, inline=inline, code=call.code) or goes_on(behind):
        return True
    behind = behind.partition("\n")[0]
    if FORBIDDEN.search(behind) or told(behind):
        return True
    return call.code and _in_talk(line, behind, inline=inline)


def _left_open(before: str, opening: str, closing: str) -> bool:
    """Whether a comment that opens before a call is not closed there."""
    return before.rfind(opening) > before.rfind(closing)


def _talk_around_tag(before: str, behind: str, *, inline: bool) -> bool:
    """Whether a call in a tag is only talked about."""
    if told(behind, tagged=True):
        return True
    if _QUOTED.search(before) and (inline or _WORD.search(MARKUP.sub(" ", behind))):
        return True
    return denied_before_tag(before, inline=inline)


def _in_talk(line: str, behind: str, *, inline: bool) -> bool:
    """Whether a call in code stands inside a sentence."""
    if _NEGATED.search(line) or _JOINED.search(line):
        return True
    prose = inline and _CODE_BEFORE.match(line) is None
    return prose and _WORD.search(MARKUP.sub(" ", behind.lstrip(_CLOSERS))) is not None
