"""The history of a thread, as LangGraph's checkpoints hold it: points where the head can stand."""

from collections.abc import Mapping
from typing import Any, Literal, Self

from langgraph.graph import START
from langgraph.types import StateSnapshot

from selfcorrect.model import JsonObject, frozen
from selfcorrect.text import release, text_of

MAX_POINTS = 2_000
"""The newest checkpoints that are looked at."""


@frozen
class Point:
    """A checkpoint with what led to it.

    Attributes:
        snapshot: The state behind it, and what runs next.
        parent: The point that it came from; None for the first one.
        kind: Whether an input, nodes, or an edit led to it.
        nodes: The nodes that led to it: several under fan-out.
    """

    snapshot: StateSnapshot
    parent: "Point | None"
    kind: Literal["input", "step", "edit"]
    nodes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The id of its checkpoint."""
        return id_of(self.snapshot.config)

    @property
    def path(self) -> list[Self]:
        """The points that lead to this one, which is the last of them."""
        path: list[Any] = [self]
        while path[-1].parent is not None:
            path.append(path[-1].parent)
        return path[::-1]

    @property
    def run(self) -> list[Self]:
        """The points since the last input, which is the first of them."""
        path = self.path
        return path[max(n for n, point in enumerate(path) if point.kind == "input") :]


@frozen
class History:
    """A thread.

    Attributes:
        points: Where the head can stand, oldest first.
        by_id: The point of each checkpoint. LangGraph copies the checkpoint that a fork starts
            from, and keeps an input by itself: their point is the one that they stand for.
        tip: The newest state, with what its tasks have come to.
    """

    points: list[Point]
    by_id: Mapping[str, Point]
    tip: StateSnapshot

    @property
    def last(self) -> Point:
        """The point of the newest state."""
        return self.by_id[id_of(self.tip.config)]


def read_history(graph: Any, config: Any) -> History:
    """Read the checkpoints of a thread."""
    tip = graph.get_state(config)  # first: a run of another thread may go on meanwhile
    newest_first = graph.get_state_history(config, limit=MAX_POINTS)
    snapshots = {id_of(snapshot.config): snapshot for snapshot in [*newest_first][::-1]}
    points: list[Point] = []
    by_id: dict[str, Point] = {}
    for key, snapshot in snapshots.items():
        came_from = id_of(snapshot.parent_config)
        parent, before = by_id.get(came_from), snapshots.get(came_from)
        source = (snapshot.metadata or {}).get("source")
        if parent is not None and (source == "fork" or snapshot.next == (START,)):
            by_id[key] = parent
        elif snapshot.next != (START,):
            kind: Any = "step" if source == "loop" else "edit"
            if before is None or before.next == (START,):
                kind = "input"
            nodes = (task.name for task in before.tasks) if before and kind == "step" else ()
            by_id[key] = Point(snapshot, parent, kind, tuple(nodes))
            points.append(by_id[key])
    return History(points, by_id, tip)


def id_of(config: Any) -> str:
    """Return the id of the checkpoint that a config names; empty where there is none."""
    return str((config or {}).get("configurable", {}).get("checkpoint_id", ""))


def task_error(snapshot: StateSnapshot) -> str:
    """Return what the nodes that run next raised, as LangGraph keeps it."""
    errors = (text_of(task.error) for task in snapshot.tasks if task.error)
    return release(next(errors, ""), 2_000)


def state_of(snapshot: StateSnapshot) -> JsonObject:
    """Return the keys of a state; one without keys counts as one key."""
    return snapshot.values if isinstance(snapshot.values, Mapping) else {"": snapshot.values}
