"""Says whether a text in which no call can be read was meant as one: it shows a form, not prose."""

import re

from selfcorrect.reading.markup import THINKING
from selfcorrect.reading.python_calls import NAME
from selfcorrect.reading.text_call import IsTool


def find_attempt(text: str, is_tool: IsTool) -> str | None:
    """Return the tool that a text means to call; empty where it shows a form and names none.

    None where it holds prose, or neither a tool's name with something behind it nor a form's mark.

    >>> find_attempt('<tool_call>{"arguments": {}}', str.isupper)
    ''
    >>> find_attempt("It is <b>12</b>.", str.isupper)
    """
    shown = THINKING.sub(" ", text)
    plain = shown
    for pattern in _NO_PROSE:
        plain = pattern.sub(" ", plain)
    if _PROSE.search(plain):
        return None
    for mention in _NAMED.finditer(shown):
        if name := near_tool(mention["name"], is_tool):
            return name
    return "" if _MARK.search(shown) else None


def near_tool(name: str, is_tool: IsTool) -> str:
    """Return the tool that a name means behind a namespace, or with its signs lost; or nothing."""
    parts = (name, name.rpartition(".")[2], _LOST_SIGNS.sub("", name))
    return next(filter(is_tool, parts), "")


_NO_PROSE = (
    re.compile(r"(?<=>)[^<>]*+(?=</|<[|｜])"),  # what stands in an element
    re.compile(r"<[^<>]*+>|\"(?:[^\"\\]++|\\.)*+\"?|'[^'\n]*+'"),
    re.compile(r"\([^()]*+\)|\{[^{}]*+\}"),
)
_PROSE = re.compile(r"(?<![^\W_])[^\W\d_]++(?:[ ,'’\-]++[^\W\d_]++){3}|[぀-鿿가-힣]{6}")
"""Four words in a row, or as much in a script that has no blanks between them."""
_NAMED = re.compile(
    rf"(?<![\w.\-])(?P<name>{NAME})[\"']?"
    r"\s*(?:```\w*\s*)?(?:[({\[<]|:\s*[{\[]|,\s*[\"']?\w+[\"']?\s*[:=]\s*[\"']?[{\[])"
)
_LOST_SIGNS = re.compile(r"\Afunctions?|\d+\Z")
"""What is left of `functions.find:5` where its signs are lost."""
_MARK = re.compile(
    r"(?i)<[^<>\n]{0,40}?(?:tool|function|invoke|plugin|dsml|action_start)[^<>\n]{0,80}>"
    r"|\[tool_calls\]|<[|｜]?call\b"
)
