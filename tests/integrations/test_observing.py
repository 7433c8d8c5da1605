"""What an operator sees: spans, counters, logs, callbacks, trails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import structlog
from agents_kit import World, agent_of, calling, run
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from selfcorrect import SelfCorrection, build_graph
from selfcorrect.integrations.logs import redacted, with_run
from selfcorrect.integrations.otel import instrumented
from selfcorrect.integrations.trails import TrailFile
from selfcorrect.testing import ScriptedModel

FOUND = ("find_flights", {"query": "CDG", "limit": 3})
BROKEN = ("find_flights", {"query": "a private matter", "limit": "3"})


class Telescope:
    def __init__(self, **more: Any) -> None:
        self.exporter = InMemorySpanExporter()
        self.reader = InMemoryMetricReader()
        tracers = TracerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        meters = MeterProvider([self.reader])
        self.nodes = instrumented(tracer_provider=tracers, meter_provider=meters, **more)

    @property
    def spans(self) -> list[Any]:
        return list(self.exporter.get_finished_spans())

    def metrics(self) -> dict[str, list[Any]]:
        data: Any = self.reader.get_metrics_data()
        return {
            metric.name: list(metric.data.data_points)
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


def test_a_span_per_node_with_what_was_done_and_no_values() -> None:
    seen = Telescope()
    world = World()
    world.errors = [ConnectionResetError("reset while sending 'a private matter'")]
    graph = build_graph(world.tools, **seen.nodes)
    out = graph.invoke({"call": {"name": BROKEN[0], "args": BROKEN[1], "id": "c7"}})
    assert "result" in out
    names = [span.name for span in seen.spans]
    assert names.count("execute_tool find_flights") == 3
    assert {"selfcorrect.plan", "selfcorrect.repair", "selfcorrect.validate"} <= set(names)
    assert "private" not in "".join(span.to_json() for span in seen.spans)
    assert len({span.attributes["selfcorrect.run"] for span in seen.spans}) == 1
    last = [span for span in seen.spans if span.name.startswith("execute_tool")][-1]
    assert last.attributes["gen_ai.operation.name"] == "execute_tool"
    assert last.attributes["gen_ai.tool.call.id"] == "c7"
    assert last.attributes["selfcorrect.attempt"] == 2
    repair = next(span for span in seen.spans if span.name == "selfcorrect.repair")
    assert repair.attributes["selfcorrect.safety"] == ("exact",)
    metrics = seen.metrics()
    assert sum(point.value for point in metrics["selfcorrect.executions"]) == 2
    assert sum(point.value for point in metrics["selfcorrect.runs"]) == 1


def act(a: int) -> Any:
    """Act."""
    return {"isError": True} if a == 1 else ToolMessage("no", tool_call_id="x", status="error")


def test_one_span_of_the_run_stands_over_its_nodes() -> None:
    seen = Telescope()
    graph = build_graph(World().tools, **seen.nodes)
    for _ in range(2):
        graph.invoke({"call": {"name": BROKEN[0], "args": BROKEN[1], "id": "c7"}})
    roots = [span for span in seen.spans if span.parent is None]
    assert [span.name for span in roots] == ["selfcorrect.run"] * 2
    assert len({span.context.trace_id for span in seen.spans}) == 2
    for root in roots:
        below = [span for span in seen.spans if span.parent == root.context]
        assert len(below) > 5
        assert {span.attributes["selfcorrect.run"] for span in (root, *below)} == {
            root.attributes["selfcorrect.run"]
        }
        assert root.start_time <= min(span.start_time for span in below)
        assert root.end_time >= max(span.end_time for span in below)


def test_a_run_that_waits_for_a_person_ends_its_span_and_goes_on_below_another() -> None:
    seen = Telescope()
    graph = build_graph([act], checkpointer=InMemorySaver(), **seen.nodes)
    config: Any = {"configurable": {"thread_id": "t"}}
    asked = graph.invoke({"call": {"name": "act", "args": {}}}, config)
    assert "__interrupt__" in asked
    graph.invoke(Command(resume={"action": "reject"}), config)
    roots = [span for span in seen.spans if span.parent is None]
    assert [span.name for span in roots] == ["selfcorrect.run"] * 2
    assert len({span.attributes["selfcorrect.run"] for span in roots}) == 1


@pytest.mark.parametrize("a", [1, 2])
def test_a_failure_that_came_back_as_a_value_marks_the_tools_span(a: int) -> None:
    seen = Telescope()
    build_graph([act], **seen.nodes).invoke({"call": {"name": "act", "args": {"a": a}}})
    span = next(span for span in seen.spans if span.name == "execute_tool act")
    assert not span.status.is_ok
    assert span.attributes["error.type"] == "ToolReportedError"


def test_names_in_spans_are_redacted_and_stand_on_one_line() -> None:
    seen = Telescope()
    call = {"name": "pay\npassword=hunter2!", "args": {}, "id": "sk-proj-aB3dE5gH7jK9mN1pQ2rS4tU6"}
    build_graph(World().tools, **seen.nodes).invoke({"call": call})
    told = "".join(
        f"{span.name} {' '.join(map(str, span.attributes.values()))}" for span in seen.spans
    )
    assert "pay\\u000apassword=" in told.replace("\\n", "\\u000a")
    assert "hunter2" not in told
    assert "aB3dE5" not in told
    assert "\n" not in told


def test_values_are_recorded_where_they_are_asked_for_and_a_report_is_an_error() -> None:
    seen = Telescope(values=True)
    graph = build_graph(World().tools, **seen.nodes)
    graph.invoke({"call": {"name": BROKEN[0], "args": BROKEN[1]}})
    assert any("selfcorrect.changes" in span.attributes for span in seen.spans)
    graph.invoke({"call": {"name": "nothing", "args": {}}})
    report = next(span for span in seen.spans if span.name == "selfcorrect.report_failure")
    assert report.attributes["selfcorrect.reason"] == "no_strategy"
    assert not report.status.is_ok


def test_tokens_of_a_model_are_counted() -> None:
    def book(seats: int, to: str) -> str:
        """Book."""
        return f"{seats} {to}"

    seen = Telescope()
    model = ScriptedModel(script=[{"seats": 2}, {"seats": 2}])
    graph = build_graph([book], model=model, **seen.nodes)
    call = {"name": "book", "args": {"to": "CDG"}}
    graph.invoke({"call": call, "request": "two seats to CDG"})
    assert sum(span.attributes.get("selfcorrect.model_calls", 0) for span in seen.spans) >= 1
    assert "selfcorrect.model.tokens" in seen.metrics()


def test_the_middleware_takes_instrumented_nodes_and_healthy_calls_are_seen() -> None:
    seen = Telescope()
    agent, _ = agent_of(World(), [calling(FOUND), "done"], SelfCorrection(nodes=seen.nodes))
    run(agent)
    assert [span.name for span in seen.spans] == [
        "selfcorrect.plan",
        "execute_tool find_flights",
        "selfcorrect.run",
    ]


class Listener(BaseCallbackHandler):
    def __init__(self) -> None:
        self.started: list[Any] = []
        self.ended: list[Any] = []
        self.failed: list[Any] = []

    def on_tool_start(self, serialized: Any, input_str: str, **kwargs: Any) -> None:
        self.started.append(kwargs.get("inputs") or input_str)

    def on_tool_end(self, output: Any, **kwargs: Any) -> None:
        self.ended.append(output)

    def on_tool_error(self, error: BaseException, **kwargs: Any) -> None:
        self.failed.append(error)


def test_callbacks_see_every_execution_and_only_executions() -> None:
    for use in ("agent", "graph"):
        world, listener = World(), Listener()
        world.errors = [ConnectionResetError("reset by peer")]
        config: Any = {"callbacks": [listener]}
        broken = {"query": "CDG", "limit": "3"}
        if use == "agent":
            agent, _ = agent_of(world, [calling((FOUND[0], broken)), "x"], SelfCorrection())
            agent.invoke({"messages": [HumanMessage("please")]}, config)
        else:
            graph = build_graph(world.tools)
            graph.invoke({"call": {"name": FOUND[0], "args": broken}}, config)
        assert [dict(inputs) for inputs in listener.started] == [FOUND[1], FOUND[1]], use
        assert len(listener.failed) == 1, use
        assert len(listener.ended) == 1, use


def test_log_processors_take_secrets_out_and_say_which_run_it_is() -> None:
    event = {
        "event": "x",
        "headers": {"Authorization": "Bearer abcdefghijklmnop", "password": "hunter2!"},
        "list": [{"url": "https://ann:pa55word@example.org"}],
        "long": "y" * 99_999,
        "number": 7,
    }
    shown = json.dumps(redacted(None, "info", event))
    assert "hunter2" not in shown
    assert "pa55word" not in shown
    assert "abcdefghijklmnop" not in shown
    assert len(shown) < 3_000
    nested: Any = "deep"
    for _ in range(10_000):
        nested = [nested]
    assert redacted(None, "info", {"event": nested})
    assert with_run(None, "info", {"event": "x"}) == {"event": "x"}


def test_events_of_a_run_go_through_the_applications_processors() -> None:
    lines: list[Any] = []

    def keep(_: Any, __: str, event: Any) -> Any:
        lines.append(dict(event))
        raise structlog.DropEvent

    structlog.configure(processors=[with_run, redacted, keep])
    try:
        graph = build_graph(World().tools)
        graph.invoke({"call": {"name": BROKEN[0], "args": BROKEN[1]}})
    finally:
        structlog.reset_defaults()
    repair = next(line for line in lines if line["event"] == "selfcorrect.repair")
    assert repair["graph_node"] == "repair"
    assert "private" not in str(lines)


def test_trails_are_kept_as_json_lines(tmp_path: Path) -> None:
    keep = TrailFile(tmp_path / "trails.jsonl")
    agent, _ = agent_of(
        World(),
        [calling(("find_flights", {"query": "CDG"}), ("no", {})), "x"],
        SelfCorrection(on_trail=keep),
    )
    run(agent)
    keep({"result": {1, 2}, "text": "a\u2028b"})
    lines = (tmp_path / "trails.jsonl").read_text().splitlines()
    assert len(lines) == 3, "what was simply done is recorded, too"
    assert json.loads(lines[0])["reason"] == "no_strategy"
