"""Whether the calls that a text seems to make are what its request asked for, and no calls."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from selfcorrect.errors import ToolDefinitionError
from selfcorrect.kernel.likeness import tools_like
from selfcorrect.kernel.requests import Request, tools_named, why_no_call
from selfcorrect.model import JSON, JsonObject
from selfcorrect.plain import problem
from selfcorrect.protocols import Tool
from selfcorrect.reading.contract import Fault, Offered
from selfcorrect.reading.outcome import Reading
from selfcorrect.reading.tolerant_json import read_json
from selfcorrect.schema.checker import Checker


def why_not_allowed(reading: Reading, request: Request, tools: Mapping[str, Tool]) -> str | None:
    """Why a text is an answer to its request and holds no call; None if it may hold one."""
    spans = (reading.text[call.start : call.end] for call in reading.calls)
    read = [(span, read_json(span)) for span in spans]
    found: list[JSON] = [span if isinstance(each, Fault) else each.value for span, each in read]
    meant = [(call.name, Offered(tools).meant(call.name)) for call in reading.calls]
    wanted = tools_named(request.tool_choice)
    names = [tool.name if tool else _nearest(name, tools, wanted) for name, tool in meant]
    return why_no_call(request, [*found, found] if found else [], _fits, names)


def _nearest(name: str, tools: Mapping[str, Tool], wanted: Collection[str]) -> str:
    """The tool that a name may be a slip of, if it is asked for: what it becomes is judged."""
    found, _ = tools_like(name, tools)
    return next((one for one in found if one in wanted), name)


def _fits(schema: JsonObject, value: JSON) -> bool:
    """Whether a value is one of the form; one that cannot be checked leaves nothing out."""
    try:
        engine = Checker(dict(schema), "the answer", inside=False).compile()
    except ToolDefinitionError:
        return True
    return problem(value) is None and engine.fits(value)
