"""`trail`: a run that is over, told from the trail that it left behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from selfcorrect.drawing import START, Shape
from selfcorrect.drawing.shape import END
from selfcorrect.errors import SelfCorrectError
from selfcorrect.json_forms import call_from_json, change_from_json
from selfcorrect.mapping.loading import load_map
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import Call
from selfcorrect.notebook.agents import changes_of, mended
from selfcorrect.notebook.display import Display
from selfcorrect.notebook.frame import Frame, tell
from selfcorrect.notebook.history import History
from selfcorrect.notebook.html import replay_data
from selfcorrect.notebook.recorded import Recorded
from selfcorrect.notebook.report import report_of
from selfcorrect.notebook.shown import cut, plain_text, rows
from selfcorrect.notebook.status import STATES
from selfcorrect.notebook.view_model import question_of, result_of
from selfcorrect.pointer import apply

_MOST_EVENTS: Final = 10_000
_TOLD_BY: Final = frozenset({"trail", "error", "tool_call_id"})
"""Keys of which every record of a run has one; an agent's record of a mere mend has no trail."""


class Trail(Display):
    """Runs that are over, as a replay: shown by being a cell's last value."""

    def __init__(self, runs: Sequence[Recorded], shape: Shape) -> None:
        self._runs = list(runs)
        self._shape = shape

    def recorded(self) -> list[Recorded]:
        return self._runs

    @property
    def shape(self) -> Shape:
        return self._shape

    def make_widget(self, name: str) -> Any:
        from selfcorrect.notebook.widget import replay_widget

        return replay_widget(name, replay_data(self._runs, self._shape))


def trail(run: Any, *, strategies: Any = None, title: str = "run") -> Trail:
    """A run that is over, as a replay.

    Args:
        run: What `invoke` returned, a recorded line of `selfcorrect run --record` or of an
            agent's `on_trail`, a bare trail, or a list of any but the last.
        strategies: The error-strategy map of the run, for the patterns of its rules.
        title: What it is called, if it does not say so itself.

    >>> out = {"result": 3, "trail": [{"step": 0, "node": "plan", "next": "execute"}]}
    >>> print(trail(out).text().splitlines()[0])
    run · finished: ok
    """
    outputs = run if _is_list_of_runs(run) else [run]
    try:
        known: StrategyMap | None = load_map(strategies)
    except SelfCorrectError:
        if strategies is not None:
            raise
        known = None
    runs = [_recorded(each, known, title) for each in outputs]
    seen = {node for each in runs for frame in each.frames for node in frame.nodes}
    return Trail(runs, Shape.of_loop(*sorted(seen)))


def _is_list_of_runs(run: Any) -> bool:
    return (
        isinstance(run, list)
        and bool(run)
        and all(isinstance(each, Mapping) and _TOLD_BY & each.keys() for each in run)
        and not all("node" in each for each in run)
    )


def _recorded(run: Any, strategies: StrategyMap | None, title: str) -> Recorded:
    output: Mapping[str, Any] = run if isinstance(run, Mapping) else {"trail": run}
    listed = output.get("trail")
    events = (
        [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
    )
    history = History()
    head = Frame("", None, "start", nodes=(START,), attempt=1, title="the input")
    given = output.get("input")
    head.state = rows(given if isinstance(given, Mapping) else {})
    first = [_name(events[0], "node", "")] if events else []
    history.add(head, checkpoint="0", following=first)
    call: Call | None = None
    attempt = 1
    for event in events[:_MOST_EVENTS]:
        call = _call_after(event, call)
        node, following = _name(event, "node", ""), _name(event, "next", END)
        frame = Frame("", None, "edit" if node == "edit" else "step", nodes=(node,))
        frame.tone = "edit" if node == "edit" else "ok"
        tell(frame, event, strategies)
        number = event.get("attempt")
        if node == "execute" and isinstance(number, int):
            attempt = number
        frame.attempt = attempt
        if node == "retry" and isinstance(number, int):
            attempt = number
        taken = event.get("seconds")
        frame.seconds = float(taken) if isinstance(taken, int | float) else None
        frame.state = rows({"name": call.name, "args": call.args} if call is not None else {})
        here = len(history)
        history.add(
            frame,
            checkpoint=str(here),
            parent=here - 1,
            following=() if following == END else (following,),
        )
    if not events and (changes := changes_of(output)):
        frame = Frame("", None, nodes=("repair",), attempt=1, title=mended(changes))
        frame.changes = changes
        history.add(frame, checkpoint="1", parent=0)
    named = str(output.get("title") or output.get("request") or title)
    return Recorded(
        cut(named, 120),
        _status(output),
        history,
        report_of(output),
        result_of(output),
        _question(output),
    )


def _name(event: Mapping[str, Any], key: str, otherwise: str) -> str:
    """The name of a node, as far as it is one."""
    return cut(str(event.get(key, otherwise)), 80)


def _call_after(event: Mapping[str, Any], call: Call | None) -> Call | None:
    """The call as it stands after an event, as far as a trail tells."""
    try:
        if event.get("node") == "plan" and isinstance(event.get("call"), Mapping):
            return call_from_json(event["call"])
        changes = event.get("changes")
        if call is not None and isinstance(changes, list) and changes:
            return apply(call, [change_from_json(change) for change in changes])
    except (LookupError, TypeError, ValueError, AttributeError):
        return call
    return call


def _status(output: Mapping[str, Any]) -> dict[str, str]:
    failure = output.get("failure")
    if isinstance(failure, Mapping):
        reason = plain_text(failure.get("reason", ""), 60)
        return _ended("failed", f"finished: failed · {reason}")
    if output.get("__interrupt__"):
        return _ended("question", "waiting for a person")
    if "error" in output:
        return _ended("error", plain_text(f"error: {output['error']}", 300))
    if isinstance(output.get("reason"), str) and "trail" not in output:
        reason = plain_text(output["reason"], 60)
        return _ended("failed", f"not called · {reason}") | {"tone": "warn"}
    if output.get("changes") and "trail" not in output:
        return _ended("ok", "mended before it was called")
    if "result" in output:
        return _ended("ok", "finished: ok")
    return _ended("ready", "no end was recorded")


def _ended(state: str, text: str) -> dict[str, str]:
    return {"state": state, "tone": STATES[state], "text": text}


def _question(output: Mapping[str, Any]) -> dict[str, Any] | None:
    asked = output.get("__interrupt__")
    first = asked[0] if isinstance(asked, list | tuple) and asked else None
    return None if first is None else question_of([("", getattr(first, "value", first))])
