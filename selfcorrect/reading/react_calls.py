"""Reads calls whose one argument is a text without its name: `Action Input: "Oslo"`."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from selfcorrect.reading.contract import MOST_CALLS, Candidate, Deviation, Offered, parameters
from selfcorrect.reading.strict import strict_json

_CALL: Final = re.compile(
    r"\bAction:[ \t*`]*(?P<name>[\w.\-:/]{1,200}?)[ \t*`]*\n\s*+\**Action Input:\**[ \t]*+"
    r"(?P<text>\"(?:[^\"\\\n]++|\\.)*+\")[ \t]*+(?=\n|\Z)"
)


def react_calls(text: str, tools: Offered, /) -> tuple[Candidate, ...]:
    """Calls of tools that take exactly one parameter, which is a text."""
    found: list[Candidate] = []
    for call in islice(_CALL.finditer(text), MOST_CALLS + 1):
        known = [*parameters(tools.meant(call["name"])).items()]
        read = strict_json(call["text"]) if len(known) == 1 else None
        if read is None or read.value.lstrip().startswith(("{", "[")):
            continue
        name, schema = known[0]
        if isinstance(schema, dict) and schema.get("type") == "string":
            note = Deviation(call.start("text"), "an argument without its name")
            args = {name: read.value}
            found.append(Candidate(call["name"], args, *call.span(), (note,), tagged=True))
    return tuple(found)
