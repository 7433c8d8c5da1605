"""A loop that mends calls and executes nothing, and what it says of one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from selfcorrect.batch.mended import MendedCall, Outcome
from selfcorrect.json_forms import (
    call_from_json,
    call_to_json,
    change_from_json,
)
from selfcorrect.loop.context import Node, RunContext, Update
from selfcorrect.loop.loop import Loop
from selfcorrect.loop.nodes.execute import failed
from selfcorrect.loop.options import Options
from selfcorrect.loop.own_findings import unknown_tool
from selfcorrect.loop.setup import DEFAULTS, assemble
from selfcorrect.loop.walk import Walk
from selfcorrect.model import Change, JsonObject
from selfcorrect.state import CorrectionState


def check_only(state: CorrectionState, context: RunContext) -> Update:
    """In the place of execute: a call that fits its tool is the result."""
    call = call_from_json(state["current"])
    tool = context.tools.get(call.name)
    if tool is None or call.raw is not None:
        return failed("plan", (unknown_tool(context.tools),), {})
    if findings := tool.violations(call.args):
        return failed("schema", findings, {})
    return {
        "outcome": "done",
        "result": {"call": call_to_json(call), "changes": state.get("changes") or []}
        | {"model_calls": state["counts"].get("model_calls", 0)},
        "error": None,
        "trail": [{"ok": True}],
    }


def repair_loop(tools: Any, options: Options = DEFAULTS, executor: Node = check_only) -> Loop:
    """A loop whose execute node only checks; build it once to mend many calls."""
    loop = assemble(tools, options.checking(executor))
    loop.context.asked_later = True  # whoever mends with it gets the question
    return loop


@dataclass(frozen=True, slots=True)
class Checked:
    """One run of a checking loop, and what it came to.

    Attributes:
        out: `result` or `failure`, and the `trail`.
    """

    out: Mapping[str, Any]
    _state: CorrectionState

    @property
    def model_calls(self) -> int:
        """How often a model was asked."""
        counts: Mapping[str, Any] = self._state.get("counts") or {}
        return int(counts.get("model_calls", 0))

    def holds_several(self) -> bool:
        """Whether the text that was read holds several calls, of which a run carries one."""
        findings = (self.out.get("failure") or {}).get("findings") or ()
        return any(finding.get("code") == "several_calls" for finding in findings)

    def call(
        self, before: tuple[Change, ...] = (), *, name: str = "", call_id: Any = None
    ) -> MendedCall:
        """What became of the call.

        Args:
            before: The changes that made the call which was run.
            name: The tool's name as it was written.
            call_id: The id that was given.
        """
        failure = self.out.get("failure")
        if failure:
            asked = failure["reason"] == "needs_person"
            return MendedCall(
                name or str((self._state.get("current") or {}).get("name") or ""),
                None,
                call_id,
                "ask" if asked else "failed",
                (*before, *map(change_from_json, failure.get("changes") or ())),
                failure["for_model"],
                self._partial(),
                failure["reason"],
                failure["detail"],
                failure,
            )
        if self.out["trail"][-1]["node"] != "execute":
            detail = "a strategy answered for the tool, and there is no call"
            said = "The call was not made."
            return MendedCall(name, None, call_id, "failed", (), said, None, "no_strategy", detail)
        result = self.out["result"]
        call = call_from_json(result["call"])
        changes = (*before, *map(change_from_json, result["changes"]))
        known = call.id if call_id is None else call_id
        outcome: Outcome = "repaired" if changes else "valid"
        return MendedCall(call.name, call.args, known, outcome, changes)

    def _partial(self) -> JsonObject | None:
        """The arguments as they stood at the end: the report's own copy hides secrets."""
        current: Any = self._state.get("current")
        if not isinstance(current, Mapping) or current.get("raw") is not None:
            return None
        args = current.get("args")
        return dict(args) if isinstance(args, Mapping) and current.get("name") else None


async def checked(loop: Loop, given: Mapping[str, Any], context: RunContext) -> Checked:
    """Take one input through a loop that only checks."""
    walk = Walk(loop, given)
    out = await walk.run(context)
    return Checked(out, walk.state)
