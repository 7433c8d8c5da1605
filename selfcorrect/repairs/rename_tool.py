"""rename-tool: gives a call the name of the one tool that is meant.

A tool that destroys is never meant by a likeness.
"""

import re
from collections.abc import Mapping, Sequence

from selfcorrect.lazy import load_table
from selfcorrect.model import Call, Change, Changed, Diagnosis, GiveUp, JsonObject, Repair, Safety
from selfcorrect.names.dictionary import vocabulary
from selfcorrect.names.letters import LONGEST, is_plain, letters, same_words, words
from selfcorrect.names.likeness import ALIKE, OTHER, difference, has_rival
from selfcorrect.pointer import ARGS
from selfcorrect.protocols import RepairContext
from selfcorrect.reading.json_calls import ToolCallKeys
from selfcorrect.reading.markup import TAG
from selfcorrect.repairs.arguments import SURE, repair_arguments
from selfcorrect.tools.spec import ToolSpec
from selfcorrect.values.primitives import EVERY
from selfcorrect.values.readings import Permission


def rename_tool(call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
    """Rename `serach_flights` to `search_flights`; a whole word is never exchanged."""
    inner = _inner_call(call, context)
    if inner is not None:
        return Changed(inner)
    match = match_tool(call.name, call.args, context.tools)
    if match is None:
        return GiveUp(f"no tool is near {call.name!r:.80}")
    name, safety = match
    return Changed(Change("/name", call.name, name, safety, "the tool's name"))


def match_tool(
    name: str, args: JsonObject, tools: Mapping[str, ToolSpec]
) -> tuple[str, Safety] | None:
    """Return the one tool that a written name means, and how certain that is.

    Args:
        name: The written name.
        args: The arguments of the call.
        tools: The tools that are offered, by name.
    """
    bare = bare_name(name)
    if bare in tools:
        return bare, Safety.EXACT
    if len(bare) <= LONGEST and _PLACEHOLDER.fullmatch(bare):
        takers = [each for each, tool in tools.items() if args and _takes(tool, args)]
        may = all(_may_stand_for(bare, tools[each], args) for each in takers)
        return _only(takers) if may else None
    if len(bare) > LONGEST or not is_plain(bare):
        return None
    same = [each for each in tools if same_words(bare, each)]
    if same or not tools or len(tools) > MAX_TOOLS:
        is_sure = all(_is_spelling(bare, each, tools[each]) for each in same)
        return _only(same, Safety.EXACT) if is_sure else None
    spaced = [each for each in tools if same_words(bare, _without_space(each))]
    if spaced:
        # A namespace may be another server, with another tool of the same name; one that all
        # tools share says nothing.
        tool = tools[spaced[0]]
        spaces = {each.removesuffix(_without_space(each)) for each in tools}
        may = not tool.acts or (len(spaces) == 1 and tool.effect != "destructive")
        is_same = _is_spelling(bare, _without_space(tool.name), tool)
        return _only(spaced) if may and is_same and _takes(tool, args) else None
    # Rivals count by the loosest likeness; a tool that acts is named by the strictest one.
    near = sorted((_price(bare, tool, strict=False), each) for each, tool in tools.items())
    if len(near) > 1 and near[1][0] < near[0][0] + LEAD:
        return None
    tool = tools[near[0][1]]
    if tool.effect == "destructive" or has_rival(bare, tool.name, tools):
        return None
    price = _price(bare, tool, strict=tool.acts)
    is_sure = price <= ALIKE or (price < OTHER and _takes(tool, args))
    return _only([tool.name]) if is_sure else None


def _is_spelling(bare: str, name: str, tool: ToolSpec) -> bool:
    return same_words(bare, name, strict=tool.acts) and is_plain(name)


def _may_stand_for(name: str, tool: ToolSpec, args: JsonObject) -> bool:
    """Say whether a call may be a tool's that it does not name.

    One that acts is meant by signs alone, such as the `[{` of a template, beside exactly its
    arguments; `func1` may stand for a tool that is not offered.
    """
    if not tool.acts:
        return True
    needs = {key for key, place in tool.arguments.properties.items() if place.required}
    is_exact = needs <= args.keys() <= tool.arguments.properties.keys()
    return is_exact and bool(name) and not letters(name) and tool.effect != "destructive"


def _without_space(name: str) -> str:
    """Return a tool's own name without the namespace that it stands in."""
    return _SPACE.sub("", name, count=1)


def _takes(tool: ToolSpec, args: JsonObject) -> bool:
    """Say whether arguments fit a tool, repaired where rules reach."""
    allow = Permission(EVERY, SURE, tool.acts, tool.description)
    return not repair_arguments(args, tool.arguments, allow).problems


def bare_name(name: str) -> str:
    """Take quotes, the residue of a template and an allowed namespace off a name.

    >>> bare_name("'cat'<|channel|>commentary"), bare_name("functions.find")
    ('cat', 'find')
    """
    if len(name) > 4 * LONGEST:
        return name
    bare = _RESIDUE.sub("", name).strip(" \t\r\n\"'`")
    return _NAMESPACE.sub("", bare, count=1)


def _only(names: Sequence[str], safety: Safety = Safety.INFERRED) -> tuple[str, Safety] | None:
    return (names[0], safety) if len(names) == 1 else None


def _price(bare: str, tool: ToolSpec, *, strict: bool) -> float:
    return difference(bare, tool.name, vocabulary(tool.description), strict=strict)


def _inner_call(call: Call, context: RepairContext) -> list[Change] | None:
    """Return the changes that make the call of which a call of no tool consists.

    Some models call tools through a function that nobody offers: `call_tool(name=…, args={…})`.
    """
    # Its name says that a tool is called, and nothing else: `cancel(name="pay", …)` does not pay.
    if not all(word in _CALLERS or word.isdecimal() for word in words(call.name)):
        return None
    calls = ToolCallKeys(is_tool=context.tools.__contains__).read(dict(call.args))
    if len(calls) != 1 or calls[0].name not in context.tools:
        return None
    args = calls[0].arguments
    return [
        Change("/name", call.name, calls[0].name, Safety.INFERRED, "the tool that the call names"),
        Change(ARGS, call.args, args, Safety.INFERRED, "the arguments beside the tool's name"),
    ]


_CALLERS = frozenset(load_table("repairs/words.toml")["callers"])
"""Words of a name that only says that a tool is called."""


LEAD = 0.2
"""How much nearer a name must be to its tool than to the next one."""
MAX_TOOLS = 500
"""Tools beyond which a name is compared by its letters alone."""
_NAMESPACE = re.compile(r"(?:functions|tools|default_api)[.:/]", re.IGNORECASE)
_SPACE = re.compile(r"\w+(?:[.:/]|(?<=[^_])__)(?=[^\W_]\w*\Z)")
_RESIDUE = re.compile(
    # Only behind the name of a part of a message stands another name: `<|channel|>commentary`.
    rf"\(\)\Z|(?:<\|(?:channel|constrain)\|>\w{{0,40}}"
    rf"|</(?:arg_key|arg_value|parameter)>|{TAG.pattern})+\Z"
)
_PLACEHOLDER = re.compile(
    r"[\W_]*(?:(?:func|function|tool|call|api|action)_?\d{0,3})?[\W_]*", re.IGNORECASE
)
