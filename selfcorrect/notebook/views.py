"""Says what is shown of a run: LangGraph's history in, one `View` out."""

from collections.abc import Collection
from dataclasses import KW_ONLY
from itertools import chain
from typing import Any

from langgraph.types import StateSnapshot

from selfcorrect.drawing.picture import picture_of
from selfcorrect.drawing.recorded import (
    detail_of,
    dict_of,
    list_of,
    outcome_texts,
    question_of,
    shown,
)
from selfcorrect.drawing.view import Detail, Moment, Picture, Status, View, ViewChange
from selfcorrect.lazy import load_table
from selfcorrect.model import JsonDict, frozen
from selfcorrect.notebook.edits import loop_of
from selfcorrect.notebook.history import History, Point, state_of, task_error
from selfcorrect.text import quote, redact_json, text_of

_MOST = 2_000
_STATUSES = load_table("notebook/statuses.toml")


@frozen
class Sight:
    """What a view is made of.

    Attributes:
        graph: The graph.
        history: The thread.
        head: Where the head stands.
        breakpoints: The nodes before which a run stops.
        is_running: Whether a command is at work.
    """

    _: KW_ONLY
    graph: Any
    history: History
    head: Point
    breakpoints: Collection[str]
    is_running: bool = False

    @property
    def is_past(self) -> bool:
        """Whether newer states follow the head."""
        return self.head.id != self.history.last.id

    @property
    def now(self) -> StateSnapshot:
        """The state at the head."""
        return self.head.snapshot if self.is_past else self.history.tip

    @property
    def status(self) -> Status:
        """Where the run stands."""
        if self.is_running:
            return "running"
        if self.is_past:
            return "past"
        if task_error(self.now):
            return "error"
        if self.now.interrupts:
            return "waiting"
        if not self.now.next:
            has_report = loop_of(self.graph) and "failure" in state_of(self.now)
            return "failed" if has_report else "finished"
        return "paused" if any(point.nodes for point in self.head.run) else "ready"


def view_of(sight: Sight) -> View:
    """Return everything that is shown of a run."""
    loop, now, state, status = loop_of(sight.graph), sight.now, state_of(sight.now), sight.status
    about = _STATUSES[status]
    title = dict_of(state.get("current")).get("name") if loop else None
    return {
        "title": shown(title or sight.graph.name),
        "status": status,
        "sentence": about["sentence"].format(next=_names(now.next) or "nothing"),
        "picture": _picture(sight),
        "timeline": _moments(sight),
        "detail": _detail(sight),
        "state": {shown(text_of(k)): quote(redact_json(v), _MOST) for k, v in state.items()},
        "question": question_of(now.interrupts[0].value) if status == "waiting" else None,
        "outcome": outcome_texts(state) if loop else {},
        "changes": [*chain.from_iterable(map(_changes, sight.head.path))],
        "commands": [*about["commands"], *(["strategy"] if "repair" in now.next else [])],
    }


def _names(nodes: Collection[str]) -> str:
    return shown(", ".join(dict.fromkeys(nodes)))


def _picture(sight: Sight) -> Picture:
    path = [point.nodes for point in sight.head.run if point.nodes]
    return picture_of(
        sight.graph,
        path=path,
        next=sight.now.next,
        breakpoints=sight.breakpoints,
    )


def _moments(sight: Sight) -> list[Moment]:
    path = {point.id for point in sight.head.path}
    return [
        Moment(
            id=point.id,
            node=_names(point.nodes),
            outcome=shown(_event(point).get("outcome")),
            kind=point.kind,
            is_left=point.id not in path,
            is_head=point.id == sight.head.id,
        )
        for point in sight.history.points
    ]


def _event(point: Point) -> JsonDict:
    """Return what the node of a point wrote into the trail."""
    trail = state_of(point.snapshot).get("trail")
    last = dict_of(trail[-1]) if isinstance(trail, list) and trail else {}
    return last if (last.get("node"),) == point.nodes else {}


def _changes(point: Point) -> list[ViewChange]:
    return detail_of(_event(point))["changes"]


def _detail(sight: Sight) -> Detail:
    findings = map(dict_of, list_of(state_of(sight.now).get("findings")))
    ruled = [finding for finding in findings if "ladder" in finding]
    event = {**_event(sight.head), "findings": ruled}
    return {**detail_of(event), "error": task_error(sight.now) if sight.status == "error" else ""}
