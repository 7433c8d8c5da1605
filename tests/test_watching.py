"""What operators see: lines by what they have to do, spans, and no value in either."""

import logging
import subprocess
import sys

import pytest
import structlog
from kit import Answered
from langgraph.checkpoint.memory import InMemorySaver
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from selfcorrect import ToolSpec, build_graph
from selfcorrect.integrations.logs import redacted
from selfcorrect.integrations.otel import instrumented

SECRET = "sk-proj-Zq83mXc91LpTt7Rw2Yv5Bn6K"


def spec(error=None, effect="mutating", **options):
    def book(day: str, n: int = 1) -> str:
        """Book."""
        if error is not None:
            raise error
        return "booked"

    return ToolSpec.from_function(book, effect=effect, **options)


def run(tool, args, thread="t-1", **options):
    graph = build_graph([tool], checkpointer=InMemorySaver(), **options)
    call = {"name": "book", "args": args, "id": "call-1"}
    return graph.invoke({"call": call}, {"configurable": {"thread_id": thread}})


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.DEBUG, "selfcorrect")
    return lambda level: [each.getMessage() for each in caplog.records if each.levelname == level]


LEVELS = [
    # error of the tool, arguments, the level of the line about the call
    (None, {"day": "x", "extra": 1}, "INFO"),
    (Answered(422, "day is wrong"), {"day": "x"}, "INFO"),
    (Answered(401, "no"), {"day": "x"}, "INFO"),
    (ZeroDivisionError("division by zero"), {"day": "x"}, "ERROR"),
    (KeyError("customer"), {"day": "x"}, "ERROR"),
    (TimeoutError("?"), {"day": "x"}, "ERROR"),
]


@pytest.mark.parametrize(("error", "args", "level"), LEVELS)
def test_the_level_says_what_an_operator_has_to_do(error, args, level, lines):
    run(spec(error), args)
    failed = {name: lines(name) for name in ("INFO", "WARNING", "ERROR")}
    found = [name for name, each in failed.items() for line in each if "call failed" in line]
    assert found == ([level] if "failed" in str(failed) else [])


def test_a_healthy_call_needs_nobody_and_a_repair_is_told_with_its_changes(lines):
    run(spec(), {"day": "x"})
    assert (lines("INFO"), len(lines("DEBUG"))) == ([], 2)
    run(spec(), {"day": "x", "n": "5"})
    (line,) = lines("INFO")
    assert '/args/n: "5" → 5 (exact, convert-type)' in line


def test_a_doubt_names_its_record_thread_and_call(lines):
    failure = run(spec(TimeoutError("?")), {"day": "x"})["failure"]
    (line,) = lines("ERROR")
    for each in (failure["record"], "t-1", "call-1", "TimeoutError", "test_watching.py"):
        assert each in line


QUIET = """
from selfcorrect import ToolSpec, build_graph
def pay(to: str) -> str:
    "Pay."
    raise {error}
graph = build_graph([ToolSpec.from_function(pay, effect="mutating")])
graph.invoke({{"call": {{"name": "pay", "args": {{"to": "ann"}}}}}})
"""


@pytest.mark.parametrize(("error", "told"), [("TimeoutError", True), ("ValueError('no')", False)])
def test_where_nothing_is_configured_a_doubt_alone_reaches_stderr(error, told):
    code = QUIET.format(error=error)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, bool(done.stderr)) == ("", told)
    assert done.stderr.count("\n") == told


@pytest.fixture
def events():
    found = []

    def keep(_logger, _method, event):
        found.append(event)
        raise structlog.DropEvent

    structlog.configure(processors=[keep])
    yield found
    structlog.reset_defaults()


HOSTILE = [
    {"day": SECRET, "n": SECRET},
    {"day": "x", SECRET: 1},
    {"day": "x", "n": "\x1b[2J\nFORGED line"},
    {"day": "x", "\u202en": 1},
]


@pytest.mark.parametrize("args", HOSTILE)
@pytest.mark.parametrize("error", [None, ValueError(f"{SECRET}\nFORGED\x1b[31m")])
def test_what_structlog_is_given_is_clean(args, error, events):
    run(spec(error), args)
    assert events
    shown = [str(item) for event in events for item in event.values()]
    assert [each for each in shown if SECRET in each or not each.isprintable()] == []


def test_a_processor_that_raises_ends_no_run(monkeypatch):
    monkeypatch.setattr(structlog, "is_configured", lambda: True)
    monkeypatch.setattr(structlog, "get_logger", lambda _: 1 / 0)
    assert run(spec(), {"day": "x"})["result"] == "booked"


def test_the_processor_redacts_lines_of_an_application():
    event = {"event": f"key {SECRET}", "n": 5, "more": {"a": [f"password={SECRET}"]}}
    shown = redacted(None, "info", event)
    assert SECRET not in str(shown)
    assert shown["n"] == 5


@pytest.fixture
def telemetry():
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter, instrumented(provider)


def test_each_node_is_a_span_of_one_run(telemetry):
    exporter, options = telemetry
    run(spec(), {"day": "x", "n": "5"}, **options)
    spans = {each.name: each for each in exporter.get_finished_spans()}
    assert {"execute_tool book", "selfcorrect.repair", "selfcorrect.plan"} <= spans.keys()
    assert len({each.attributes["selfcorrect.run"] for each in spans.values()}) == 1
    assert spans["execute_tool book"].attributes["gen_ai.tool.name"] == "book"


def test_a_doubt_is_shown_and_no_value_stands_in_a_span(telemetry):
    exporter, options = telemetry
    run(spec(TimeoutError(SECRET)), {"day": "the-day"}, **options)
    did = [each.attributes.get("selfcorrect.did") for each in exporter.get_finished_spans()]
    assert "lost" in did
    shown = "".join(each.to_json() for each in exporter.get_finished_spans())
    assert SECRET not in shown
    assert "the-day" not in shown


def test_an_exception_that_leaves_the_run_stands_in_its_span(telemetry):
    exporter, options = telemetry
    with pytest.raises(ValueError, match="no"):
        build_graph([spec(ValueError("no"))], on_failure="raise", **options).invoke(
            {"call": {"name": "book", "args": {"day": "x"}}}
        )
    last = exporter.get_finished_spans()[-1]
    assert last.attributes["error.type"] == "ValueError"
