"""Events for the application's logs: silent unless the application asked for them.

One event is one line, whatever its values hold: they are bounded, without secrets, and escaped.

A structlog that nobody configured prints to stdout, so it is used only where the application
configured it; else the stdlib logger `selfcorrect`, where somebody gave it a handler.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from selfcorrect.kernel.texts import safe, visible

Sink = Callable[[str, Mapping[str, Any]], None]

_LOGGER: Final = logging.getLogger("selfcorrect")
_LOGGER.addHandler(logging.NullHandler())


_LONGEST: Final = 8_000
_WORD: Final = re.compile(r"[\w.:/@+\-\[\]]+", re.ASCII)
"""A text that needs no quotes to be told from what stands beside it."""


def one_line(value: Any, limit: int = _LONGEST) -> Any:
    """A value of an event without secrets, in whose texts nothing ends a line or hides."""
    return safe(value, limit=limit, depth=8, show=visible)


def _in_words(values: Mapping[str, Any]) -> str:
    shown = safe(values, limit=_LONGEST).items()
    return visible(" ".join(f"{key}={_quoted(value)}" for key, value in shown))


def _quoted(value: Any) -> Any:
    plain = not isinstance(value, str) or _WORD.fullmatch(value)
    return value if plain else json.dumps(value, ensure_ascii=False)


def sink() -> Sink | None:
    """Where events go now, or None where nobody listens."""
    return _sink(logging.INFO, "info")


def warning() -> Sink | None:
    """Where warnings go now, or None where nobody listens."""
    return _sink(logging.WARNING, "warning")


def _sink(level: int, name: str) -> Sink | None:
    if "structlog" in sys.modules:  # who configured it imported it
        import structlog

        if structlog.is_configured():
            emit = getattr(structlog.get_logger("selfcorrect"), name)
            return lambda event, values: emit(event, **one_line(values))
    is_heard = len(_LOGGER.handlers) > 1 or logging.root.handlers
    if _LOGGER.isEnabledFor(level) and is_heard:
        return lambda event, values: _LOGGER.log(level, "%s %s", event, _in_words(values))
    return None


def summary(event: Mapping[str, Any]) -> dict[str, Any]:
    """What of a trail event is fit for a log: names and counts, no values of arguments."""
    out = {
        key: event[key]
        for key in ("next", "attempt", "ok", "seconds", "round", "wait", "reason")
        if key in event
    }
    if findings := event.get("findings"):
        out["kinds"] = sorted({item["kind"] for item in findings})
        out["rules"] = sorted({item["rule"] for item in findings if item.get("rule")})
    if tried := event.get("tried"):
        out["strategies"] = [f"{item['strategy']}:{item['outcome']}" for item in tried]
    return out
