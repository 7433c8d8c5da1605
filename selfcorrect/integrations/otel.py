"""OpenTelemetry: a span per node of the loop, and counters; no values of arguments unless asked."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from selfcorrect.errors import MissingExtra
from selfcorrect.loop.context import Node, RunContext, Update
from selfcorrect.loop.nodes import NODES
from selfcorrect.loop.options import SLOTS
from selfcorrect.redaction import outside
from selfcorrect.state import CorrectionState

_NAME: Final = "selfcorrect"
_LONGEST: Final = 1_000


def instrumented(
    nodes: Mapping[str, Node] | None = None,
    *,
    tracer_provider: Any = None,
    meter_provider: Any = None,
    values: bool = False,
) -> dict[str, Node]:
    """The nodes of the loop, each inside a span, by the keywords of `build_graph`.

    `build_graph(tools, **instrumented())`, or `SelfCorrection(nodes=instrumented())`. A span is a
    child of whatever span is current, and carries `selfcorrect.run`, the same for a whole run.
    Executions are named and described as OpenTelemetry's conventions for generative AI say.

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
    counters = _Counters(meter)
    given = nodes or {}
    return {
        slot: _traced(name, given.get(slot) or NODES[name], tracer, counters, values=values)
        for slot, name in SLOTS.items()
    }


class _Counters:
    """What is counted over all runs."""

    def __init__(self, meter: Any) -> None:
        self._runs = meter.create_counter("selfcorrect.runs", description="Runs, by their end")
        self._executions = meter.create_counter(
            "selfcorrect.executions", description="Executions of tools"
        )
        self._repairs = meter.create_counter(
            "selfcorrect.repairs", description="Uses of repair strategies"
        )
        self._tokens = meter.create_counter(
            "selfcorrect.model.tokens", unit="{token}", description="Tokens paid for repairs"
        )
        self._seconds = meter.create_histogram(
            "selfcorrect.execution.duration", unit="s", description="Duration of executions"
        )

    def count(self, node: str, attributes: Mapping[str, Any], update: Update) -> None:
        tool = {"gen_ai.tool.name": attributes.get("gen_ai.tool.name", "")}
        event = _last(update)
        if node == "execute" and "attempt" in event:
            self._executions.add(1, {**tool, "selfcorrect.ok": bool(event.get("ok"))})
            self._seconds.record(float(event.get("seconds") or 0.0), tool)
        for tried in event.get("tried") or ():
            said = {"strategy": tried.get("strategy"), "outcome": tried.get("outcome")}
            self._repairs.add(1, {f"selfcorrect.{key}": str(said[key]) for key in said})
        if (tokens := attributes.get("gen_ai.usage.total_tokens", 0)) > 0:
            self._tokens.add(tokens, tool)
        if update.get("outcome") in ("done", "answered", "reported"):
            end = {"selfcorrect.reason": attributes.get("selfcorrect.reason", "succeeded")}
            self._runs.add(1, {**tool, **end})


def _traced(
    name: str, inner: Node, tracer: Any, counters: _Counters, *, values: bool
) -> Callable[[CorrectionState, RunContext], Any]:
    @functools.wraps(inner)
    async def node(state: CorrectionState, context: RunContext) -> Update:
        from opentelemetry.trace import Status, StatusCode

        # An exception's text may hold arguments: only its type is told.
        with tracer.start_as_current_span(
            f"{_NAME}.{name}", record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                value = inner(state, context)
                update: Update = await value if inspect.isawaitable(value) else value
            except BaseException as error:
                span.set_attribute("error.type", type(error).__name__)
                raise
            attributes = _attributes(name, state, update, context, values=values)
            if name == "execute" and (tool := attributes.get("gen_ai.tool.name")):
                span.update_name(f"execute_tool {tool}")
            span.set_attributes(attributes)
            if "error.type" in attributes:
                span.set_status(Status(StatusCode.ERROR, attributes["error.type"]))
            counters.count(name, attributes, update)
            return update

    node.__name__ = name
    return node


def _attributes(
    name: str, state: CorrectionState, update: Update, context: RunContext, *, values: bool
) -> dict[str, Any]:
    event = _last(update)
    current = update.get("current") or state.get("current") or {}
    call = current if isinstance(current, Mapping) else {}
    found: dict[str, Any] = {
        "selfcorrect.node": name,
        "selfcorrect.run": update.get("run") or state.get("run") or "",
        "selfcorrect.outcome": str(update.get("outcome")),
        "gen_ai.tool.name": str(call.get("name") or ""),
        "gen_ai.tool.call.id": str(call.get("id") or ""),
    }
    if name == "execute":
        found |= _execution(event, update, call, context)
    findings = event.get("findings") or ()
    found["selfcorrect.kinds"] = _distinct(findings, "kind")
    found["selfcorrect.rules"] = _distinct(findings, "rule")
    chosen = event.get("selected") or event.get("tried") or ()
    found["selfcorrect.strategies"] = _distinct(chosen, "strategy")
    changes = event.get("changes") or ()
    found["selfcorrect.safety"] = _distinct(changes, "safety")
    found["selfcorrect.paths"] = _distinct(changes, "path")
    if values and changes:
        found["selfcorrect.changes"] = [outside(json.dumps(item), _LONGEST) for item in changes]
    found |= _usage(state, update)
    if reason := event.get("reason"):
        found["selfcorrect.reason"] = str(reason)
        found["error.type"] = str(reason)
    return {key: value for key, value in found.items() if value not in ("", [], None)}


def _execution(
    event: Mapping[str, Any], update: Update, call: Mapping[str, Any], context: RunContext
) -> dict[str, Any]:
    tool = context.tools.get(str(call.get("name")))
    found: dict[str, Any] = {
        "gen_ai.operation.name": "execute_tool",
        "selfcorrect.effect": tool.effect if tool is not None else "",
    }
    if "attempt" in event:
        found["selfcorrect.attempt"] = event["attempt"]
    if update.get("outcome") == "failed":
        attempts = update.get("attempts") or ()
        found["error.type"] = str(attempts[-1].get("type")) if attempts else "InvalidArgs"
    return found


def _usage(state: CorrectionState, update: Update) -> dict[str, int]:
    """What models were paid in this step."""
    after = update.get("counts") or {}
    before = state.get("counts") or {}
    found: dict[str, int] = {}
    for key, name in (
        ("model_calls", "selfcorrect.model_calls"),
        ("tokens", "gen_ai.usage.total_tokens"),
    ):
        paid = int(after.get(key, 0)) - int(before.get(key, 0)) if after else 0
        if paid > 0:
            found[name] = paid
    return found


def _distinct(items: Any, key: str) -> list[str]:
    return sorted({str(item[key]) for item in items if item.get(key)})


def _last(update: Update) -> Mapping[str, Any]:
    trail = update.get("trail") or ()
    return trail[-1] if trail else {}
