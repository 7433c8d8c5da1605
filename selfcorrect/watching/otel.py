"""Traces runs through OpenTelemetry: a span for each node, below the span of the caller.

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
from selfcorrect.setup import NODE_OPTIONS
from selfcorrect.state import CorrectionState
from selfcorrect.step import load_node
from selfcorrect.text import release, text_of


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

    def traced(name: str) -> Node:
        node = load_node(name)

        async def run(state: CorrectionState, context: RunContext) -> Any:
            with tracer.start_as_current_span(
                # What an exception says may hold values and secrets.
                **_about(name, state),
                record_exception=False,
                set_status_on_exception=False,
            ) as span:
                try:
                    update = node(state, context)
                    update = await update if isawaitable(update) else update
                except BaseException as error:
                    if not is_interrupt(error):
                        span.set_attribute("error.type", type(error).__qualname__)
                        span.set_status(trace.StatusCode.ERROR)
                    raise
                _note_update(span, update)
            return update

        return run

    return {option: traced(name) for option, name in NODE_OPTIONS.items()}


def _about(name: str, state: CorrectionState) -> JsonDict:
    """Return the name of a node's span, and what is known before it runs."""
    tool = release(text_of((state.get("current") or {}).get("name") or ""), 100)
    attributes = {"selfcorrect.run": state["run"]} | ({"gen_ai.tool.name": tool} if tool else {})
    if name != "execute":
        return {"name": f"selfcorrect.{name}", "attributes": attributes}
    attributes["gen_ai.operation.name"] = "execute_tool"
    return {"name": f"execute_tool {tool}", "attributes": attributes}


_NOTED = ("attempt", "did", "reason", "replayed")


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
