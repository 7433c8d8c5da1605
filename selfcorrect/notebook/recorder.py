"""Turns LangGraph's checkpoints into moments of a history, each with its frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from selfcorrect.drawing import START
from selfcorrect.json_forms import call_from_json
from selfcorrect.loop.loop import Loop
from selfcorrect.notebook.agents import tell_messages
from selfcorrect.notebook.driver import Checkpoint
from selfcorrect.notebook.frame import Frame, finding_rows, tell
from selfcorrect.notebook.history import History, Moment
from selfcorrect.notebook.replaying import BEGUN, DONE, FAILED, Executions, stored_error
from selfcorrect.notebook.shown import cut, differences, plain_text, rows
from selfcorrect.state import STATE_KEYS

_TOLD_ELSEWHERE: Final = STATE_KEYS - {"stop"}
"""Keys of the loop that the changes, the findings and the table of the state tell of."""

_ABOUT_FINDINGS: Final = frozenset({"select_strategy", "repair"})
_FIRST: Final = (
    *("current", "call", "raw", "request", "result", "failure", "question", "findings", "stop"),
    *("outcome", "selected", "changes", "attempts", "counts"),
)


class Recorder:
    """Adds checkpoints to a history."""

    def __init__(self, history: History, loop: Loop | None, executions: Executions) -> None:
        self._history = history
        self._loop = loop
        self._executions = executions
        self._values: dict[int, Mapping[str, Any]] = {}
        self._texts: dict[str, str] = {}
        self.most = 4

    def values_of(self, moment: Moment) -> Mapping[str, Any] | None:
        """The state at a moment, while it is remembered."""
        return self._values.get(moment.number)

    def remember(self, moment: Moment, values: Mapping[str, Any]) -> None:
        """Keep the state of a moment; only those of the last few (`most`) are kept."""
        self._values.pop(moment.number, None)
        self._values[moment.number] = values
        while len(self._values) > self.most:
            self._values.pop(next(iter(self._values)))

    def take(self, checkpoint: Checkpoint, *, asks: bool = False) -> Moment | None:
        """Add a checkpoint; None if it is known already or shows nothing of its own.

        Args:
            checkpoint: What LangGraph told.
            asks: Whether a person is asked there; then also a mere fork is a moment.
        """
        history = self._history
        if history.knows(checkpoint.id):
            return None
        parent = history.of_checkpoint(checkpoint.parent)
        number = None if parent is None else parent.number
        if checkpoint.source == "input" or (checkpoint.source == "fork" and not asks):
            history.alias(checkpoint.id, number)
            return None
        frame = self._frame(checkpoint, parent)
        moment = history.add(
            frame, checkpoint=checkpoint.id, parent=number, following=checkpoint.next
        )
        self.remember(moment, checkpoint.values)
        return moment

    def restore(self, checkpoint: Checkpoint, *, last: bool) -> None:
        """Add a checkpoint that an earlier process wrote, and what its tools did."""
        moment = self.take(checkpoint, asks=last)
        if moment is not None and self._loop is not None and moment.parent is not None:
            before = self._values.get(moment.parent) or {}
            self._known_execution(moment.parent, before, checkpoint.values)

    def _known_execution(
        self, at: int, before: Mapping[str, Any], after: Mapping[str, Any]
    ) -> None:
        made: list[Any] = after.get("attempts") or []
        if len(made) != len(before.get("attempts") or ()) + 1 or made[-1].get("replayed"):
            return
        attempt = made[-1]
        status = {"done": DONE, "failed": FAILED}.get(attempt["outcome"], BEGUN)
        error = None
        if status == FAILED:
            error = stored_error(attempt, (after.get("error") or {}).get("findings") or ())
        call = call_from_json(attempt["call"])
        value = after.get("result") if status == DONE else None
        self._executions.known(at, call, status, value, error)

    def _frame(self, checkpoint: Checkpoint, parent: Moment | None) -> Frame:
        after = checkpoint.values
        before = (self._values.get(parent.number) if parent is not None else None) or {}
        nodes = parent.next if parent is not None else ()
        kind = "step"
        if checkpoint.source == "update":
            kind, nodes = "edit", ()
        elif checkpoint.source == "fork":
            kind, nodes = "fork", ()
        elif not nodes or parent is None:
            kind, nodes = "start", (START,)
        frame = Frame("", None, kind, nodes=tuple(nodes))
        frame.tone = "edit" if kind == "edit" else "ok"
        if kind == "start":
            frame.title = "the input"
        if self._loop is not None:
            self._tell_loop(frame, before, after, parent)
        elif kind != "start":
            frame.written = differences(before, after)
            frame.title = _wrote(frame.written)
            tell_messages(frame, before, after)
        frame.state = [[key, self._once(text)] for key, text in rows(self._shown(after))]
        return frame

    def _once(self, text: str) -> str:
        """The text itself; steps that show the same text share it."""
        return self._texts.setdefault(text, text)

    def _shown(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """What is shown of a state: of a loop's, what matters first, and nothing that is empty."""
        if self._loop is None:
            return values
        ordered = {key: values[key] for key in _FIRST if key in values} | dict(values)
        return {key: value for key, value in ordered.items() if value not in (None, [], {})}

    def _tell_loop(
        self,
        frame: Frame,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
        parent: Moment | None,
    ) -> None:
        strategies = self._loop.context.strategies if self._loop is not None else None
        for event in new_events(before, after):
            tell(frame, event, strategies)
        open_ones = before.get("findings")
        if not frame.findings and _ABOUT_FINDINGS.intersection(frame.nodes) and open_ones:
            frame.findings = finding_rows(open_ones, strategies)
        frame.attempt = attempt_after(parent, before, after)
        if frame.kind != "start":
            kept = [
                {key: value for key, value in values.items() if key not in _TOLD_ELSEWHERE}
                for values in (before, after)
            ]
            frame.written = differences(*kept)
        if "failure" in after and isinstance(after["failure"], Mapping):
            frame.tone = "error"
            frame.title = plain_text(after["failure"].get("reason", ""), 120)


def _wrote(written: list[list[str]]) -> str:
    """The keys of the state that a step wrote."""
    keys = dict.fromkeys(path.split("/")[1] for path, _, _ in written if "/" in path)
    return cut(f"wrote {', '.join(keys)}", 120) if keys else "wrote nothing"


def new_events(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Any]:
    """The events of the trail that a step added; a new run has a trail of its own."""
    old, new = before.get("trail") or [], after.get("trail") or []
    if not isinstance(old, list) or not isinstance(new, list):
        return []
    grown = before.get("run") == after.get("run") and len(new) >= len(old)
    return [each for each in (new[len(old) :] if grown else new) if isinstance(each, Mapping)]


def attempt_after(
    parent: Moment | None, before: Mapping[str, Any], after: Mapping[str, Any]
) -> int:
    """The attempt that a step belongs to; from a retry on, it is the next one."""
    if parent is None or before.get("run") != after.get("run"):
        return 1
    if "retry" in parent.frame.nodes and before.get("outcome") == "retry":
        return len(before.get("attempts") or ()) + 1
    return max(parent.frame.attempt, len(after.get("attempts") or ()), 1)


def is_start(moment: Moment) -> bool:
    """Whether a run has not begun at this moment: its input is all there is."""
    is_first = moment.next in (("plan",), ("before_plan",))
    return is_first and moment.frame.kind in ("start", "edit", "fork")
