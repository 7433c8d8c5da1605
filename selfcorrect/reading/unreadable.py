"""JSON that cannot be read: what of it may be a call, so that the text has to be refused."""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from selfcorrect.reading.contract import Candidate, Fault, Offered, ToolCallKeys
from selfcorrect.reading.openings import CALL_TAG, named_before

MARKUP_NEXT: Final = re.compile(r"\s*+(?:</?[\w|\uff5c]|```|\[/?[A-Z_]+\])")
"""Markup right behind JSON, or not far from it."""
_TOKEN: Final = re.compile(r"\"(?:[^\"\\\n]++|\\.)*+\"|'(?:[^'\\\n]++|\\.)*+'|[{}\[\]]", re.DOTALL)
_DESCRIPTION: Final = re.compile(
    r"[\[\s]{0,40}+\{[^{}]{0,400}[\"'](?:parameters|input_schema)[\"']\s*:"
    r"\s*\{\s*[\"'](?:type|properties)[\"']\s*:"
    r"|\{\s*[\"']type[\"']\s*:\s*[\"']\w+[\"']\s*,\s*[\"'](?:properties|description|items|enum)[\"']"
)
"""What shows that a tool is described, and not called."""
_OBJECT: Final = re.compile(r"[\[\s]{0,400}+\{")
_AROUND_NAME: Final = " \t\r\n<>`*:\"'"
_QUOTES: Final = "\"'\u201c\u201d\u2018\u2019\\\\"
_BACK: Final = 260
_FRONT: Final = 400


def unread_call(
    text: str, start: int, fault: Fault, tools: Offered, keys: ToolCallKeys
) -> Candidate | None:
    """The call that unreadable JSON may be; None where nothing says that it is one.

    It may be one with the name of an offered tool in it or right before it, with the keys of a
    call, in the tag of a call, or where nothing stands before it. What stands first, or was cut
    off before it said anything, counts only where no call can be read.
    """
    if _DESCRIPTION.match(text, start):
        return None
    before = text[max(0, start - _BACK) : start]
    name, begin = _named(before, tools)
    in_tag = CALL_TAG.search(before) is not None and _OBJECT.match(text, start) is not None
    begun = in_tag or fault.cut
    shown = bool(name) or _shows_call(text, start, len(text), tools, keys, begun=begun)
    if shown or (in_tag and not fault.cut):
        end, reach = _extent(text, start, fault.offset)
        seen = replace(fault, reach=max(reach, fault.reach))
        tagged = in_tag or begin > 0
        return Candidate(name, None, start - begin, end, fault=seen, tagged=tagged)
    alone = start <= _BACK and not before.strip() and _OBJECT.match(text, start)
    if alone or in_tag:
        return Candidate("", None, start, start + 1, fault=fault, code=True)
    return None


def unread_calls(
    text: str,
    found: Sequence[Candidate],
    broken: Sequence[Candidate],
    tools: Offered,
    keys: ToolCallKeys,
) -> list[Candidate]:
    """The unreadable ones that count: with no readable call inside, or with signs before it."""
    kept: list[Candidate] = []
    starts = sorted(call.start for call in found)
    for outer in broken:
        if kept and outer.start < kept[-1].end:
            continue
        following = bisect_right(starts, outer.start)
        limit = starts[following] if following < len(starts) else len(text)
        sure = outer.name or outer.tagged or outer.code
        begun = outer.tagged or (outer.fault is not None and outer.fault.cut)
        if (sure and limit >= outer.end) or _shows_call(
            text, outer.start, limit, tools, keys, begun=begun
        ):
            kept.append(outer)
    return kept


def _named(before: str, tools: Offered) -> tuple[str, int]:
    """The name of an offered tool right before its arguments, and how far before it begins."""
    named = named_before(before)
    if named is not None and tools.meant(named["name"]) is not None:
        return named["name"], len(before) - named.start()
    first = before.strip(_AROUND_NAME) if len(before) < _BACK else ""
    return (first, len(before)) if first in tools else ("", 0)


def _shows_call(
    text: str, start: int, limit: int, tools: Offered, keys: ToolCallKeys, *, begun: bool
) -> bool:
    """Whether unreadable JSON names an offered tool, or has a name and arguments.

    The name alone is enough in a call that was only `begun`: in a tag, or at the end of a text.
    """
    limit = min(start + _FRONT, limit)
    part = text[start:limit]
    if any(tools.meant(found[1]) is not None for found in _names(keys).finditer(part)):
        return True
    part = text[start : _closed(text, start, limit) or limit]
    names, arguments = _parts(keys)
    return names.search(part) is not None and (begun or arguments.search(part) is not None)


@functools.cache
def _names(keys: ToolCallKeys) -> re.Pattern[str]:
    """Finds what stands under the keys of a name, in JSON that cannot be read."""
    return re.compile(
        rf"\b(?:{_either(_name_keys(keys))})[{_QUOTES}]*\s*:\s*[{_QUOTES}]+([\w.\-:/]+)"
    )


@functools.cache
def _parts(keys: ToolCallKeys) -> tuple[re.Pattern[str], ...]:
    """Finds the keys of a name, and of arguments, in JSON that cannot be read."""
    groups = (_name_keys(keys), (*keys.arguments, "input"))
    return tuple(re.compile(rf"\b(?:{_either(each)})[{_QUOTES}]*\s*:") for each in groups)


def _name_keys(keys: ToolCallKeys) -> tuple[str, ...]:
    return (*keys.name, "function", "function_name")


def _either(words: Sequence[str]) -> str:
    return "|".join(map(re.escape, words))


def _extent(text: str, start: int, offset: int) -> tuple[int, int]:
    """Where an object that is broken at an offset seems to end, and how far was looked for it."""
    if end := _closed(text, start, len(text)):
        return max(end, offset), end
    following = MARKUP_NEXT.search(text, max(offset, start + 1))
    return following.start() if following else len(text), len(text)


def _closed(text: str, start: int, limit: int) -> int:
    """Where the bracket that opens here is closed; 0 where it is not."""
    depth = 0
    for token in _TOKEN.finditer(text, start, limit):
        depth += (token[0] in "{[") - (token[0] in "]}")
        if depth <= 0:
            return token.end()
    return 0
