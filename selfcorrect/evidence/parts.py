"""One error, read once: what it carries, what it says, and which arguments that may be about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from selfcorrect.evidence.clean import visible
from selfcorrect.evidence.exceptions import Facts
from selfcorrect.evidence.faults.place import Places
from selfcorrect.evidence.masking import Masked, mask
from selfcorrect.model import Finding


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that an error says is wrong, as it was read, before a map is asked.

    Attributes:
        finding: With its facts, constraint, places of the wire, wait, and the kind that its facts
            speak for.
        hidden: Its sentence, with what that repeats of the arguments taken out.
        blind: Its sentence as rules match it: an echo never becomes a kind, a wait or a name.
        place: The arguments of the call, and their schema.
        tool: The tool that the call names.
    """

    finding: Finding
    hidden: Masked
    blind: str
    place: Places
    tool: str | None


@dataclass(frozen=True, slots=True)
class ErrorReading:
    """What was read of an error; made once, and all that is decided or told follows from it.

    Attributes:
        parts: Everything that it says is wrong; at least one.
        facts: What the exception and those that it wraps carry; empty for a recorded error.
    """

    parts: tuple[Part, ...]
    facts: tuple[Facts, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of its parts."""
        return tuple(part.finding for part in self.parts)

    def of(self, findings: Sequence[Finding]) -> ErrorReading | None:
        """The reading of its first findings, if these are they."""
        parts = self.parts[: len(findings)]
        same = [part.finding for part in parts] == list(findings)
        return replace(self, parts=parts) if same else None


def part_of(
    finding: Finding, place: Places, tool: str | None, hidden: Masked | None = None
) -> Part:
    """A finding with its sentence masked, unless it is already."""
    if hidden is None:
        hidden = mask(finding.text, place.arguments, visible)
    return Part(finding, hidden, hidden.masked(hidden.text), place, tool)
