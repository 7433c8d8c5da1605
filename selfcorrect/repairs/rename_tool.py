"""rename-tool: the call gets the name of the one tool that was meant."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from selfcorrect.effects import destroys
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
from selfcorrect.reading import read_call_object
from selfcorrect.schema.subschema import strings
from selfcorrect.text import (
    LONGEST,
    normal,
    rivals,
    similar_names,
    spelling,
    tokens,
    tool_not_found_feedback,
    typo,
)
from selfcorrect.words import NEGATIONS, WORDS, singular

_RESIDUE: Final = re.compile(
    r"[\s'\"`]*(?P<name>[^'\"`<(]+)['\"`]*(?:<\|.*|\(\s*\))?[\s'\"`]*", re.DOTALL
)
_KNOWN_PREFIX: Final = re.compile(r"(?:functions|tools|default_api)[.:/](?P<name>.+)", re.DOTALL)
_INDEX: Final = re.compile(r":\d{1,4}\Z", re.ASCII)
"""The number of the call in its message, which some models put behind the name."""
_BORDER: Final = re.compile(r"__|[.:/]")
_SAYS_NOTHING: Final = frozenset({"api", "call", "func", "function", "tool", "v"})
_DISPATCHES: Final = _SAYS_NOTHING | {
    *("action", "agent", "dispatch", "dispatcher", "exec", "execute", "executor", "handler"),
    *("invoke", "json", "name", "perform", "request", "router", "run", "runner", "use"),
}
"""What a made-up tool is called that only passes a call on."""
_MOST: Final = 5_000


@dataclass(frozen=True, slots=True)
class RenameTool:
    """Gives a call the name of the one offered tool that was meant.

    Exact where only case, separators, quotes, template residue (`ls<|channel|>commentary`) or a
    known namespace (`functions.ls`) differ. Inferred for a slip inside one word (`serach`) and for
    a namespace that was left out; any other that was put before a name makes another action of it
    (`schedule.transfer`). The arguments decide between two tools of one name, and for a name
    without a letter; a call inside the arguments of one (`execute`) is taken out of them. Never
    onto a destructive tool, nor by a slip or a namespace onto one whose name says that it destroys
    something and that nobody declared; never by swapping a word for another (`delete_order` is not
    `create_order`); where two tools are near, it gives up and says which. The one
    tool that takes all arguments as they are is named as well; it is taken where it only reads and
    the call's name leaves out words of its name that are no verb (`events` for `key_events`).

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
    bare = _without_residue(call.name)
    if bare is None or not normal(bare):
        return _by_arguments(names, call, tools)
    if same := [name for name in names if name == bare] or _spelled(bare, names):
        return _only(same, "another spelling of a tool's name")
    if equal := _equal_letters(bare, names):
        return _only(equal, "the same letters and digits as a tool's name")
    spaces, typos = _without_namespace(bare, names), _typos(bare, names)
    if any(destroys(tools[name]) for name in spaces + typos):
        return None
    if len(spaces) > 1 and not typos and call.args:
        spaces = _fitting(spaces, call, tools)
    spaces = [name for name in spaces if _knows(tools[name], call.args)]
    near = list(dict.fromkeys([*_repeated(bare, names), *spaces, *typos]))
    if not near and (name := _takes(names, call, tools)) is not None:
        reads = tools[name].effect == "read_only" and _leaves_out(bare, name, names)
        return (name, "the tool that takes the arguments") if reads else None
    reason = "a slip of the pen in a tool's name" if typos else "a tool's name but for a namespace"
    return _only(near, reason)


def _takes(names: Collection[str], call: Call, tools: Mapping[str, Tool]) -> str | None:
    """The one tool, none that destroys something, that takes all arguments as they are."""
    offered = [name for name in names if not destroys(tools[name])]
    fitting = [one for one in _fitting(offered, call, tools) if _asks_for(tools[one], call.args)]
    return fitting[0] if len(fitting) == 1 else None


def _leaves_out(bare: str, name: str, names: Collection[str]) -> bool:
    """Whether a name leaves out words of a tool's that say of what, and has one of its own.

    A verb more or less makes another action, and so does any word that only the call has.
    """
    ours, theirs = frozenset(tokens(bare)), frozenset(tokens(name))
    others = {word for one in names if one != name for word in tokens(one)}
    more = theirs - ours
    return ours < theirs and more.isdisjoint(WORDS | NEGATIONS) and bool(ours - others - WORDS)


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
    if any(
        word not in _DISPATCHES and not word.isdigit() for word in map(singular, tokens(call.name))
    ):
        return None
    if inner.name not in tools or tools[inner.name].effect == "destructive":
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


def _without_residue(requested: str) -> str | None:
    """The name without quotes, empty parentheses, template tokens and known namespaces."""
    match = _RESIDUE.fullmatch(requested[: 4 * LONGEST])
    if match is None:
        return None
    name = match["name"].strip()
    prefix = _KNOWN_PREFIX.fullmatch(name)
    name = _INDEX.sub("", prefix["name"] if prefix else name)
    return name if len(name) <= LONGEST else None


def _spelled(bare: str, names: Collection[str]) -> list[str]:
    key = spelling(bare)
    return [name for name in names if key and spelling(name) == key]


def _equal_letters(bare: str, names: Collection[str]) -> list[str]:
    key, digits = normal(bare), re.findall(r"\d+", bare)
    return [
        name for name in names if key and normal(name) == key and re.findall(r"\d+", name) == digits
    ]


def _repeated(bare: str, names: Collection[str]) -> list[str]:
    """Tools whose name was written with its own beginning before it, or words for a tool behind."""
    ours = tokens(bare)
    found = []
    for name in names:
        theirs = tokens(name)
        before, behind = ours[: -len(theirs)], ours[len(theirs) :]
        if ours[-len(theirs) :] == theirs and before and before == theirs[: len(before)]:
            found.append(name)
        elif len(theirs) > 1 and ours[: len(theirs)] == theirs:
            found += [name] if _SAYS_NOTHING.union(theirs).issuperset(behind) else []
    return found


def _without_namespace(bare: str, names: Collection[str]) -> list[str]:
    """Tools whose name ends with the requested one, behind a namespace that is no verb."""
    ours = tokens(bare)
    return [name for name in names if ours and _is_behind_namespace(ours, name)]


def _is_behind_namespace(ours: tuple[str, ...], name: str) -> bool:
    theirs = tokens(name)
    space = theirs[: len(theirs) - len(ours)]
    if not space or theirs[len(space) :] != ours or not (WORDS | NEGATIONS).isdisjoint(space):
        return False
    last = _BORDER.split(name)[-1]
    return tokens(last) == ours or (len(ours) > 1 and any(word.isdigit() for word in space))


def _typos(bare: str, names: Collection[str]) -> list[str]:
    found = [name for name in names if typo(bare, name) is not None]
    near = [other for name in found for other in rivals(bare, name, names)]
    return list(dict.fromkeys(found + near))
