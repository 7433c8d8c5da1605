"""Processors for an application's structlog: no secrets in its logs, and which run a line is of."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, Final

from selfcorrect.integrations.pausing import running_config
from selfcorrect.redaction import quoted, redact

_LONGEST: Final = 2_000
_DEEPEST: Final = 8


def redacted(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> dict[str, Any]:
    """Replace the secrets in every text of an event, and bound its length.

    >>> redacted(None, "info", {"event": "fetch", "url": "https://ann:pa55word@example.org"})
    {'event': 'fetch', 'url': 'https://[secret]@example.org'}
    """
    return {key: _clean(value, _DEEPEST) for key, value in event.items()}


def with_run(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Add the thread and node of the graph that runs here, and the current trace, if any."""
    for key, value in {**_of_graph(), **_of_trace()}.items():
        event.setdefault(key, value)
    return event


def _clean(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return redact(value) if len(value) <= _LONGEST else quoted(value, _LONGEST)
    if depth <= 0:
        return "…"
    if isinstance(value, Mapping):
        # The key belongs to what tells a secret: {"password": "x"} is not secret by its value.
        return {key: _keyed(key, item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item, depth - 1) for item in value]
    return value


def _keyed(key: Any, value: Any, depth: int) -> Any:
    if isinstance(value, str) and "[secret]" in redact(f'{key}: "{value}"'):
        return "[secret]"
    return _clean(value, depth)


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
