"""rename-tool: the call gets the name of the one tool that was meant."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from selfcorrect.effects import destroys
from selfcorrect.kernel.likeness import (
    bare_tool,
    is_behind_namespace,
    is_dispatcher,
    tools_like,
)
from selfcorrect.model import (
    ABSENT,
    JSON,
    Call,
    Changed,
    Diagnosis,
    GiveUp,
    Repair,
    Safety,
    edit,
)
from selfcorrect.protocols import RepairContext, Tool
from selfcorrect.reading.envelopes import read_call_object
from selfcorrect.schema.subschema import strings
from selfcorrect.text import normal, similar_names, tool_not_found_feedback

_MOST: Final = 5_000


@dataclass(frozen=True, slots=True)
class RenameTool:
    """Gives a call the name of the one offered tool that was meant.

    Exact where only case, separators, quotes, template residue (`ls<|channel|>commentary`) or a
    known namespace (`functions.ls`) differ. Inferred for a slip inside one word (`serach`) and for
    a namespace that was left out; any other that was put before a name makes another action of it
    (`schedule.transfer`). The arguments decide for a name without a letter; a call inside the
    arguments of one (`execute`) is taken out of them. Never onto a destructive tool, nor by a slip
    or a namespace onto one whose name says that it destroys something; never by swapping a word
    for another (`delete_order` is not `create_order`); where two tools are near, it gives up and
    says which, and names the one tool that takes all arguments as they are.

    >>> from selfcorrect.testing.conformance import try_rename
    >>> change = try_rename(RenameTool(), "serach_flights", ["search_flights", "book_flight"])
    >>> change.changes[0].after, change.changes[0].safety.value
    ('search_flights', 'inferred')
    """

    name: ClassVar[str] = "rename-tool"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.EXACT, Safety.INFERRED)
    needs: ClassVar[str] = "nothing"

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Rename the call, if its tool does not exist and exactly one is meant."""
        about = diagnosis.finding.path in (None, "/name")
        if not about or call.name in context.tools or call.raw is not None:
            return GiveUp("the call does not name an unknown tool")
        found = _meant(call, context.tools)
        if found is None and (inner := _inside(call, context.tools)) is not None:
            return inner
        if found is None:
            names = list(context.tools)
            takes = _takes(names[:_MOST], call, context.tools) if call.args else None
            near = tuple(filter(None, [takes, *similar_names(call.name, names).names]))
            near = tuple(dict.fromkeys(near))
            return GiveUp(tool_not_found_feedback(call.name, near, names))
        name, reason = found
        if context.tools[name].effect == "destructive":
            return GiveUp("a call is never renamed onto a destructive tool")
        return Changed(edit("/name", call.name or ABSENT, name, reason))


def _meant(call: Call, tools: Mapping[str, Tool]) -> tuple[str, str] | None:
    names = list(tools)[:_MOST]
    if not normal(bare_tool(call.name)):
        return _by_arguments(names, call, tools)
    found, safety = tools_like(call.name, names)
    if safety is Safety.EXACT:
        return _only(found, "another spelling of a tool's name")
    if any(destroys(tools[name]) for name in found):
        return None
    bare, args = bare_tool(call.name), call.args
    if any(is_behind_namespace(bare, name) and not _knows(tools[name], args) for name in found):
        return None
    return _only(found, "a slip of the pen or a namespace in a tool's name")


def _takes(names: Collection[str], call: Call, tools: Mapping[str, Tool]) -> str | None:
    """The one tool, none that destroys something, that takes all arguments as they are."""
    offered = [name for name in names if not destroys(tools[name])]
    fitting = [one for one in _fitting(offered, call, tools) if _asks_for(tools[one], call.args)]
    return fitting[0] if len(fitting) == 1 else None


def _by_arguments(
    names: Collection[str], call: Call, tools: Mapping[str, Tool]
) -> tuple[str, str] | None:
    """The one tool that the arguments of a call without a name fit."""
    forms = [call.args]
    if len(call.args) == 1:
        ((key, inner),) = call.args.items()
        forms += [inner] if isinstance(inner, Mapping) and not normal(key) else []
    fitting = [
        name
        for name in names
        if any(
            form and tools[name].is_valid(form) and _asks_for(tools[name], form) for form in forms
        )
    ]
    return _only(fitting, "no name, and arguments that fit one tool")


def _asks_for(tool: Tool, args: Mapping[str, JSON]) -> bool:
    """Whether a tool declares every one of these arguments, and cannot do without one of them."""
    needed = strings(tool.schema.get("required"))
    return _knows(tool, args) and not args.keys().isdisjoint(needed)


def _knows(tool: Tool, args: Mapping[str, JSON]) -> bool:
    properties = tool.schema.get("properties")
    return not args or (isinstance(properties, Mapping) and all(key in properties for key in args))


def _inside(call: Call, tools: Mapping[str, Tool]) -> Changed | None:
    """The call of an offered tool that stands in the arguments of one that does not exist."""
    inner = read_call_object(call.args) if len(call.args) == 2 else None
    if inner is None or inner.raw is not None or not _holds_only(call.args, inner):
        return None
    if not is_dispatcher(call.name) or inner.name not in tools:
        return None
    if tools[inner.name].effect == "destructive":
        return None
    reason = "a call inside the arguments of a call"
    before, after = dict(call.args), dict(inner.args)
    return Changed(
        edit("/name", call.name or ABSENT, inner.name, reason),
        edit("/args", before, after, reason),
    )


def _holds_only(args: Mapping[str, JSON], inner: Call) -> bool:
    """Whether the arguments are a name and the arguments of a call, and nothing else."""
    return all(value in (inner.name, inner.args) for value in args.values())


def _fitting(names: Collection[str], call: Call, tools: Mapping[str, Tool]) -> list[str]:
    """The tools that take the arguments as they are."""
    return [name for name in names if tools[name].is_valid(call.args)]


def _only(found: list[str], reason: str) -> tuple[str, str] | None:
    return (found[0], reason) if len(found) == 1 else None
