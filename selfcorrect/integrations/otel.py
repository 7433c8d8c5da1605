"""OpenTelemetry: a span per run, the nodes below it, and counters; no values unless asked."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from selfcorrect.errors import MissingExtra
from selfcorrect.kernel.texts import outside
from selfcorrect.log import one_line
from selfcorrect.loop.context import Node, RunContext, Update
from selfcorrect.loop.nodes import NODES
from selfcorrect.loop.options import SLOTS
from selfcorrect.state import CorrectionState

_NAME: Final = "selfcorrect"
_LONGEST: Final = 1_000
_PAID: Final = {
    "model_calls": "selfcorrect.model_calls",
    "tokens": "gen_ai.usage.total_tokens",
}
_TRIED: Final = ("strategy", "outcome")
_ENDS: Final = ("done", "answered", "reported")
_OF_RUN: Final = (
    *("selfcorrect.run", "selfcorrect.outcome", "selfcorrect.reason", "error.type"),
    *("gen_ai.tool.name", "gen_ai.tool.call.id"),
)
_MOST_RUNS: Final = 1_000
"""Runs whose spans are open; of one that was never gone on with, nobody tells."""

Count: TypeAlias = Callable[[str, Mapping[str, Any], Update], None]


def instrumented(
    nodes: Mapping[str, Node] | None = None,
    *,
    tracer_provider: Any = None,
    meter_provider: Any = None,
    values: bool = False,
) -> dict[str, Node]:
    """The nodes of the loop, each inside a span, by the keywords of `build_graph`.

    `build_graph(tools, **instrumented())`, or `SelfCorrection(nodes=instrumented())`. They stand
    below one span of the run, a child of whatever span is current; all carry `selfcorrect.run`.
    What goes on after a person was asked is a second such span. Executions are named and described
    as OpenTelemetry's conventions for generative AI say.

    Args:
        nodes: Nodes of your own by the same keywords, to be put inside spans as well.
        tracer_provider: Where spans go; None: the global provider.
        meter_provider: Where metrics go; None: the global provider.
        values: Whether the values of changes are recorded, redacted; they are what users wrote.

    Raises:
        MissingExtra: If OpenTelemetry is not installed.
    """
    try:
        from opentelemetry import metrics, trace
    except ImportError as error:
        raise MissingExtra("otel", "instrumented") from error
    tracer = trace.get_tracer(_NAME, tracer_provider=tracer_provider)
    meter = metrics.get_meter(_NAME, meter_provider=meter_provider)
    count = _counting(meter)
    runs = _Runs(tracer)
    given = nodes or {}
    return {
        slot: _traced(name, given.get(slot) or NODES[name], runs, count, values=values)
        for slot, name in SLOTS.items()
    }


class _Runs:
    """The open spans of runs."""

    def __init__(self, tracer: Any) -> None:
        self._open: dict[Any, Any] = {}
        self._tracer = tracer

    def child(self, run: Any, name: str) -> Any:
        """A span below that of the run, as the current one while it is entered."""
        from opentelemetry.trace import set_span_in_context

        if run not in self._open:
            if len(self._open) >= _MOST_RUNS:
                self.end(next(iter(self._open)), {})
            self._open[run] = self._tracer.start_span(f"{_NAME}.run")
        # An exception's text may hold arguments: only its type is told.
        return self._tracer.start_as_current_span(
            name,
            context=set_span_in_context(self._open[run]),
            record_exception=False,
            set_status_on_exception=False,
        )

    def end(self, run: Any, attributes: Mapping[str, Any]) -> None:
        """The run ends, or waits for a person; with the attributes of its last node."""
        if (span := self._open.pop(run, None)) is not None:
            _tell(span, {key: attributes[key] for key in _OF_RUN if key in attributes})
            span.end()


def _tell(span: Any, attributes: Mapping[str, Any]) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attributes(attributes)
    if "error.type" in attributes:
        span.set_status(Status(StatusCode.ERROR, attributes["error.type"]))


def _counting(meter: Any) -> Count:
    """Counts over all runs."""
    runs = meter.create_counter("selfcorrect.runs", description="Runs, by their end")
    executions = meter.create_counter("selfcorrect.executions", description="Executions of tools")
    repairs = meter.create_counter("selfcorrect.repairs", description="Uses of repair strategies")
    paid = meter.create_counter(
        "selfcorrect.model.tokens", unit="{token}", description="Tokens paid for repairs"
    )
    duration = meter.create_histogram(
        "selfcorrect.execution.duration", unit="s", description="Duration of executions"
    )

    def count(node: str, attributes: Mapping[str, Any], update: Update) -> None:
        tool = {"gen_ai.tool.name": attributes.get("gen_ai.tool.name", "")}
        event = _last(update)
        if node == "execute" and "attempt" in event:
            executions.add(1, {**tool, "selfcorrect.ok": bool(event.get("ok"))})
            duration.record(float(event.get("seconds") or 0.0), tool)
        for tried in event.get("tried") or ():
            repairs.add(1, {f"selfcorrect.{key}": str(tried.get(key)) for key in _TRIED})
        if (tokens := attributes.get("gen_ai.usage.total_tokens", 0)) > 0:
            paid.add(tokens, tool)
        if update.get("outcome") in _ENDS:
            end = {"selfcorrect.reason": attributes.get("selfcorrect.reason", "succeeded")}
            runs.add(1, {**tool, **end})

    return count


def _traced(
    name: str, inner: Node, runs: _Runs, count: Count, *, values: bool
) -> Callable[[CorrectionState, RunContext], Any]:
    @functools.wraps(inner)
    async def node(state: CorrectionState, context: RunContext) -> Update:
        run = state.get("run")
        with runs.child(run, f"{_NAME}.{name}") as span:
            try:
                value = inner(state, context)
                update: Update = await value if inspect.isawaitable(value) else value
            except BaseException as error:
                span.set_attribute("error.type", type(error).__name__)
                runs.end(run, {"selfcorrect.run": run or ""})
                raise
            attributes = _attributes(name, state, update, context, values=values)
            if name == "execute" and (tool := attributes.get("gen_ai.tool.name")):
                span.update_name(f"execute_tool {tool}")
            _tell(span, attributes)
            count(name, attributes, update)
        if update.get("outcome") in _ENDS:
            runs.end(run, attributes)
        return update

    node.__name__ = name
    return node


def _attributes(
    name: str, state: CorrectionState, update: Update, context: RunContext, *, values: bool
) -> dict[str, Any]:
    event = _last(update)
    current = update.get("current") or state.get("current") or {}
    call = current if isinstance(current, Mapping) else {}
    changes, findings = event.get("changes") or (), event.get("findings")
    found: dict[str, Any] = {
        "selfcorrect.node": name,
        "selfcorrect.run": update.get("run") or state.get("run"),
        "selfcorrect.outcome": str(update.get("outcome")),
        "gen_ai.tool.name": str(call.get("name") or ""),
        "gen_ai.tool.call.id": str(call.get("id") or ""),
        "selfcorrect.kinds": _distinct(findings, "kind"),
        "selfcorrect.rules": _distinct(findings, "rule"),
        "selfcorrect.strategies": _distinct(
            event.get("selected") or event.get("tried"), "strategy"
        ),
        "selfcorrect.safety": _distinct(changes, "safety"),
        "selfcorrect.paths": _distinct(changes, "path"),
        **(_execution(event, update, call, context) if name == "execute" else {}),
        **_usage(state, update),
    }
    if values:
        found["selfcorrect.changes"] = [outside(json.dumps(item), _LONGEST) for item in changes]
    if reason := event.get("reason"):
        found["selfcorrect.reason"] = found["error.type"] = str(reason)
    # Names and ids are texts from outside, too.
    told = {key: value for key, value in found.items() if value not in ("", [], None)}
    return dict(one_line(told))


def _execution(
    event: Mapping[str, Any], update: Update, call: Mapping[str, Any], context: RunContext
) -> dict[str, Any]:
    tool = context.tools.get(str(call.get("name")))
    found = {
        "gen_ai.operation.name": "execute_tool",
        "selfcorrect.effect": None if tool is None else tool.effect,
        "selfcorrect.attempt": event.get("attempt"),
    }
    result = update.get("result")
    if isinstance(result, Mapping) and result.get("status") == "error":
        found["error.type"] = "ToolReportedError"
    if update.get("outcome") == "failed":
        attempts = update.get("attempts") or ()
        found["error.type"] = str(attempts[-1].get("type")) if attempts else "InvalidArgs"
    return found


def _usage(state: CorrectionState, update: Update) -> dict[str, int]:
    """What models were paid in this step."""
    before, after = state.get("counts") or {}, update.get("counts") or {}
    paid = {key: int(after.get(key, 0)) - int(before.get(key, 0)) for key in _PAID}
    return {_PAID[key]: spent for key, spent in paid.items() if spent > 0}


def _distinct(items: Any, key: str) -> list[str]:
    return sorted({str(item[key]) for item in items or () if item.get(key)})


def _last(update: Update) -> Mapping[str, Any]:
    trail = update.get("trail") or ()
    return trail[-1] if trail else {}
