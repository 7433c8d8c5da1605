"""rename-tool: gives a call the name of the one tool that is meant."""

from dataclasses import dataclass

from selfcorrect.model import Call, Change, Changed, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.names import only_near, same_words
from selfcorrect.protocols import RepairContext


@dataclass(frozen=True, slots=True)
class RenameTool:
    """Rename `serach_flights` to `search_flights`; a whole word is never exchanged."""

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        name = only_near(call.name, context.tools)
        if name is None:
            return GiveUp(f"no tool is near {call.name!r:.80}")
        safety = Safety.EXACT if same_words(call.name, name) else Safety.INFERRED
        return Changed(Change("/name", call.name, name, safety, "the tool's name"))
