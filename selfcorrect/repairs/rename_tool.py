"""rename-tool: gives a call the name of the one tool that is meant."""

from selfcorrect.lazy import load_table
from selfcorrect.model import Call, Change, Changed, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.names.letters import words
from selfcorrect.pointer import ARGS
from selfcorrect.protocols import RepairContext
from selfcorrect.reading.json_calls import read_json_calls
from selfcorrect.repairs.tool_names import match_tool


def rename_tool(call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
    """Rename `serach_flights` to `search_flights`; a whole word is never exchanged."""
    inner = _inner_call(call, context)
    if inner is not None:
        return Changed(inner)
    found = match_tool(call.name, call.args, context.tools)
    if found is None:
        return GiveUp(f"no tool is near {call.name!r:.80}")
    return Changed(Change("/name", call.name, found.name, found.safety, "the tool's name"))


def _inner_call(call: Call, context: RepairContext) -> list[Change] | None:
    """Return the changes that make the call of which a call of no tool consists.

    Some models call tools through a function that nobody offers: `call_tool(name=…, args={…})`.
    """
    # Its name says that a tool is called, and nothing else: `cancel(name="pay", …)` does not pay.
    if not all(word in _CALLERS or word.isdecimal() for word in words(call.name)):
        return None
    found = read_json_calls(dict(call.args), lambda name: name in context.tools)
    if len(found) != 1 or found[0].name not in context.tools:
        return None
    args = found[0].arguments
    return [
        Change("/name", call.name, found[0].name, Safety.INFERRED, "the tool that the call names"),
        Change(ARGS, call.args, args, Safety.INFERRED, "the arguments beside the tool's name"),
    ]


_CALLERS = frozenset(load_table("repairs/words.toml")["callers"])
"""Words of a name that only says that a tool is called."""
