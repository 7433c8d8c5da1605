"""Processors for an application's structlog: no secrets in its logs, and which run a line is of."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, Final

from selfcorrect.integrations.pausing import running_config
from selfcorrect.log import one_line

_LONGEST: Final = 2_000


def redacted(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> dict[str, Any]:
    """Replace the secrets in every text of an event, bound its length, and keep it on one line.

    >>> redacted(None, "info", {"event": "fetch", "url": "https://ann:pa55word@example.org"})
    {'event': 'fetch', 'url': 'https://[secret]@example.org'}
    """
    return dict(one_line(event, _LONGEST))


def with_run(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Add the thread and node of the graph that runs here, and the current trace, if any."""
    for key, value in {**_of_graph(), **_of_trace()}.items():
        event.setdefault(key, value)
    return event


def _of_graph() -> dict[str, Any]:
    config = running_config()
    found = {
        "thread_id": (config.get("configurable") or {}).get("thread_id"),
        "graph_node": (config.get("metadata") or {}).get("langgraph_node"),
    }
    return {key: value for key, value in found.items() if value is not None}


def _of_trace() -> dict[str, str]:
    try:
        from opentelemetry import trace
    except ImportError:
        return {}
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}
