"""`Stepper`: walks through a run node by node, back and forth, over LangGraph's own checkpoints."""

import asyncio
import json
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock
from typing import Any, Self
from uuid import uuid4

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from selfcorrect.drawing.html import page, still
from selfcorrect.drawing.svg import draw
from selfcorrect.drawing.text import error_text, view_text
from selfcorrect.drawing.view import View
from selfcorrect.errors import GraphSetupError, refuse_unknown, unknown_name
from selfcorrect.notebook.edits import complete_edit
from selfcorrect.notebook.history import Point, read_history, task_error
from selfcorrect.notebook.outputs import Shown
from selfcorrect.notebook.views import Sight, view_of
from selfcorrect.tools.run import start_thread

MAX_STEPS = 1_000
"""Steps of one `run`, for graphs that never end."""


class Stepper:
    """Steps through a compiled LangGraph graph; the last value of a cell shows where it stands.

    Every command returns the stepper. A step from an earlier state starts a new branch, as in
    LangGraph: what only reads is asked again; a tool that acts is answered from the graph's
    ledger, or a person is asked. Nodes of other graphs simply run again.

    Args:
        graph: A compiled graph; one without a checkpointer is copied, with one in memory.
        inputs: Its input; None looks at a thread that has begun.
        config: LangGraph's config.
        thread: The thread; a new one if left out.

    Raises:
        GraphSetupError: If there is neither an input nor a history. Every command raises it where
            it is not possible now; then nothing has changed.
    """

    def __init__(
        self,
        graph: Any,
        inputs: Any = None,
        *,
        config: Any = None,
        thread: str | None = None,
    ) -> None:
        has_saver = isinstance(graph.checkpointer, BaseCheckpointSaver)
        self.graph: Any = (
            graph if has_saver else graph.copy(update={"checkpointer": InMemorySaver()})
        )
        self._breakpoints: set[str] = set()
        self._listeners: list[Callable[[], Any]] = []
        self._lock, self._pause = Lock(), Event()
        self._head = ""
        """The checkpoint at which the head stands; empty for the newest one."""
        own = dict((config or {}).get("configurable") or {})
        own["thread_id"] = thread or own.get("thread_id") or uuid4().hex
        self._base: Any = {**(config or {}), "configurable": own}
        if inputs is not None:
            self._invoke(inputs, self._base)
        elif not read_history(self.graph, self._base).points:
            raise GraphSetupError("this thread has no history: give the Stepper an input")

    def step(self) -> Self:
        """Run the next node, or those that are next together."""
        return self._walk(1)

    def run(self, until: str | None = None) -> Self:
        """Run to the end, an error, a question, a breakpoint, or in front of a node.

        Args:
            until: The node.
        """
        stops = self._names(() if until is None else (until,))
        return self._walk(MAX_STEPS, stops | self._breakpoints)

    def pause(self) -> Self:
        """Stop a run of another thread in front of its next node."""
        self._pause.set()
        return self

    def back(self) -> Self:
        """Move to the state before this one; nothing runs, and nothing is undone."""
        with self._command():
            parent = self._sight().head.parent
            if parent is None:
                raise GraphSetupError("this is the beginning of the history")
            self._head = parent.id
        return self

    def goto(self, at: str | int | None = None, *, before: str | None = None) -> Self:
        """Move to a state; nothing runs, and nothing is undone.

        Args:
            at: The id of a moment of the timeline, or its number, from 0.
            before: A node: the newest state in front of it, on the way to this one if there is one.
        """
        self._names(() if before is None else (before,))
        with self._command():
            sight = self._sight()
            points, by_id = sight.history.points, sight.history.by_id
            moments: dict[Any, Point] = {**by_id, **dict(enumerate(points))}
            if at is not None and at not in moments:
                raise GraphSetupError(unknown_name("moment", at, by_id))
            matches = [
                point
                for point in (*points, *sight.head.path)
                if at is None or point is moments[at]
                if before in (None, *point.snapshot.next)
            ]
            if not matches:
                raise GraphSetupError(f"the run has not been in front of {before}")
            self._head = matches[-1].id
        return self

    def edit(self, values: Any, *, as_node: str | None = None) -> Self:
        """Write keys into the state; on an earlier state this starts a new branch.

        Args:
            values: Keys of the state, which go through its reducers. For a graph of `build_graph`
                also the `name` and `args` of the call, and in front of `repair` a `strategy` with
                its `options`.
            as_node: The node in whose name it is written, as in LangGraph.
        """
        with self._command():
            edit = complete_edit(self.graph, self._sight().now, values)
            try:
                self.graph.update_state(self._head_config(), edit, as_node)
            except Exception as error:
                why = error_text(error)
                raise GraphSetupError(f"the state does not take the edit: {why}") from error
            self._head = ""
        return self

    def answer(self, value: Any) -> Self:
        """Answer the question of a person's; the node that asked goes on."""
        with self._command():
            if self._sight().status != "waiting":
                raise GraphSetupError("nobody is asked now")
            self._advance(Command(resume=value))
        return self

    def restart(self) -> Self:
        """Move to the beginning of the run; nothing runs, and nothing is undone."""
        with self._command():
            self._head = self._sight().head.run[0].id
        return self

    def break_at(self, *nodes: str) -> Self:
        """Let runs stop in front of nodes."""
        self._breakpoints |= self._names(nodes)
        self._notify()
        return self

    def clear(self, *nodes: str) -> Self:
        """Take breakpoints away; without names, all of them."""
        self._breakpoints -= self._names(nodes) or {*self._breakpoints}
        self._notify()
        return self

    def listen(self, listener: Callable[[], Any]) -> Self:
        """Call a function after every node of a run, and after every command."""
        self._listeners.append(listener)
        return self

    @property
    def values(self) -> Any:
        """The state at the head."""
        return self._sight().now.values

    def view(self) -> View:
        """Return everything that is shown, as JSON."""
        return view_of(replace(self._sight(), is_running=self._lock.locked()))

    def text(self) -> str:
        """Return the view for a terminal."""
        return view_text(self.view())

    def snapshot(self) -> Shown:
        """Return what is shown now, as it stays."""
        view = self.view()
        return Shown({"text/plain": view_text(view), "text/html": still(view)})

    def to_svg(self) -> str:
        """Return the picture of the run."""
        return draw(self.view()["picture"])

    def to_json(self) -> str:
        """Return the view as a JSON text."""
        return json.dumps(self.view(), ensure_ascii=False)

    def to_html(self, path: str | Path | None = None) -> str:
        """Return a page that steps through the states up to this one, and write it to a file."""
        sight = self._sight()
        views = [view_of(replace(sight, head=point)) for point in sight.head.path]
        text = page(views, title=views[-1]["title"])
        if path is not None:
            Path(path).write_text(text, "utf-8")
        return text

    def _ipython_display_(self) -> None:
        from selfcorrect.notebook.widget import display_cell

        display_cell(self)

    @contextmanager
    def _command(self) -> Iterator[None]:
        if not self._lock.acquire(blocking=False):
            raise GraphSetupError("a command is at work: pause() it, and wait for its end")
        self._notify()
        try:
            yield
        finally:
            self._lock.release()
            self._notify()

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()

    def _names(self, nodes: Collection[str]) -> set[str]:
        refuse_unknown("node", nodes, self.graph.nodes)
        return {*nodes}

    def _walk(self, most: int, stops: Collection[str] = ()) -> Self:
        """Run at most so many steps, and stop in front of nodes."""
        with self._command():
            sight = self._sight()
            if sight.status == "waiting":
                raise GraphSetupError("a person is asked: answer(value) goes on")
            if not sight.now.next:
                raise GraphSetupError("the run has ended: go back(), edit, or restart()")
            self._pause.clear()
            for _ in range(most):
                now = self._advance()
                is_stopped = task_error(now) or now.interrupts or self._pause.is_set()
                if is_stopped or not now.next or {*stops}.intersection(now.next):
                    break
        return self

    def _advance(self, payload: Any = None) -> Any:
        """Run what is next, move the head behind it, and return its state."""
        problem = None
        try:
            self._invoke(payload, self._head_config())
        except Exception as error:
            problem = error
        self._head = ""
        now = self.graph.get_state(self._base)
        if problem is not None and not task_error(now):
            raise GraphSetupError(error_text(problem)) from problem
        return now

    def _invoke(self, payload: Any, config: Any) -> None:
        if not isinstance(self.graph.checkpointer, InMemorySaver):
            # Most savers of databases are sync or async, and the history is read in sync code.
            self.graph.invoke(payload, config, interrupt_before="*")
            return
        # Tools may be async, and a notebook's own loop is at work in this thread.
        work = self.graph.ainvoke(payload, config, interrupt_before="*")
        start_thread("stepper", asyncio.run, work).result()

    def _head_config(self) -> Any:
        """Return the config of the head; the newest state needs no id, and would be copied."""
        if not self._head or not (sight := self._sight()).is_past:
            return self._base
        own = {"checkpoint_ns": "", "checkpoint_id": sight.head.id}
        return {**self._base, "configurable": self._base["configurable"] | own}

    def _sight(self) -> Sight:
        history = read_history(self.graph, self._base)
        head = history.by_id[self._head] if self._head else history.last
        return Sight(graph=self.graph, history=history, head=head, breakpoints=self._breakpoints)
