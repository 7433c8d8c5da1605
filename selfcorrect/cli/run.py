"""The command `run`: calls through a graph, and what became of each."""

import argparse
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import uuid4

from selfcorrect.cli.lines import take_lines
from selfcorrect.cli.screen import InputError, say, say_json
from selfcorrect.cli.starter import load_graph_file, make_graph
from selfcorrect.drawing.recorded import attempts_of, question_of, views_of
from selfcorrect.drawing.text import change_text, question_lines
from selfcorrect.errors import CorrectionFailed
from selfcorrect.model import JSON, JsonDict
from selfcorrect.reading.call_object import strict_json
from selfcorrect.text import quote, text_of


def run(options: argparse.Namespace) -> int:
    """Run a graph on calls, or on its examples where there are none."""
    if options.interactive and options.jsonl == "-":
        raise InputError("--interactive reads answers from stdin; give the calls in a file")
    module = load_graph_file(options.graph)
    graph = _make_graph(module, options)
    surprises = odd = 0
    with Path(options.record or os.devnull).open("w", encoding="utf-8") as record:

        def play(title: str, expected: str | None, inputs: JsonDict) -> None:
            nonlocal surprises
            out = _run_one(graph, inputs, interactive=options.interactive)
            # A recording that is cut off keeps the runs before it.
            print(json.dumps({"title": title, **out}, default=text_of), file=record, flush=True)
            surprises += ending(out) != (expected or "result")
            if options.json:
                say_json(out)
            else:
                _show(title, expected, out)

        def take(line: str) -> None:
            inputs = _inputs(json.loads(line))
            call = inputs.get("call")
            name = call.get("name") if isinstance(call, dict) else None
            play(str(name or inputs.get("request") or "call"), None, inputs)

        if options.call is not None:
            take(options.call)
        elif options.jsonl is not None:
            odd = take_lines(options.jsonl, take)
        elif hasattr(module, "EXAMPLES"):
            for example in module.EXAMPLES:
                play(*example)
        else:
            raise InputError(f"{module.__file__} has no EXAMPLES; give calls by --call or --jsonl")
    return 2 if odd else 1 if surprises else 0


def _make_graph(module: ModuleType, options: argparse.Namespace) -> Any:
    wishes: JsonDict = {"strategies": options.strategies} if options.strategies else {}
    if options.call is None and options.jsonl is None and hasattr(module, "make_model"):
        wishes["model"] = module.make_model()
    if options.interactive:
        from langgraph.checkpoint.memory import InMemorySaver

        wishes["checkpointer"] = InMemorySaver()
    return make_graph(module, **wishes)


def _inputs(item: JSON) -> JsonDict:
    """Return an input of the graph, which may be a bare call."""
    if not isinstance(item, dict):
        raise InputError('a call must be an object: {"name": …, "args": {…}}')
    return item if item.keys() & {"call", "raw", "request"} else {"call": item}


def _run_one(graph: Any, inputs: JsonDict, *, interactive: bool) -> JsonDict:
    config = {"configurable": {"thread_id": uuid4().hex}}
    step: Any = inputs
    while True:
        try:
            out: JsonDict = dict(graph.invoke(step, config))
        except CorrectionFailed as error:
            return {"failure": {"reason": "raised", "detail": str(error)}}
        questions = [item.value for item in out.pop("__interrupt__", ())]
        if not questions:
            return out
        answer = _answer(questions[0]) if interactive else None
        if answer is None:
            return out | {"question": questions[0]}
        from langgraph.types import Command

        step = Command(resume=answer)


def _answer(question: JsonDict) -> JsonDict | None:
    """Ask on stderr and read a line from stdin; None where stdin has ended."""
    facts = {"your answer": question.get("problem"), **attempts_of(question)}
    lines = [f"  {name}: {text}" for name, text in facts.items() if text]
    lines += question_lines(question_of(question))
    for line in [*lines, "  a number, a value (JSON or text), approve or reject:"]:
        say(line, stderr=True)
    line = sys.stdin.readline()
    answer = strict_json(line.strip())
    if type(answer) is int and 1 <= answer <= len(question["options"]):
        answer = {"action": "choose", "choice": answer - 1}
    return {"question": question["id"], "answer": answer or None} if line else None


def ending(out: JsonDict) -> str:
    """Return how a call ended: result, question or failure.

    >>> ending({"failure": {"reason": "needs_person"}}), ending({"result": None})
    ('question', 'result')
    """
    if "question" in out or out.get("failure", {}).get("reason") == "needs_person":
        return "question"
    return "failure" if "failure" in out else "result"


def _show(title: str, expected: str | None, out: JsonDict) -> None:
    end, view = ending(out), views_of(out, title=title)[-1]
    say(f"■ {title}")
    for change in view["changes"]:
        say(f"  {change_text(change)}")
    question = view["question"] or {"question": "", "options": []}
    text = out.get("failure", {}).get("detail") or question["question"]
    if end == "result":
        text = quote(out.get("result"), 200)
        # An agent goes on after a call that failed.
        for event in out.get("trail", ()):
            if "reason" in event:
                say(f"  {event['reason']}: {event['detail']}")
    say(f"  {end}  {text}")
    for option in question["options"]:
        say(f"    {option}")
    if expected not in (None, end):
        say(f"  expected a {expected}")
