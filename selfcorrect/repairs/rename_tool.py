"""rename-tool: the call gets the name of the one tool that was meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from selfcorrect.effects import destroys
from selfcorrect.kernel.joint import assigned, renamed_tool
from selfcorrect.kernel.likeness import (
    bare_tool,
    tools_like,
)
from selfcorrect.kernel.verdicts import FOLLOWS
from selfcorrect.mending.place import changes_of
from selfcorrect.model import (
    ABSENT,
    Call,
    Changed,
    Diagnosis,
    GiveUp,
    JsonObject,
    Repair,
    edit,
)
from selfcorrect.protocols import RepairContext, Tool
from selfcorrect.reading.envelopes import read_call_object
from selfcorrect.schema.slots import slots_of
from selfcorrect.schema.subschema import strings
from selfcorrect.text import normal, similar_names, tool_not_found_feedback

_MOST: Final = 5_000
_RENAMED: Final = "a tool that was renamed: its name and arguments agree"


@dataclass(frozen=True, slots=True)
class RenameTool:
    """Gives a call the name of the one offered tool that was meant.

    Exact where only case, separators, quotes, template residue (`ls<|channel|>commentary`) or a
    known namespace (`functions.ls`) differ. Inferred for a slip inside one word (`serach`) and for
    a namespace that was left out; any other that was put before a name makes another action of it
    (`schedule.transfer`). The arguments decide for a name without a letter; a call inside the
    arguments of one (`execute`) is taken out of them. Onto a destructive tool the policy lets no
    call be renamed unasked, and the kernel none by a slip onto one whose name says that it destroys
    something. A word is never swapped for another (`delete_order` is not `create_order`); where two
    tools are near, it gives up and says which, and names the one that takes all arguments.

    >>> from selfcorrect.testing.conformance import try_rename
    >>> change = try_rename(RenameTool(), "serach_flights", ["search_flights", "book_flight"])
    >>> change.changes[0].after, change.changes[0].safety.value
    ('search_flights', 'inferred')
    """

    name = "rename-tool"
    safety = FOLLOWS
    needs = "nothing"

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Rename the call, if its tool does not exist and exactly one is meant."""
        about = diagnosis.finding.path in (None, "/name")
        if not about or call.name in context.tools or call.raw is not None:
            return GiveUp("the call does not name an unknown tool")
        names = list(context.tools)
        found = _meant(call, names[:_MOST], context.tools)
        if found is None and (inner := _inside(call, context.tools)) is not None:
            return inner
        harmless = [name for name in names[:_MOST] if not destroys(context.tools[name])]
        if found is None and (joint := _joint(call, harmless, context.tools)) is not None:
            return joint
        if found is None:
            takes = _takers(harmless, [call.args], context.tools)
            near = takes if len(takes) == 1 else []
            near = list(dict.fromkeys([*near, *similar_names(call.name, names).names]))
            return GiveUp(tool_not_found_feedback(call.name, near, names))
        name, reason = found
        return Changed(edit("/name", call.name or ABSENT, name, reason))


def _meant(call: Call, names: list[str], tools: Mapping[str, Tool]) -> tuple[str, str] | None:
    bare, args = bare_tool(call.name), call.args
    if not normal(bare):
        inner = [v for k, v in args.items() if isinstance(v, Mapping) and not normal(k)]
        forms = [args, *(inner if len(args) == 1 else ())]
        return _only(_takers(names, forms, tools), "no name, and arguments that fit one tool")
    found, has_same_words = tools_like(call.name, names)
    if has_same_words:
        return _only(found, "another spelling of a tool's name")
    return _only(found, "a slip of the pen or a namespace in a tool's name")


def _joint(call: Call, names: list[str], tools: Mapping[str, Tool]) -> Changed | None:
    """The tool and the keys that were renamed, where both agree."""
    name = renamed_tool(
        call.name,
        call.args,
        names,
        lambda one: slots_of(tools[one].schema),
        lambda one: tools[one].effect != "read_only",
    )
    if name is None:
        return None
    slots = slots_of(tools[name].schema)
    moves = assigned(call.args, slots) or {}
    return Changed(
        edit("/name", call.name, name, _RENAMED), *changes_of("/args", call.args, moves, _RENAMED)
    )


def _takers(
    names: Iterable[str], forms: Sequence[JsonObject], tools: Mapping[str, Tool]
) -> list[str]:
    """The tools that take one of these arguments as they are, and cannot do without them."""
    return [
        name
        for name in names
        if any(_asks_for(tools[name], form) and tools[name].is_valid(form) for form in forms)
    ]


def _asks_for(tool: Tool, args: JsonObject) -> bool:
    """Whether a tool declares every one of these arguments, and cannot do without one of them."""
    needed = strings(tool.schema.get("required"))
    return _knows(tool, args) and not args.keys().isdisjoint(needed)


def _knows(tool: Tool, args: JsonObject) -> bool:
    properties = tool.schema.get("properties")
    return not args or (isinstance(properties, Mapping) and args.keys() <= properties.keys())


def _inside(call: Call, tools: Mapping[str, Tool]) -> Changed | None:
    """The call of an offered tool that stands in the arguments of one that does not exist."""
    inner = read_call_object(call.args) if len(call.args) == 2 else None
    if inner is None or inner.raw is not None or inner.name not in tools:
        return None
    reason = "a call inside the arguments of a call"
    return Changed(
        edit("/name", call.name or ABSENT, inner.name, reason),
        edit("/args", dict(call.args), dict(inner.args), reason),
    )


def _only(found: list[str], reason: str) -> tuple[str, str] | None:
    return (found[0], reason) if len(found) == 1 else None
