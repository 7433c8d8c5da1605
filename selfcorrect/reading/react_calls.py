"""Reads calls whose one argument is a text without its name: `Action Input: "Oslo"`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from selfcorrect.protocols import Tool
from selfcorrect.reading.contract import MOST_CALLS, Candidate, Deviation, Offered, parameters
from selfcorrect.reading.strict import strict_json

_CALL: Final = re.compile(
    r"\bAction:[ \t*`]*(?P<name>[\w.\-:/]{1,200}?)[ \t*`]*\n\s*+\**Action Input:\**[ \t]*+"
    r"(?P<text>\"(?:[^\"\\\n]++|\\.)*+\")[ \t]*+(?=\n|\Z)"
)


@dataclass(frozen=True, slots=True)
class ReactCalls:
    """Calls of tools that take exactly one parameter, which is a text."""

    def __call__(self, text: str, tools: Offered, /) -> tuple[Candidate, ...]:
        return tuple(_calls(text, tools))


def _calls(text: str, tools: Offered) -> Iterator[Candidate]:
    for number, found in enumerate(_CALL.finditer(text)):
        if number > MOST_CALLS:
            return
        name = _only_text(tools.meant(found["name"]))
        read = strict_json(found["text"]) if name else None
        if name and read is not None and not read.value.lstrip().startswith(("{", "[")):
            note = Deviation(found.start("text"), "an argument without its name")
            args = {name: read.value}
            start, end = found.span()
            yield Candidate(found["name"], args, start, end, (note,), tagged=True)


def _only_text(tool: Tool | None) -> str | None:
    """The name of a tool's parameter, if it has but one, which is a text."""
    known = parameters(tool)
    name, schema = next(iter(known.items()), (None, None))
    is_text = len(known) == 1 and isinstance(schema, dict) and schema.get("type") == "string"
    return name if is_text else None
