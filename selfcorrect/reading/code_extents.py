"""Where a call in code ends, and which brackets it lacks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from selfcorrect.plain import DEPTH

CALL_OPENING: Final = re.compile(r"(?<![\w.\\$@-])([^\W\d](?:\w|\\_|\.(?=[^\W\d]))*+)\(")
"""What a call begins with: a name and a bracket."""
MOST_MISSING: Final = 4
"""With more brackets missing nobody can tell what was meant."""
_TOKEN: Final = re.compile(
    r"\"\"\"(?:[^\"\\]++|\\.|\"(?!\"\"))*+\"\"\"|'''(?:[^'\\]++|\\.|'(?!''))*+'''"
    r"|\"(?:[^\"\\\n]++|\\.)*+\"|'(?:[^'\\\n]++|\\.)*+'|[()\[\]{}]",
    re.DOTALL,
)
_QUOTE: Final = re.compile(r"[\"']")
_CLOSER: Final = {"(": ")", "[": "]", "{": "}"}
_BRACKET: Final = re.compile(r"[()\[\]{}]")
_OVER: Final = re.compile(
    r"[\])};'\"` \t]*+(?:\Z|\n(?!\s*+(?:[\w\"']++\s*+[=:]|[,)\]}'\"\d{\[-])))"
)
"""What shows that no argument follows: only junk up to the end of a line, and none below it."""
_NEXT_CALL: Final = re.compile(r"\s*+[,;]\s*+[^\W\d][\w.]*+\(")
_BLOCK_END: Final = re.compile(r"```|</?[A-Za-z_|]")
_WAITS: Final = frozenset(",=:([{")
"""Behind one of these more was to come."""
_FEW: Final = range(1, MOST_MISSING + 1)


def extent(text: str, paren: int) -> tuple[int, str, int]:
    """Where the bracket that opens here is closed, what is missing there, and how far was looked.

    Brackets may be missing at the end of the text, before the one that closes the call, or before
    one that closes what stands around it. The end is 0 where brackets do not match otherwise or a
    string is not closed.
    """
    open_: list[str] = []
    last = paren
    for token in _TOKEN.finditer(text, paren):
        char = token[0]
        last = token.end()
        if char in _CLOSER:
            open_.append(_CLOSER[char])
            if len(open_) > DEPTH:
                return 0, "", last
        elif char in ")]}":
            if open_[-1] != char:
                waits = text[paren : token.start()].rstrip()[-1:] in _WAITS
                missing = "" if waits else _missing(text, token, open_)
                return (token.start(), missing, last) if len(missing) in _FEW else (0, "", last)
            open_.pop()
            if not open_:
                return last, "", last
    size = len(text.rstrip())
    if len(open_) > MOST_MISSING or text[size - 1] in _WAITS or _QUOTE.search(text, last):
        return 0, "", len(text)
    return size, "".join(reversed(open_)), len(text)


def _missing(text: str, token: re.Match[str], open_: Sequence[str]) -> str:
    """The closing brackets that are missing before one that closes something further out."""
    over = _OVER.match(text, token.start())
    if over and token[0] not in open_ and open_[0] in over[0]:
        return ""
    closes = (over and not _closed_below(text, token.end())) or (
        token[0] == open_[0] and _NEXT_CALL.match(text, token.end())
    )
    return "".join(reversed(open_)) if closes else ""


def _closed_below(text: str, pos: int) -> bool:
    """Whether what follows up to the next call closes a bracket that it did not open."""
    following = CALL_OPENING.search(text, pos)
    block = _BLOCK_END.search(text, pos, following.start() if following else len(text))
    end = block.start() if block else following.start() if following else len(text)
    line = text.find("\n", pos, end)
    depth = 0
    for bracket in _BRACKET.finditer(text, line, end) if line >= 0 else ():
        depth += 1 if bracket[0] in _CLOSER else -1
        if depth < 0:
            return True
    return False
