"""Traces runs through OpenTelemetry: one span a run, and one a node below it.

Names are those of the GenAI conventions where these have one: `execute_tool NAME`,
`gen_ai.tool.name`. No value of an argument or a result stands in a span.
"""

from inspect import isawaitable
from typing import Any

from selfcorrect.context import RunContext
from selfcorrect.effects.failure import is_interrupt
from selfcorrect.lazy import name_extra
from selfcorrect.model import JsonDict
from selfcorrect.protocols import Node
from selfcorrect.routing import END, ROUTES
from selfcorrect.setup import NODE_OPTIONS
from selfcorrect.state import CorrectionState
from selfcorrect.step import load_node
from selfcorrect.text import release, text_of

_MOST_RUNS = 1_000


def instrumented(tracer_provider: Any = None) -> JsonDict:
    """Return options that trace every built-in node: `build_graph(tools, **instrumented())`.

    Args:
        tracer_provider: Makes the spans; left out, OpenTelemetry's global one.

    Raises:
        ModuleNotFoundError: If OpenTelemetry is not installed.
    """
    with name_extra():
        from opentelemetry import trace
    tracer = trace.get_tracer("selfcorrect", tracer_provider=tracer_provider)
    runs = _Runs(trace, tracer)
    return {option: runs.trace(name, load_node(name)) for option, name in NODE_OPTIONS.items()}


class _Runs:
    """Holds the span of each run that goes on."""

    def __init__(self, trace: Any, tracer: Any) -> None:
        self._trace, self._tracer = trace, tracer
        self._spans: JsonDict = {}

    def trace(self, name: str, node: Node) -> Node:
        """Return a node that runs in a span."""

        async def traced(state: CorrectionState, context: RunContext) -> Any:
            parent = self._span_of(state)
            with self._start(name, state, parent) as span:
                try:
                    update = node(state, context)
                    update = await update if isawaitable(update) else update
                except BaseException as error:
                    for part in () if is_interrupt(error) else (span, parent):
                        part.set_attribute("error.type", type(error).__qualname__)
                        part.set_status(self._trace.StatusCode.ERROR)
                    self._end(state)
                    raise
                _note_update(span, update)
            if ROUTES[name].get(update.get("outcome", "")) == END or "failure" in update:
                _note_update(parent, update)
                self._end(state)
            return update

        return traced

    def _span_of(self, state: CorrectionState) -> Any:
        run = state["run"]
        if run not in self._spans:
            if len(self._spans) >= _MOST_RUNS:
                self._spans.pop(next(iter(self._spans))).end()
            self._spans[run] = self._tracer.start_span("selfcorrect")
        return self._spans[run]

    def _start(self, name: str, state: CorrectionState, parent: Any) -> Any:
        tool = _tool_of(state)
        attributes = {"gen_ai.tool.name": tool} if tool else {}
        if name == "execute":
            attributes["gen_ai.operation.name"] = "execute_tool"
        return self._tracer.start_as_current_span(
            f"execute_tool {tool}" if name == "execute" else f"selfcorrect.{name}",
            context=self._trace.set_span_in_context(parent),
            attributes=attributes,
            # What an exception says may hold values and secrets.
            record_exception=False,
            set_status_on_exception=False,
        )

    def _end(self, state: CorrectionState) -> None:
        if (span := self._spans.pop(state["run"], None)) is not None:
            span.end()


_NOTED = ("attempt", "did", "reason", "replayed")


def _tool_of(state: CorrectionState) -> str:
    return release(text_of((state.get("current") or {}).get("name") or ""), 100)


def _note_update(span: Any, update: JsonDict) -> None:
    note = update.get("note") or {}
    attributes = {
        **{name: note.get(name) for name in _NOTED},
        "outcome": update.get("outcome"),
        "strategies": [rung["strategy"] for rung in note.get("tried") or ()],
        "rules": [finding["rule"] for finding in note.get("findings") or () if finding.get("rule")],
    }
    for name, item in attributes.items():
        if item not in (None, []):
            span.set_attribute(f"selfcorrect.{name}", item)
