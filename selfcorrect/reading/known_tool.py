"""The text of the arguments of one call, whose tool is known."""

from __future__ import annotations

import re
from typing import Final

from selfcorrect.kernel.metadata import ended
from selfcorrect.protocols import Tool
from selfcorrect.reading.arguments import Arguments, from_text
from selfcorrect.reading.contract import Offered
from selfcorrect.reading.python_calls import PythonCalls

_KEYWORDS: Final = re.compile(r"\s*[^\W\d]\w*\s*=(?!=)")


def read_arguments(text: str, tool: Tool | None, *, finish_reason: str | None = None) -> Arguments:
    """Read the text of the arguments of one call.

    >>> read_arguments('{"q": "x",}', None).value
    {'q': 'x'}
    >>> read_arguments('{"q": "x', None).fault.what
    'cut off inside a string'
    """
    read = from_text(text, tool, ended(finish_reason))
    if read.fault is None or tool is None:
        return read
    code = f"{tool.name}({text})" if _KEYWORDS.match(text) else text.strip()
    offered = Offered({tool.name: tool})
    calls = PythonCalls()(code, offered)
    if len(calls) != 1 or (calls[0].start, calls[0].end) != (0, len(code)):
        return read
    call = calls[0]
    if call.args is None or offered.meant(call.name) is None:
        return read
    return Arguments(call.args, call.deviations)
