"""Says in whose words a call stands: in another's turn, an element, or a block of code."""

import re
from collections.abc import Callable, Iterable

from selfcorrect.reading.markup import PATTERNS, TAG
from selfcorrect.reading.spans import line_before, words_in


def is_foreign(text: str, start: int, end: int) -> bool:
    r"""Say whether a stretch is not the model's own: played, quoted, or part of other code.

    >>> text = "<example>\npay()\n</example>"
    >>> is_foreign(text, 10, 15), is_foreign("Sure!\npay()", 6, 11)
    (True, False)
    """
    return _is_played(text[:start]) or _is_enclosed(text, start, end) or _is_nested(text, start)


def shares_line(before: str, behind: str) -> bool:
    r"""Say whether words stand on the line of a call, or on that of a tag that opens or ends it.

    >>> shares_line("Sure!\nnot <tool_call>\n", ""), shares_line("Sure!\n```\n", "\n```\nOk")
    (True, False)

    Args:
        before: What stands before the call.
        behind: What stands behind it.
    """
    # What stands before `<|end|>` is a message of its own.
    above, below = before.replace("<|end|>", "\n").split("\n")[::-1], behind.split("\n")
    return _touches(above, _OPENER.search) or _touches(below, _CLOSER.match)


def _touches(lines: Iterable[str], find_tag: Callable[[str], object]) -> bool:
    """Say whether the nearest line with words is the call's own one, or begins with its tag."""
    for at, line in enumerate(lines):
        if words_in(line):
            return at == 0 or find_tag(line) is not None
    return False


def _is_played(before: str) -> bool:
    """Say whether the last turn that begins in a text is another's, such as the user's."""
    turns = [turn.lastgroup for turn in _TURN.finditer(before)]
    return turns[-1:] == ["theirs"]


def _is_enclosed(text: str, start: int, end: int) -> bool:
    """Say whether a stretch is inside a comment, or an element that is not of a form of calls."""
    opened: list[str] = []
    for tag in _ELEMENT.finditer(text, 0, start):
        name = tag["name"] or "--"
        if TAG.fullmatch(tag[0]):
            continue
        if not (tag["close"] or tag["end"]):
            opened.append(name)
        elif name in opened:
            opened.remove(name)
    rest = text[end:]
    return any(("-->" if name == "--" else f"</{name}") in rest for name in {*opened} - _OURS)


def _is_nested(text: str, start: int) -> bool:
    """Say whether a line is indented below one that begins a block of code, such as `if ok:`."""
    indent = len(line_before(text, start))
    above = text[: start - indent].rstrip()
    header = _HEADER.fullmatch(line_before(above, len(above)))
    return header is not None and indent > len(header["indent"])


_OPENER = re.compile(rf"(?!</|<[|｜]\w*(?:end|eo[tms]))(?:{TAG.pattern})\s*\Z")
_CLOSER = re.compile(rf"\s*(?:{TAG.pattern})")
_TURN = re.compile(PATTERNS["turn"])
_ELEMENT = re.compile(
    r"<!--|(?P<end>-->)|<(?P<close>/)?(?P<name>[A-Za-z_][\w.\-]{0,60})(?:\s[^<>]{0,200})?>"
)
_OURS = frozenset({"action", "answer", "assistant", "final", "response"})
"""Elements in which a model writes what it does."""
_HEADER = re.compile(PATTERNS["header"])
