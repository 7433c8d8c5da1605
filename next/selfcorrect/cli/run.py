"""The command `run`: calls through a graph, and what became of each."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from selfcorrect.cli.screen import InputError, describe_change, quote, say, say_json
from selfcorrect.cli.starter import load_graph_file, make_graph
from selfcorrect.errors import CorrectionFailed
from selfcorrect.model import JSON, JsonDict


class _Task(NamedTuple):
    title: str
    expected: str | None
    given: JsonDict


def run(options: argparse.Namespace) -> int:
    """Run a graph on calls, or on its examples where there are none."""
    if options.interactive and options.jsonl == "-":
        raise InputError("--interactive reads answers from stdin; give the calls in a file")
    module = load_graph_file(options.graph)
    wishes: JsonDict = {}
    if options.interactive:
        from langgraph.checkpoint.memory import InMemorySaver

        wishes["checkpointer"] = InMemorySaver()
    if options.call is not None:
        tasks: Iterable[_Task] = [_task(options.call, "--call")]
    elif options.jsonl is not None:
        tasks = _lines(options.jsonl)
    elif examples := getattr(module, "EXAMPLES", None):
        tasks = [_Task(*example) for example in examples]
        if hasattr(module, "make_model"):
            wishes["model"] = module.make_model()
    else:
        raise InputError(f"{module.__file__} has no EXAMPLES; give calls by --call or --jsonl")
    graph = make_graph(module, options.strategies, **wishes)
    return _run_all(graph, tasks, options)


def _run_all(graph: Any, tasks: Iterable[_Task], options: argparse.Namespace) -> int:
    count: Counter[str] = Counter()
    surprises = 0
    for title, expected, given in tasks:
        out = _run_one(graph, given, interactive=options.interactive)
        end = ending(out)
        surprises += end != (expected or "result")
        count[end] += 1
        count["execution"] += sum("attempt" in event for event in out.get("trail", ()))
        if options.json:
            say_json(out)
        else:
            _show(title, out)
            if expected not in (None, end):
                say(f"  expected a {expected}, got a {end}", "red")
    if not options.json and sum(count.values()) > 2:
        total = _number(count.total() - count["execution"], "call")
        parts = [_number(count[each], each) for each in ("result", "question", "failure")]
        say(f"{total}: {', '.join(parts)}; {_number(count['execution'], 'execution')}")
    return 1 if surprises else 0


def _run_one(graph: Any, given: JsonDict, *, interactive: bool) -> JsonDict:
    config = {"configurable": {"thread_id": uuid4().hex}}
    step: Any = given
    while True:
        try:
            out: JsonDict = dict(graph.invoke(step, config))
        except CorrectionFailed as error:
            return {"failure": {"reason": "raised", "detail": str(error)}}
        questions = [each.value for each in out.pop("__interrupt__", ())]
        if not questions:
            return out
        answer = _answer(questions[0]) if interactive else None
        if answer is None:
            return out | {"question": questions[0]}
        from langgraph.types import Command

        step = Command(resume=answer)


def _answer(question: JsonDict) -> JSON:
    """Ask on stderr, read a line from stdin; a number chooses, JSON and text are taken as such."""
    options = list(question.get("options") or ())
    say(f"? {question.get('question')}", "yellow", stderr=True)
    for number, option in enumerate(options, 1):
        say(f"  {number}  {quote(option)}", stderr=True)
    line = sys.stdin.readline()
    text = line.strip()
    if not line:
        return None
    if options and text.isdecimal() and 1 <= int(text) <= len(options):
        return options[int(text) - 1]
    try:
        return json.loads(text)
    except ValueError:
        return text


def ending(out: JsonDict) -> str:
    """Return how a call ended: result, question or failure.

    >>> ending({"failure": {"reason": "needs_person"}}), ending({"result": None})
    ('question', 'result')
    """
    if "question" in out or out.get("failure", {}).get("reason") == "needs_person":
        return "question"
    return "failure" if "failure" in out else "result"


def _show(title: str, out: JsonDict) -> None:
    end, failure = ending(out), out.get("failure", {})
    say(f"■ {title}", "bold")
    for change in (each for event in out.get("trail", ()) for each in event.get("changes", ())):
        say(f"  {describe_change(change)}")
    if end == "result":
        say(f"  result  {quote(out.get('result'))}", "green")
    elif end == "question":
        question = out.get("question") or failure.get("question") or {}
        say(f"  question  {question.get('question') or failure.get('detail')}", "yellow")
        if options := question.get("options"):
            say(f"    {' | '.join(map(quote, options))}")
    else:
        say(f"  failure  {failure.get('reason')}: {failure.get('detail')}", "red")


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _lines(name: str) -> Iterator[_Task]:
    stream = sys.stdin if name == "-" else Path(name).open(encoding="utf-8")  # noqa: SIM115
    shown = "stdin" if name == "-" else name
    with stream:
        try:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield _task(line, f"{shown}:{number}")
        except UnicodeDecodeError:
            raise InputError(f"{shown}: the file must be UTF-8 text") from None


def _task(text: str, place: str) -> _Task:
    """Read an input of the graph, a bare call, or a text that a model wrote."""
    try:
        item = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: the line must be one JSON value: {error}") from None
    if isinstance(item, str):
        return _Task(item, None, {"raw": item})
    if not isinstance(item, dict):
        raise InputError(f'{place}: a call must be an object: {{"name": …, "args": {{…}}}}')
    given = item if item.keys() & {"call", "raw", "request"} else {"call": item}
    call = given.get("call")
    name = call.get("name") if isinstance(call, dict) else None
    return _Task(str(name or given.get("request") or place), None, given)
