"""How LangGraph is driven one superstep at a time: start, step, edit, answer, and its history."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from selfcorrect.loop.context import AGAIN
from selfcorrect.notebook.savers import asynchronous_saver

T = TypeVar("T")

_TOLD_OF: Final = ("config", "parent_config", "values", "next", "metadata")
"""What a snapshot and an event say of a checkpoint, under the same names."""

MOST_CHECKPOINTS: Final = 2_000
"""Checkpoints of a thread that are read when a process picks it up; the latest ones."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One checkpoint as LangGraph tells it.

    Attributes:
        source: `input`, `loop`, `update` or `fork`.
    """

    id: str
    parent: str | None
    values: Mapping[str, Any]
    next: tuple[str, ...]
    source: str


@dataclass(slots=True)
class Outcome:
    """What one superstep came to.

    Attributes:
        checkpoints: Those that are new, in order.
        seconds: How long its tasks took, together.
        inside: Nodes of graphs inside that ran.
        questions: What a person is asked, by LangGraph's id of it.
        error: What a node raised.
    """

    checkpoints: list[Checkpoint] = field(default_factory=list)
    seconds: float = 0.0
    inside: list[str] = field(default_factory=list)
    questions: list[tuple[str, Any]] = field(default_factory=list)
    error: Exception | None = None


class Driver:
    """Drives one thread of a compiled graph, sync or async."""

    def __init__(self, graph: Any, config: Mapping[str, Any], *, asynchronous: bool) -> None:
        self._config = dict(config)
        self._loop = _Loop() if asynchronous else None
        if self._loop is not None:
            saver = self._loop.run(asynchronous_saver(graph.checkpointer, self._config))
            graph = graph.copy({"checkpointer": saver})
        self._graph = graph

    def advance(
        self, given: Any, at: str | None, callbacks: list[Any], *, again: bool = False
    ) -> Outcome:
        """Run one superstep.

        Args:
            given: The input of a new run, a `Command` that answers, or None to go on.
            at: The checkpoint to go on from; None is the thread's latest one.
            callbacks: LangChain's, for what models cost.
            again: A person says that what may have been done is to be done again.
        """
        config = self._at(at)
        if again:
            config["configurable"][AGAIN] = True
        given_too = config.get("callbacks")
        if callbacks and (given_too is None or isinstance(given_too, list)):
            config["callbacks"] = [*(given_too or ()), *callbacks]
        options: dict[str, Any] = {
            "interrupt_before": "*",
            "stream_mode": "debug",
            "subgraphs": True,
        }
        told = _Told()
        try:
            if self._loop is None:
                told.take_all(self._graph.stream(given, config, **options))
            else:
                self._loop.run(told.take_async(self._graph.astream(given, config, **options)))
        except Exception as error:  # what a node raises is shown, and Step tries again
            told.outcome.error = error
            told.note_time()
        return told.outcome

    def state(self, at: str | None = None) -> Any:
        """LangGraph's snapshot of a checkpoint, or of the latest one."""
        return self._called("get_state", self._at(at))

    def update(self, at: str, values: Any, as_node: str) -> str:
        """Write values as if a node had; returns the new checkpoint's id."""
        made = self._called("update_state", self._at(at), values, as_node)
        return str(made["configurable"]["checkpoint_id"])

    def checkpoints(self) -> list[Checkpoint]:
        """The thread's checkpoints, oldest first."""
        config = self._at(None)
        if self._loop is None:
            found = list(self._graph.get_state_history(config, limit=MOST_CHECKPOINTS))
        else:
            found = self._loop.run(
                _collected(self._graph.aget_state_history(config, limit=MOST_CHECKPOINTS))
            )
        return [as_checkpoint(snapshot) for snapshot in reversed(found)]

    def _called(self, method: str, *given: Any) -> Any:
        """What the graph answers, awaited where it can only be awaited."""
        if self._loop is None:
            return getattr(self._graph, method)(*given)
        return self._loop.run(getattr(self._graph, f"a{method}")(*given))

    def _at(self, checkpoint: str | None) -> dict[str, Any]:
        configurable = dict(self._config.get("configurable") or {})
        if checkpoint is not None:
            configurable |= {"checkpoint_id": checkpoint, "checkpoint_ns": ""}
        return {**self._config, "configurable": configurable}


def as_checkpoint(snapshot: Any) -> Checkpoint:
    """A checkpoint from LangGraph's snapshot of a state."""
    return _checkpoint({name: getattr(snapshot, name) for name in _TOLD_OF})


def asked(interrupt: Any) -> tuple[str, Any]:
    """The id and the value of one of LangGraph's interrupts."""
    if isinstance(interrupt, Mapping):
        return str(interrupt.get("id", "")), interrupt.get("value")
    return str(interrupt.id), interrupt.value


class _Told:
    """Reads LangGraph's debug events."""

    def __init__(self) -> None:
        self.outcome = Outcome()
        self._begun: dict[str, datetime] = {}

    def take_all(self, events: Iterator[Any]) -> None:
        for namespace, event in events:
            self.take(namespace, event)

    async def take_async(self, events: AsyncIterator[Any]) -> None:
        async for namespace, event in events:
            self.take(namespace, event)

    def take(self, namespace: tuple[str, ...], event: Mapping[str, Any]) -> None:
        kind, payload = event["type"], event["payload"]
        if namespace:
            if kind == "task" and len(self.outcome.inside) < 50:
                self.outcome.inside.append(str(payload["name"]))
            return
        if kind == "task":
            self._begun[payload["id"]] = datetime.fromisoformat(event["timestamp"])
        elif kind == "task_result":
            begun = self._begun.pop(payload["id"], None)
            if begun is not None:
                ended = datetime.fromisoformat(event["timestamp"])
                self.outcome.seconds += (ended - begun).total_seconds()
            self.outcome.questions += [asked(item) for item in payload.get("interrupts") or ()]
        elif kind == "checkpoint":
            self.outcome.checkpoints.append(_checkpoint(payload))

    def note_time(self) -> None:
        """Count what a node took that raised."""
        now = datetime.now(UTC)
        for begun in self._begun.values():
            self.outcome.seconds += max(0.0, (now - begun).total_seconds())


def _checkpoint(told: Mapping[str, Any]) -> Checkpoint:
    values = told.get("values")
    return Checkpoint(
        id=str(told["config"]["configurable"]["checkpoint_id"]),
        parent=_id(told.get("parent_config")),
        values=values if isinstance(values, Mapping) else {},
        next=tuple(told.get("next") or ()),
        source=str((told.get("metadata") or {}).get("source", "loop")),
    )


def _id(config: Mapping[str, Any] | None) -> str | None:
    found = ((config or {}).get("configurable") or {}).get("checkpoint_id")
    return None if found is None else str(found)


async def _collected(items: AsyncIterator[T]) -> list[T]:
    return [item async for item in items]


class _Loop:
    """An event loop in a thread of its own, for a caller whose own loop may be running."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True, name="stepper").start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise
