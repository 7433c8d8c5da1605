"""Finds a call that was begun at the very end of a text, and has no arguments yet."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from selfcorrect.reading.contract import Candidate, Fault, Offered
from selfcorrect.reading.openings import CALL_TAG, named_before

_TAIL: Final = 300
_OPENED: Final = " \t\r\n[{("
_HALF_TAG: Final = re.compile(r"(?:</?[^<>\n]{0,60}|\[[A-Z_]{0,20}|`{1,3}\w{0,10})\Z")
_INVOKED: Final = re.compile(
    r"<(?:\w+:|[|\uff5c]\w+[|\uff5c])?(?:invoke|function)(?:\s+name\s*)?=\s*[\"']?"
    r"(?P<name>[\w.\-:/]{0,200})[\"']?>?\Z"
)
_CODE: Final = re.compile(r"(?<![\w.])(?P<name>[^\W\d][\w.]{0,200})\(\s*\w{0,100}\Z")
_MARKED: Final = re.compile(
    r"(?:<\|tool_call_begin\|>|<\uff5ctool\u2581call\u2581begin\uff5c>(?:\w+<\uff5ctool\u2581sep\uff5c>)?"
    r"|<\|recipient\|>|\u273fFUNCTION\u273f:|\bto=functions\.|<(?:invoke|tool_call)>\s*<(?:tool_)?name>)"
    r"[^<>\n{}]{0,200}(?:</(?:tool_)?name>\s*(?:<\w{1,20}>)?|\n\u273fARGS\u273f?|<\|[^<>\n]{1,60}\|>)?\Z"
)
_HALF_NAME: Final = re.compile(r"[\w.\-:/]{1,100}\Z")


def begun_calls(text: str, tools: Offered, /) -> tuple[Candidate, ...]:
    """A call whose name is written and whose arguments were cut off, or even its name."""
    begin = max(0, len(text) - _TAIL)
    tail = text[begin:].rstrip(_OPENED)
    ends = (text[begin:].rstrip(), tail, _HALF_TAG.sub("", tail).rstrip(_OPENED))
    for start, name, is_code in filter(None, (_begun(end, tools) for end in ends)):
        fault = Fault(len(text), "cut off inside a call", cut=True)
        # A tag alone may also be one that should have closed the call before it.
        call = Candidate(name, None, begin + start, len(text), fault=fault)
        return (replace(call, code=is_code or not name, tagged=bool(name) and not is_code),)
    return ()


def _begun(tail: str, tools: Offered) -> tuple[int, str, bool] | None:
    """Where a call begins at the end of a text, the name of an offered tool, and if it is code."""
    for found in (named_before(tail), _INVOKED.search(tail), code := _CODE.search(tail)):
        if found is not None and tools.meant(found["name"]) is not None:
            return found.start(), found["name"], found is code
    half = _HALF_NAME.search(tail)
    before = CALL_TAG.search(tail[: half.start()]) if half else None
    tag = CALL_TAG.search(tail) or before or _MARKED.search(tail) or _INVOKED.search(tail)
    return None if tag is None else (tag.start(), "", False)
