"""rename-tool: gives a call the name of the one tool that is meant."""

from dataclasses import dataclass

from selfcorrect.model import Call, Change, Changed, Diagnosis, GiveUp, Repair
from selfcorrect.protocols import RepairContext
from selfcorrect.repairs.tools import Takes, match_tool, takes_repaired


@dataclass(frozen=True, slots=True)
class RenameTool:
    """Rename `serach_flights` to `search_flights`; a whole word is never exchanged.

    Attributes:
        takes: Whether a tool takes the arguments of the call, repaired if need be.
    """

    takes: Takes = takes_repaired

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        found = match_tool(call.name, call.args, context.tools, self.takes)
        if found is None:
            return GiveUp(f"no tool is near {call.name!r:.80}")
        return Changed(Change("/name", call.name, found.name, found.safety, "the tool's name"))
