"""`Stepper`: one run, a step at a time, forwards and backwards."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self
from uuid import uuid4

from selfcorrect.drawing import Shape
from selfcorrect.errors import GraphSetupError
from selfcorrect.hints import near
from selfcorrect.loop.asking import naming
from selfcorrect.notebook.agents import asked_in
from selfcorrect.notebook.display import Display
from selfcorrect.notebook.driver import Driver, Outcome, as_checkpoint, asked
from selfcorrect.notebook.editing import edit_of
from selfcorrect.notebook.frame import Frame
from selfcorrect.notebook.history import History, Moment
from selfcorrect.notebook.meter import Meter, Prices
from selfcorrect.notebook.parts import steppable
from selfcorrect.notebook.recorded import Recorded
from selfcorrect.notebook.recorder import Recorder
from selfcorrect.notebook.replaying import Executions
from selfcorrect.notebook.second import Second, only_reads, second_execution
from selfcorrect.notebook.shown import plain_text
from selfcorrect.notebook.standing import Standing
from selfcorrect.notebook.view_model import recorded_of


class Stepper(Display):
    """Steps through a run of a graph: forwards, back, to any moment; edits, forks, answers.

    Shown in a notebook by being a cell's last value. Takes what `build_graph` returns, and any
    other compiled LangGraph graph. Going back and forking never runs a tool that changes
    something a second time, unless `confirm` says so: what it did is replayed. Not the right tool
    for runs that are over: `trail` shows those.

    >>> from selfcorrect import build_graph
    >>> def double(number: int) -> int:
    ...     return number * 2
    >>> call = {"name": "double", "args": {"number": "21"}}
    >>> stepper = Stepper(build_graph([double]), {"call": call}).run(until="validate")
    >>> [(change["before"], change["after"]) for change in stepper.here.frame.changes]
    [('"21"', '21')]
    >>> stepper.run().values["result"]
    42
    >>> stepper.back().step().here.frame.title
    'replayed the stored result'

    Args:
        graph: The compiled graph; it is not changed.
        inputs: What a run starts from. A thread that exists already is picked up where it stands.
        thread: The thread's id, or a whole LangGraph config; by default a new thread.
        limit: Steps of one `run`, so that a graph that never ends is stopped.
        asynchronous: Whether to await the graph; None finds out.
        prices: Money for a million tokens in and out, by the start of a model's name.
        title: What it is called on screen; by default what an agent was asked, or the graph's
            name.

    Raises:
        GraphSetupError: If it is no compiled graph, or there is neither an input nor a thread.
    """

    def __init__(
        self,
        graph: Any,
        inputs: Any = None,
        *,
        thread: str | Mapping[str, Any] | None = None,
        limit: int = 1_000,
        asynchronous: bool | None = None,
        prices: Prices | None = None,
        title: str | None = None,
    ) -> None:
        self.executions = Executions()
        self.parts = steppable(graph, self.executions, asynchronous=asynchronous)
        self._named = title, str(getattr(graph, "name", "") or "graph")
        self.limit = limit
        self.breakpoints: set[str] = set()
        self.history = History()
        self.alert = ""
        self.halt = ""
        self.running: tuple[str, ...] | None = None
        self.raised: tuple[int, str] | None = None
        self.questions: dict[int, list[tuple[str, Any]]] = {}
        self._listeners: list[Callable[[], None]] = []
        self._busy = threading.Lock()
        self._pause = threading.Event()
        self._meter = Meter(dict(prices or {}))
        own = {"configurable": {"thread_id": thread or uuid4().hex}}
        config = thread if isinstance(thread, Mapping) else own
        self._driver = Driver(self.parts.graph, config, asynchronous=self.parts.asynchronous)
        self._recorder = Recorder(self.history, self.parts.loop, self.executions)
        if thread is not None and self._pick_up():
            return
        if inputs is None:
            raise GraphSetupError("give inputs, or the thread of a run that has begun")
        outcome = self._driver.advance(inputs, None, [])
        if outcome.error is not None:
            raise outcome.error
        self._take(outcome, None)

    # -- what is there ---------------------------------------------------------------------

    @property
    def here(self) -> Moment:
        """The moment one looks at."""
        return self.history.here

    @property
    def title(self) -> str:
        """What it is called on screen."""
        given, otherwise = self._named
        return given or asked_in(self.values) or otherwise

    @property
    def is_past(self) -> bool:
        """Whether one looks at another moment than the thread's latest."""
        return self.here.number != self.history.tip.number

    @property
    def values(self) -> Mapping[str, Any]:
        """The state at this moment."""
        known = self._recorder.values_of(self.here)
        if known is None:
            snapshot = self._driver.state(self.here.checkpoint)
            known = snapshot.values if isinstance(snapshot.values, Mapping) else {}
            self._recorder.remember(self.here, known)
        return known

    @property
    def asking(self) -> list[tuple[str, Any]]:
        """What a person is asked now."""
        return [] if self.is_past else self.questions.get(self.here.number, [])

    @property
    def second(self) -> Second | None:
        """What the next step would do a second time, if anything."""
        self._arm(really=False)
        return second_execution(self.parts, self.executions, self.history, self.values)

    @property
    def standing(self) -> Standing:
        """Where it stands now, as values: what is painted, and what commands are read against."""
        raised = self.raised
        stands = bool(self.here.next) and self.running is None
        return Standing(
            title=self.title,
            parts=self.parts,
            history=self.history,
            values=self.values,
            asking=self.asking,
            breakpoints=frozenset(self.breakpoints),
            limit=self.limit,
            running=self.running,
            raised=raised[1] if raised is not None and raised[0] == self.here.number else None,
            halt=self.halt,
            alert=self.alert,
            second=self.second if stands else None,
        )

    @property
    def shape(self) -> Shape:
        return self.parts.shape

    def recorded(self) -> list[Recorded]:
        return [recorded_of(self.standing)]

    def make_widget(self, name: str) -> Any:
        from selfcorrect.notebook.widget import stepper_widget

        return stepper_widget(self, name)

    # -- what a person does ----------------------------------------------------------------

    def step(self, *, confirm: bool = False) -> Self:
        """Run what is next. In the past this forks, and stored results stand in for tools.

        Args:
            confirm: Really run it, although it may have been done before.

        Raises:
            GraphSetupError: If nothing is next, a person has to answer first, or it would be a
                second execution that nobody confirmed.
        """
        with self._working():
            self._may_go_on()
            self._step(confirm=confirm)
        return self

    def run(self, until: str | Sequence[str] = (), *, confirm: bool = False) -> Self:
        """Go on to a breakpoint, a question, an error, the end, or the limit of steps.

        Args:
            until: Nodes to stop before, beside the breakpoints.
            confirm: As for `step`, for every step.
        """
        stops = {until} if isinstance(until, str) and until else set(until)
        for node in stops:
            self._known(node)
        with self._working():
            self._may_go_on()
            for count in range(self.limit):
                if count and (stops | self.breakpoints).intersection(self.here.next):
                    self.halt = "breakpoint"
                    break
                if self._pause.is_set():
                    self.halt = "paused"
                    break
                if self._needs_word(confirm=confirm):
                    break
                self._step(confirm=confirm)
                if not self.here.next or self.asking or self.raised:
                    break
            else:
                self.halt = "limit"
        return self

    def pause(self) -> Self:
        """Stop a `run` that is going on elsewhere, after the node that is running."""
        self._pause.set()
        return self

    def back(self) -> Self:
        """Look at the moment before this one. Runs nothing and undoes nothing."""
        if self.here.parent is None:
            raise GraphSetupError("this is the start")
        return self.goto(self.here.parent)

    def goto(self, moment: int | str | None = None, *, before: str | None = None) -> Self:
        """Look at a moment. Runs nothing and undoes nothing.

        Args:
            moment: Its number.
            before: A node, in its stead: the last moment of this branch before it ran or runs.

        Raises:
            GraphSetupError: If there is no such moment, or none before that node.
        """
        if (moment is None) == (before is None):
            raise GraphSetupError("goto takes the number of a moment, or before='execute'")
        if before is not None:
            self._known(before)
        with self._working():
            found = self.history.moment(moment) if before is None else self.history.before(before)
            self.history.head = found.number
        return self

    def restart(self) -> Self:
        """Look at the start of this run; stepping from there forks, and does nothing twice."""
        return self.goto(
            next(
                number
                for number in reversed(self.history.line())
                if self.history.moments[number].frame.kind == "start"
            )
        )

    def edit(self, values: Mapping[str, Any]) -> Self:
        """Write values into the state as it is here, and fork.

        Args:
            values: Keys of the state; for what `build_graph` returns also `args` and `name` of
                the call, and where repair is next `strategy` and its `options`.

        Raises:
            GraphSetupError: If something is wrong with them; then nothing is written.
        """
        with self._working():
            line = self.history.line()
            ran = next(
                (
                    m.frame.nodes
                    for n in reversed(line)
                    if (m := self.history.moments[n]).frame.nodes
                ),
                (),
            )
            before = self.here
            wanted = edit_of(self.parts, values, self.values, ran, before.next)
            made = self._driver.update(before.checkpoint or "", wanted.values, wanted.as_node)
            self._recorder.take(as_checkpoint(self._driver.state(made)))
        return self

    def answer(self, value: Any) -> Self:
        """Answer the person's question, and run the node that asked it to its end.

        Args:
            value: As the graph expects it; for what `build_graph` returns a value, or
                `{"action": "answer" | "choose" | "edit" | "reject", …}`.
        """
        from langgraph.types import Command

        with self._working():
            if not self.asking:
                raise GraphSetupError("nobody is asked anything here")
            first, question = self.asking[0]
            value = naming(value, question)
            resume = value if len(self.asking) == 1 else {first: value}
            self._step(Command(resume=resume))
        return self

    def break_at(self, *nodes: str, on: bool = True) -> Self:
        """Have `run` stop before these nodes, or (`on=False`) no longer."""
        for node in nodes:
            self._known(node)
        self.breakpoints = self.breakpoints | set(nodes) if on else self.breakpoints - set(nodes)
        self._changed()
        return self

    # -- how -------------------------------------------------------------------------------

    def listen(self, listener: Callable[[], None]) -> None:
        """Be told whenever something changed."""
        self._listeners.append(listener)

    def _changed(self) -> None:
        for listener in self._listeners:
            listener()

    @contextmanager
    def _working(self) -> Iterator[None]:
        if not self._busy.acquire(blocking=False):
            raise GraphSetupError("it is running: pause it first")
        self._pause.clear()
        self.alert = self.halt = ""
        self.raised = None
        try:
            yield
        finally:
            self.running = None
            self._busy.release()
            self._changed()

    def _known(self, node: str) -> None:
        if node not in self.parts.shape.nodes:
            hint = near(str(node), self.parts.shape.nodes) or ""
            raise GraphSetupError(f"there is no node {node!r:.80}; {hint}".rstrip("; "))

    def _may_go_on(self) -> None:
        if not self.here.next:
            raise GraphSetupError("the run is over")
        if self.asking:
            raise GraphSetupError("a person has to answer first")

    def _needs_word(self, *, confirm: bool) -> bool:
        found = None if confirm else self.second
        if found is not None and found.needs_word:
            self.halt = "second"
            return True
        return False

    def _arm(self, *, really: bool) -> None:
        line = self.history.line()
        used = {
            moment.used
            for number in line
            if (moment := self.history.moments[number]).used is not None
        }
        fresh = self.is_past and only_reads(self.parts, self.here.next, self.values)
        self.executions.arm(self.here.number, line, used, really=really, fresh=fresh)

    def _step(self, given: Any = None, *, confirm: bool = False) -> None:
        found = None if confirm else self.second
        if found is not None and found.needs_word:
            self.halt = "second"
            raise GraphSetupError(f"{found.text}; step(confirm=True) does it all the same")
        before, at = self.here, self.here.checkpoint if self.is_past else None
        self.remember_here()
        self.running = before.next
        self._changed()
        self._arm(really=confirm)
        callbacks = [self._meter.callback()]
        self._take(self._driver.advance(given, at, callbacks, again=confirm), before)

    def remember_here(self) -> None:
        """Have the state at hand that the next step starts from."""
        self._recorder.remember(self.here, self.values)

    def _take(self, outcome: Outcome, before: Moment | None) -> None:
        asks = bool(outcome.questions)
        found = (self._recorder.take(c, asks=asks) for c in outcome.checkpoints)
        made = [moment for moment in found if moment is not None]
        used, cost = self.executions.last_used, self._meter.read()
        if made:
            last = made[-1]
            last.used, frame = used, last.frame
            frame.replayed = frame.replayed or used is not None
            frame.seconds = round(outcome.seconds, 6) if before is not None else None
            frame.inside, frame.model = outcome.inside, cost
        if outcome.questions:
            self.questions[self.here.number] = outcome.questions
        if outcome.error is not None:
            self._raised(outcome, before, cost)

    def _raised(self, outcome: Outcome, before: Moment | None, cost: dict[str, Any]) -> None:
        error = outcome.error
        text = plain_text(f"{type(error).__name__}: {error}", 1_000)
        number = self.here.number
        self.raised = (number, text)
        frame = Frame("", None, "error", nodes=before.next if before else (), tone="error")
        frame.error, frame.title, frame.model = text, text[:160], cost
        frame.seconds, frame.attempt = round(outcome.seconds, 6), self.here.frame.attempt
        self.history.add(frame, parent=number, following=self.here.next)

    def _pick_up(self) -> bool:
        """Take over what an earlier process did on this thread."""
        found = self._driver.checkpoints()
        self._recorder.most = len(found) + 4
        for checkpoint in found:
            self._recorder.restore(checkpoint, last=checkpoint is found[-1])
        self._recorder.most = 4
        if not self.history.moments:
            return False
        self.history.head = self.history.tip.number
        snapshot = self._driver.state()
        waiting = [asked(item) for task in snapshot.tasks for item in task.interrupts]
        if waiting:
            self.questions[self.here.number] = waiting
        return True
