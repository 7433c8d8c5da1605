"""All that the sentence of one finding says: status, wait, constraint, suggestions, places."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from typing import Final

from selfcorrect.evidence.clean import openings, visible
from selfcorrect.evidence.constraints.stated import category_of_constraint, constraint_in
from selfcorrect.evidence.faults.place import Places, from_wire
from selfcorrect.evidence.kinds.facts import kind_of
from selfcorrect.evidence.masking import Masked, mask
from selfcorrect.evidence.messages import put_back
from selfcorrect.evidence.replies import reply_class
from selfcorrect.evidence.statuses import behind_a_gateway, status_in_text
from selfcorrect.evidence.suggestions import suggestions_in
from selfcorrect.evidence.waits.prose import wait_in_text
from selfcorrect.model import JSON, Category, ErrorKind, Finding, JsonObject, Source

ANSWER: Final = "AnswerNotJson"
"""The class in front of a JSON parser's own where no argument holds the text that it read."""
NOT_FOUND: Final = "ArgumentNotFound"
"""The class in front of an error's own where its text is but the value that was looked up."""
_GATEWAY: Final = 502
_WRAPPERS: Final = ("ToolException", "ToolError", "ToolExecutionError", "ToolInvocationError")
_LOOKUPS: Final = ("KeyError", "IndexError", "AttributeError", "LookupError")


def complete(
    finding: Finding, arguments: JSON, schema: JsonObject, now: datetime | None
) -> Finding:
    """The finding with all that its sentence says, and the kind that its facts speak for."""
    hidden = mask(finding.text, arguments, visible)
    blind = hidden.masked(hidden.text)
    place = Places(arguments, schema)
    placed = (from_wire(path, place) for path in finding.paths)
    category = category_of_constraint(finding.constraint)  # as a body has it, not as a text says
    status, wait = finding.status, finding.retry_after
    if not isinstance(status, str) and not (isinstance(status, int) and status >= 300):
        status = status_in_text(next(openings(blind))) or status
    if status == _GATEWAY:
        status = behind_a_gateway(blind) or status
    seen = finding.witness if status == finding.status else Source.NONE
    finding = replace(
        finding,
        witness=seen,
        paths=tuple(dict.fromkeys("/args" + path for path in placed if path)),
        status=status,
        constraint=finding.constraint or put_back(constraint_in(hidden.text), hidden),
        suggestions=finding.suggestions or tuple(map(hidden.raw, suggestions_in(hidden.text))),
        retry_after=wait if wait is not None else wait_in_text(blind, now),
    )
    number = finding.code if finding.code and len(finding.code) == 3 else ""
    reply = reply_class(f"{number} {blind}".lstrip(), finding.types)
    if reply is not None:
        finding = replace(finding, types=(reply, *finding.types), witness=Source.NONE)
    if _is_of_an_answer(finding, place):
        finding = replace(finding, types=(ANSWER, *finding.types), witness=Source.NONE)
    if _is_looked_up(finding, hidden):
        return replace(
            finding,
            types=(NOT_FOUND, *finding.types),
            kind=ErrorKind.NOT_FOUND,
            category=Category.UNKNOWN_RESOURCE,
            witness=Source.NONE,
        )
    kind = ErrorKind.VALIDATION if category is not None else kind_of(finding)
    return replace(finding, kind=kind, category=category or Category.NONE)


def _is_of_an_answer(finding: Finding, place: Places) -> bool:
    """Whether a parser of JSON failed, and on nothing that the caller wrote."""
    first = finding.types[0] if finding.types else ""
    return first.endswith("JSONDecodeError") and not any(_unreadable(v) for _, v in place.leaves)


def _unreadable(value: JSON) -> bool:
    """Whether a value is a text that a parser of JSON refuses, and no place to read one from."""
    if not isinstance(value, str) or value.startswith(("http://", "https://", "/")):
        return False
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return True
    return False


def _is_looked_up(finding: Finding, hidden: Masked) -> bool:
    """Whether an error says nothing but an argument's value: `KeyError: 'zed'`."""
    bare = hidden.text.strip(" \n\t'\"`.[]")
    echo = hidden.echo(bare) if len(bare) == 1 else None
    first = finding.types[0] if finding.types else ""
    silent = not first or first.startswith(("ToolMessage", "CallToolResult"))
    told = silent or first.endswith(_WRAPPERS) or first.rpartition(".")[2] in _LOOKUPS
    return told and echo is not None and echo.whole
