"""What became of the calls that were mended without being executed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from selfcorrect.model import Call, Change, JsonObject

Outcome: TypeAlias = Literal["valid", "repaired", "ask", "failed"]
WORSE: Final = ("valid", "repaired", "ask", "failed")
"""The outcomes, the worst last."""


@dataclass(frozen=True, slots=True)
class MendedCall:
    """What became of one call.

    Attributes:
        name: The tool's name; as it was written, where the call may not run.
        args: The arguments, ready to run; None where the call may not run.
        id: The call's id, as it came; that of a call in a message's text, as it stands in `value`.
        outcome: `valid` (nothing to do), `repaired`, `ask` (a person has to decide) or `failed`.
        changes: What was changed, in order, with strategy, rule and safety class.
        for_model: Where it may not run: what its model may be told, redacted and bounded.
        partial: Where it may not run: its arguments with everything in place that could be mended,
            though something is missing or wrong; None where they could not be read.
        reason: Why it may not run, in a word: a reason of `FailureReport`.
        detail: The same in a sentence: what is wrong, and where.
        failure: The report; see `FailureReport`.
    """

    name: str
    args: JsonObject | None
    id: Any = None
    outcome: Outcome = "valid"
    changes: tuple[Change, ...] = ()
    for_model: str = ""
    partial: JsonObject | None = None
    reason: str | None = None
    detail: str | None = None
    failure: Mapping[str, Any] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Mended:
    """What became of the calls in a value that was mended without executing anything.

    Attributes:
        outcome: That of the worst call: `valid` (nothing to do), `repaired`, `ask` (a person has to
            decide) or `failed`.
        value: What came in, in the same form, with every mended call in its place. The very same
            object where nothing was changed; a call that may not run stands there as it came.
        calls: What became of each call, in order.
        changes: What was changed in all of them.
        reason: Why not, where the outcome is `ask` or `failed`.
        detail: The same in a sentence: what is wrong, and where.
        failure: The report on the worst call; see `FailureReport`.
        model_calls: How often a model was asked.
        together: The calls stand in one text, and run all or none.
    """

    outcome: Outcome
    value: Any = None
    calls: tuple[MendedCall, ...] = ()
    changes: tuple[Change, ...] = ()
    reason: str | None = None
    detail: str | None = None
    failure: Mapping[str, Any] | None = field(default=None, repr=False)
    model_calls: int = 0
    together: bool = False

    @property
    def ready(self) -> tuple[Call, ...]:
        """The calls that may run now.

        Calls of one text belong together: beside one that may not run, none of them is ready.
        Parallel calls stand for themselves.
        """
        if self.together and any(call.args is None for call in self.calls):
            return ()
        return tuple(
            Call(call.name, call.args, None if call.id is None else str(call.id))
            for call in self.calls
            if call.args is not None
        )
