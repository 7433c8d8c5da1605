"""Writes one line for each step of a run, and one for each call that failed.

Where an application has configured structlog, the lines go there; else to the stdlib's logger
`selfcorrect`. The level says what an operator has to do:

| level | for |
|---|---|
| DEBUG | a step that needs nobody |
| INFO | a call that was repaired, with the changes; a mistake of the model, which it is told |
| WARNING | a run that ended for a bound, access, a quota or a service |
| ERROR | a tool's own fault, with its class and where it was raised; a doubt, with its record |

A doubt is written to stderr even where nothing is configured; nothing else is.
"""

import logging
import sys
import traceback
from contextlib import suppress
from typing import Any

from selfcorrect.context import LOG, RunContext, has_readers
from selfcorrect.model import ErrorKind, JsonDict, JsonObject
from selfcorrect.report import FailureReport
from selfcorrect.state import CorrectionState
from selfcorrect.text import own_forms, quote, release, text_of

_MOST_CHANGES = 20


def log_step(event: JsonObject, state: CorrectionState) -> None:
    """Write what a node came to."""
    changes = event.get("changes") or ()
    level = logging.INFO if changes else logging.DEBUG
    if not has_readers(level):
        return
    fields = {
        "tool": (state.get("current") or {}).get("name"),
        **{name: event.get(name) for name in _SHOWN},
        "changes": [_change_text(change) for change in changes[:_MOST_CHANGES]],
    }
    _write(level, "repaired" if changes else "step", fields)


def log_failure(report: FailureReport, state: CorrectionState, context: RunContext) -> None:
    """Write why a call failed."""
    error = next(reversed(context.live_part(state["run"]).errors), None)
    fields: JsonDict = {name: getattr(report, name) for name in _REPORTED}
    fields["rules"] = [finding.get("rule") for finding in report.findings if finding.get("rule")]
    level = logging.WARNING if report.reason in _WARNS else logging.INFO
    kinds = {finding.get("kind") for finding in report.findings}
    if error is not None:
        fields["error"] = f"{type(error).__name__}: {text_of(error)}"
        fields["traceback"] = _frames(error)
        if ErrorKind.INTERNAL in kinds:
            level = logging.ERROR
    if report.is_doubt:
        level = logging.ERROR
        fields |= {"thread": context.thread, "call_id": state["current"].get("id"), "doubt": True}
    _write(level, "call failed", fields, or_stderr=report.is_doubt)


def add_secret_form(pattern: str) -> None:
    """Cut out what a pattern of RE2 matches, too: its group, where it has one.

    Raises:
        re2.error: If it is not a pattern.
    """
    import re2

    re2.compile(pattern)
    own_forms.append(pattern)


def redacted(_logger: Any, _method: str, event: Any) -> Any:
    """Redact every value of a line; a processor for `structlog.configure(processors=[…])`."""
    return _plain(event)


_SHOWN = ("node", "outcome", "next", "attempt", "did", "replayed", "reason")
_REPORTED = ("tool", "reason", "detail", "record")
_WARNS = ("limit_reached", "attempts_exhausted", "terminal_kind", "unavailable", "escalated")
"""Reasons of warnings; any other is a mistake of the model, or waits for a person."""


def _write(level: int, event: str, values: JsonObject, *, or_stderr: bool = False) -> None:
    fields = {name: _plain(item) for name, item in values.items() if item not in (None, "", [])}
    structlog = sys.modules.get("structlog")
    # What a processor or a handler raises must not end a run.
    with suppress(Exception):
        if structlog is not None and structlog.is_configured():
            structlog.get_logger("selfcorrect").log(level, event, **fields)
            return
        line = f"{event}: {' '.join(f'{name}={item!r}' for name, item in fields.items())}"
        if has_readers(level):
            LOG.log(level, "%s", line)
        elif or_stderr:
            sys.stderr.write(f"selfcorrect: {line}\n")


def _plain(item: Any) -> Any:
    """Return a value as it may leave: one line, without secrets and control characters."""
    if item is None or isinstance(item, bool | int | float):
        return item
    if isinstance(item, list | tuple):
        return [_plain(part) for part in item]
    if isinstance(item, dict):
        return {_plain(name): _plain(part) for name, part in item.items()}
    return " ".join(release(text_of(item), 500).split())


def _change_text(change: JsonObject) -> str:
    sides = ("before", "after")
    before, after = (quote(change[key], 80) if key in change else "nothing" for key in sides)
    return f"{change['path']}: {before} → {after} ({change['safety']}, {change.get('strategy')})"


def _frames(error: BaseException) -> list[str]:
    """Return where an error was raised, its innermost frame first."""
    entries = reversed(traceback.extract_tb(error.__traceback__, -10))
    return [f"{entry.filename}:{entry.lineno} in {entry.name}" for entry in entries]
