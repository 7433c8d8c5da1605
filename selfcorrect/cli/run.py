"""`selfcorrect run`: put calls through a graph and tell what became of each."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Annotated, Any, Final, Self, TypeGuard
from uuid import uuid4

import typer
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from selfcorrect.batch.files import source as read_from
from selfcorrect.batch.files import target
from selfcorrect.batch.lines import parse, write
from selfcorrect.cli import person, source
from selfcorrect.cli.options import Strategies
from selfcorrect.cli.progress import leave, live
from selfcorrect.cli.screen import console, refuse, row, short, show
from selfcorrect.cli.show import STYLES, Tally, legend, story, verdict
from selfcorrect.cli.source import Entry
from selfcorrect.cli.strange_keys import strange_keys
from selfcorrect.integrations.pausing import QUESTIONS, pausable, plain_questions, resume
from selfcorrect.json_forms import to_json
from selfcorrect.loop.asking import naming
from selfcorrect.loop.context import AGAIN
from selfcorrect.mapping.loading import ENVIRONMENT
from selfcorrect.model import JSON
from selfcorrect.report import FailureReport
from selfcorrect.state import INPUT_KEYS as STATE_INPUT
from selfcorrect.state import STATE_KEYS

INPUT_KEYS: Final = {"call", "raw", "request"}
"""An object with one of these is a whole graph input; another is the call itself."""


def run(
    graph: Annotated[
        str | None,
        typer.Argument(help="path/file.py[:object], or a name in langgraph.json."),
    ] = None,
    call: Annotated[str | None, typer.Option(metavar="JSON", help="One call to run.")] = None,
    jsonl: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="One graph input per line; - is stdin."),
    ] = None,
    strategies: Strategies = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one output object per line.")
    ] = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", help="Ask here where a person must decide.")
    ] = False,
    again: Annotated[
        bool,
        typer.Option("--again", help="Do once more what may have been done: a person says so."),
    ] = False,
    record: Annotated[
        str | None,
        typer.Option(metavar="TRAIL.jsonl", help="Write every run, with its trail, to a file."),
    ] = None,
) -> None:
    """Put calls through a graph; without --call or --jsonl, the examples that it brings along.

    Without GRAPH that is the flight booking, under the map that SELFCORRECT_STRATEGIES names.

    Exit codes: 0, all calls were done, or each example ended as it says that it does, or as you
    answered; 1, some ended otherwise; 2, wrong usage or unreadable input.
    """
    if call is not None and jsonl is not None:
        refuse("give --call or --jsonl, not both")
    if interactive and jsonl == "-":
        refuse("--interactive reads answers from stdin, so --jsonl cannot be - as well")
    found = source.find(graph)
    built = found.graph(strategies or (os.environ.get(ENVIRONMENT) if graph is None else None))
    tally = Tally()
    as_told = True
    with ExitStack() as stack:
        given = stack.enter_context(read_from(jsonl)).lines() if jsonl is not None else ()
        entries = (
            _entries(found, call)
            if jsonl is None
            else (Entry(line.where, line.value, line.error) for line in given)
        )
        if call is None and jsonl is None and not as_json:
            show(console(), legend())
        graph_ = pausable(built) if interactive else built
        player = _Player(graph_, interactive=interactive, again=again)
        stack.enter_context(player)
        trails = stack.enter_context(target(record, jsonl)) if record else None
        channels = getattr(
            built, "channels", None
        )  # a graph that has none says nothing of its keys
        own = {"id", *(channels or ())} - STATE_KEYS
        strange = stack.enter_context(strange_keys(STATE_INPUT | own, STATE_KEYS))
        step = stack.enter_context(_progress())
        tell = _tell_json if as_json else _tell
        for entry in entries:
            if jsonl is not None and channels and _is_whole(entry.input):
                strange.see(entry.title, entry.input)
            output = player.play(entry)
            tally.add(output)
            expected = entry.expect == verdict(output) or (interactive and entry.expect == "asked")
            as_told = as_told and expected
            tell(entry, output, expected)
            if trails is not None:
                write(trails, {"title": entry.title, "input": entry.input, **output})
            step(tally)
    console(stderr=as_json).print(tally.line())
    leave(None if tally.all_done or as_told else "some ended in a report, a question or an error")


def _entries(found: source.Source, call: str | None) -> Iterable[Entry]:
    if call is not None:
        try:
            given = parse(call)
        except ValueError as error:
            refuse(f'--call: {error}; a text that is no JSON goes in as {{"raw": "…"}}')
        return [Entry("call", given if _is_whole(given) else {"call": given})]
    order = list(STYLES)
    return sorted(
        found.examples(), key=lambda each: order.index(each.expect) if each.expect in order else 0
    )


def _is_whole(given: JSON) -> TypeGuard[Mapping[str, JSON]]:
    return isinstance(given, Mapping) and bool(given.keys() & INPUT_KEYS)


class _Player:
    """Runs entries through a graph, one after the other, on an event loop of its own."""

    def __init__(self, graph: Any, *, interactive: bool, again: bool) -> None:
        self._graph = graph
        self._interactive = interactive
        self._configurable = {AGAIN: True} if again else {}
        self._runner = asyncio.Runner()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.close()

    def play(self, entry: Entry) -> dict[str, Any]:
        """One entry's output; whatever a run raises becomes an output too."""
        if entry.error is not None:
            return {"error": entry.error, "trail": []}
        if not isinstance(entry.input, Mapping):
            text = f"{entry.title}: a graph input is an object, not {short(entry.input, 40)}"
            return {"error": text, "trail": []}
        try:
            return self._runner.run(self._invoke(entry.input))
        except Exception as error:  # one bad run never stops the others
            return {"error": f"{type(error).__name__}: {error}", "trail": []}
        except SystemExit as error:
            self._replace_runner()
            return {"error": f"SystemExit: {error}", "trail": []}

    async def _invoke(self, given: Mapping[str, Any]) -> dict[str, Any]:
        task = given.get("task_id")  # what may have been done is remembered by thread
        thread = task if task and isinstance(task, str) else uuid4().hex
        config = {"configurable": {"thread_id": thread, **self._configurable}}
        output = await self._graph.ainvoke(dict(given), config)
        while self._interactive and (questions := plain_questions(output).get(QUESTIONS)):
            try:
                answer = person.ask(questions[0])
            except person.Unanswered:
                return _unanswered(output, questions[0])
            output = await self._graph.ainvoke(resume(naming(answer, questions[0])), config)
        return plain_questions(output) if isinstance(output, dict) else {"result": output}

    def _replace_runner(self) -> None:
        """SystemExit breaks out of a loop and leaves tasks behind; none may reach the next run."""
        self._runner.get_loop().set_exception_handler(lambda _loop, _context: None)
        with suppress(SystemExit):
            self._runner.close()
        self._runner = asyncio.Runner()


def _unanswered(output: Mapping[str, Any], question: JSON) -> dict[str, Any]:
    """What a run that waits for an answer comes to where none will be given."""
    asked: Mapping[str, Any] = (
        question if isinstance(question, Mapping) else {"question": str(question)}
    )
    report = FailureReport(
        "needs_person",
        "nobody answered: the input ended",
        call=asked.get("call"),
        original=asked.get("original"),
        question=dict(asked),
    )
    return {"failure": to_json(report), "trail": output.get("trail", [])}


def _tell(entry: Entry, output: Mapping[str, Any], expected: bool) -> None:
    screen = console()
    for line in story(entry.title, output):
        show(screen, line)
    if entry.expect is not None and not expected:
        show(screen, row("expected", (str(entry.expect), "bold yellow")))
    screen.print()


def _tell_json(_: Entry, output: Mapping[str, Any], _expected: bool) -> None:
    write(sys.stdout, dict(output))


@contextmanager
def _progress() -> Iterator[Callable[[Tally], None]]:
    """Live counts on stderr, where a person looks at it and the results go somewhere else."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with live(*columns, hidden=sys.stdout.isatty(), description="0 calls") as update:
        yield lambda tally: update(description=tally.line().plain)
