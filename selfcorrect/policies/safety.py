"""Which changes run unasked: the one judge of safety classes."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final

from selfcorrect.echoes import TOO_MANY, parts
from selfcorrect.model import ABSENT, Change, Finding, Safety
from selfcorrect.pointer import split
from selfcorrect.policies.marks import marked_field
from selfcorrect.protocols import Tool

DEFAULT_ALLOW: Final = frozenset({Safety.EXACT, Safety.INFERRED, Safety.LEARNED})
DEFAULT_SURE: Final = 0.7

_MADE: Final = {
    Safety.EXACT: "the same would be spelled in another way",
    Safety.INFERRED: "the value would be inferred",
    Safety.LEARNED: "the value was learnt from other runs",
    Safety.LOSSY: "the meaning would change",
    Safety.HUMAN: "a person would have to say it",
}
"""What a change of a class would do, for people and models."""


@dataclass(frozen=True, slots=True)
class SafetyPolicy:
    """Judges changes. What it refuses may still be done if a person agrees.

    Attributes:
        allow: Classes that run unasked on any tool (`lossy` only on read_only tools even then).
        sensitive: Names of fields whose value never changes without a person; `*` globs.
        sure: From which confidence a finding may lead to a change that runs unasked. Whether the
            tool may be called again at all is a question of its own: `selfcorrect.effects`.
    """

    allow: frozenset[Safety] = DEFAULT_ALLOW
    sensitive: tuple[str, ...] = ()
    sure: float = DEFAULT_SURE

    def unsure(self, finding: Finding) -> str | None:
        """Why nothing may be changed unasked because of a finding, or None: it is sure enough."""
        if finding.confidence >= self.sure:
            return None
        return f"the diagnosis is not sure enough: {finding.confidence:.2f} of {self.sure:.2f}"

    def refusals(
        self,
        changes: Sequence[Change],
        tools: Mapping[str, Tool],
        tool: Tool | None,
        allow: Iterable[Safety] = (),
        findings: Sequence[Finding] = (),
    ) -> list[tuple[Change, str]]:
        """The changes that may not run unasked, each with the reason; empty if all may.

        Args:
            changes: The changes of one strategy, which belong together.
            tools: The tools on offer, by name.
            tool: The tool that the changed call names.
            allow: Classes that the matched rule allows beside the policy's own.
            findings: What they mend, if they are to be executed.
        """
        classes = self.allow | frozenset(allow)
        # What comes in without anything going is no respelling of something that was said.
        adds = all(change.before is ABSENT for change in changes)
        doubt = next((why for each in findings if (why := self.unsure(each))), None)
        refused = []
        for change in changes:
            why = self._refusal(change, tools, tool, classes, adds=adds)
            if why is None and change.safety is not Safety.LEARNED:
                why = doubt  # what was learnt rests on the same error, whatever it means
            if why is not None and change.safety is not Safety.HUMAN:
                refused.append((change, why))
        return refused

    def _refusal(
        self,
        change: Change,
        tools: Mapping[str, Tool],
        tool: Tool | None,
        classes: frozenset[Safety],
        *,
        adds: bool,
    ) -> str | None:
        safety = change.safety
        if change.path == "/name" and change.before is not ABSENT:
            target = tools.get(change.after) if isinstance(change.after, str) else None
            if target is None:
                return "there is no such tool"
            if target.effect == "destructive":
                return "a call is never renamed onto a destructive tool"
        if adds or safety is not Safety.EXACT:
            # Which tool a name means is settled later; until then, what any tool marks counts.
            meant = [tool] if tool is not None else [None, *tools.values()]
            fields = (self.sensitive_field(change.path, each) for each in meant)
            name = next(filter(None, fields), None) or self._sensitive_inside(change)
            if name:
                return f"{name} is sensitive"
        if safety is Safety.MODEL:
            return no_model(tool, classes)
        if safety not in classes:
            return f"{_MADE[safety]}, and the policy lets no such change run unasked"
        return _unfit(safety, tool)

    def sensitive_field(self, path: str, tool: Tool | None) -> str | None:
        """The name of the sensitive field that a path leads into, or None."""
        tokens = split(path)
        if tokens[:1] != ("args",):
            return None
        for name in tokens[1:]:
            if not name.isdigit() and self._names(name):
                return name
        known: Any = tool
        if tool is not None and marks_sensitive(known):
            return marked_field(tool.schema, tokens[1:])
        return None

    def _sensitive_inside(self, change: Change) -> str | None:
        """The sensitive field that lies inside a changed object, or None."""
        for item in parts(change.before, change.after) if self.sensitive else ():
            if item is TOO_MANY:
                return "an object too large to check"
            if isinstance(item, Mapping) and (name := next(filter(self._names, item), None)):
                return str(name)
        return None

    def _names(self, field: str) -> bool:
        return any(fnmatchcase(field, pattern) for pattern in self.sensitive)


def no_model(tool: Tool | None, classes: Container[Safety]) -> str | None:
    """Why no model may decide about a call of this tool, or None."""
    if tool is not None and tool.effect == "destructive":
        return "a model may not change the call of a destructive tool"
    return None if Safety.MODEL in classes else "no model may decide here"


def words_of(refusals: Iterable[tuple[Change, str]]) -> str:
    """Why changes are refused, each reason once."""
    return "; ".join(sorted({why for _, why in refusals}))


def _unfit(safety: Safety, tool: Tool | None) -> str | None:
    """Why changes of a class that is allowed do not fit this tool, or None."""
    if safety is Safety.LOSSY and (tool is None or tool.effect != "read_only"):
        return "the meaning would change, which is allowed on tools that only read"
    if safety is Safety.LEARNED and tool is not None and tool.effect == "destructive":
        return "the call of a destructive tool is not changed by what was learnt"
    return None


@lru_cache(maxsize=1_024)
def marks_sensitive(tool: Any) -> bool:
    """Whether a tool's schema marks anything with `x-sensitive`, or is too large to tell."""
    return any(
        item is TOO_MANY or (isinstance(item, Mapping) and "x-sensitive" in item)
        for item in parts(tool.schema)
    )
