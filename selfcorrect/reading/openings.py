"""What stands right before the arguments of a call: the tags of models, and the tool's name."""

from __future__ import annotations

import re
from typing import Final

CALL_TAG: Final = re.compile(
    r"(?:<(?:tool_?calls?|function_?calls?|functions?|tools?|multi_?tool_?calls?|actions?)>"
    r"|<\|(?:python_tag|tool_calls?|tool_calls_section_begin|action_start)\|>|\[TOOL_CALLS\])"
    r"[\s\[]*(?:```(?:json)?\s*)?\Z",
    re.IGNORECASE,
)
"""A tag at the end of a text behind which a call stands."""
_NAME: Final = r"(?P<name>[\w.\-:/]{1,200}?)"
_FORMS: Final = tuple(
    re.compile(form + r"\s*\Z")
    for form in (
        rf"<function[= ](?:name=)?[\"']?{_NAME}[\"']?(?:\[\])?[>,=]?",
        rf"(?:<\|start\|>assistant)?(?:<\|channel\|>\w+\s*)?\bto=(?:functions\.)?{_NAME}(?:\s|<\|\w+\|>|\b(?:json|code|commentary)\b)*",
        rf"\[TOOL_CALLS\]\s*{_NAME}(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?",
        rf"(?:function)?<\uff5ctool\u2581sep\uff5c>{_NAME}\s*(?:```json)?",
        rf"<\uff5ctool\u2581call\u2581begin\uff5c>{_NAME}<\uff5ctool\u2581sep\uff5c>",
        rf"<\|recipient\|>\s*{_NAME}\s*<\|content\|>",
        rf"\u273fFUNCTION\u273f:\s*{_NAME}\s*\u273fARGS\u273f:",
        rf"<\|tool_call_begin\|>\s*(?:functions\.)?{_NAME}(?::\d+)?\s*<\|tool_call_argument_begin\|>",
        rf"\bAction:[ \t*`]*{_NAME}[ \t*`]*\n\s*\**Action Input:\**\s*(?:```(?:json)?)?",
    )
)
_SOME_FORM: Final = re.compile(
    r"<function[= ]|\bto=|\[TOOL_CALLS\]|\uff5ctool\u2581|<\|recipient\|>|\u273fFUNCTION"
    r"|<\|tool_call_begin\|>|\bAction:"
)


def named_before(before: str) -> re.Match[str] | None:
    """The tag with the tool's name (`name`) with which a text ends, in any model's form.

    >>> named_before("I look. [TOOL_CALLS]find[ARGS]")["name"]
    'find'
    """
    if _SOME_FORM.search(before) is None:
        return None
    found = (form.search(before) for form in _FORMS)
    return next((each for each in found if each is not None), None)
