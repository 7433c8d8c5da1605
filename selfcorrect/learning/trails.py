"""Trails of this library's own runs as recorded calls: `run --record`, `on_trail`, an output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from selfcorrect.json_forms import call_from_json, call_to_json, change_from_json
from selfcorrect.learning.calls import RecordedCall, Unreadable
from selfcorrect.learning.chats import requests_in
from selfcorrect.pointer import apply


def is_trail(value: Any) -> bool:
    """Whether this is a recorded run."""
    return isinstance(value, Mapping) and isinstance(value.get("trail"), list)


def of_trail(record: Mapping[str, Any], where: str, start: int) -> Iterator[RecordedCall]:
    """The executions of a run in order, those of calls that came first included.

    Args:
        record: The run.
        where: What it is called, if it does not say of which task it is.
        start: The place of its first call.

    Raises:
        Unreadable: If the trail does not hold together.
    """
    given = record.get("input")
    given = given if isinstance(given, Mapping) else {}
    task = record.get("task_id") or given.get("task_id") or where
    request = given.get("request") or next(requests_in(reversed(given.get("messages") or ())), None)
    executed = list(_executed(record["trail"]))
    for place, (call, event) in enumerate(executed):
        last = place == len(executed) - 1
        error = None if event.get("ok") else "\n".join(map(str, event.get("error") or ("failed",)))
        yield RecordedCall(
            str(task),
            start + place,
            str(call.get("name")),
            call.get("args") or {},
            error,
            event.get("effect"),
            event.get("schema"),
            request if isinstance(request, str) else None,
            record.get("result") if last and error is None else None,
        )


def _executed(trail: list[Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Every execution: the call as it then was, and the event that tells of it."""
    call: Any = None
    for event in trail:
        if not isinstance(event, Mapping):
            raise Unreadable("an event of the trail is no object")
        if event.get("node") == "plan" and isinstance(event.get("call"), Mapping):
            call = call_from_json(event["call"])
        for change in event.get("changes") or ():
            if call is None:
                raise Unreadable("a change of the trail comes before any call")
            try:
                call = apply(call, [change_from_json(change)])
            except (LookupError, ValueError, AttributeError, TypeError):
                raise Unreadable("a change of the trail cannot be made again") from None
        for step in event.get("first") or ():
            yield from _executed(step.get("trail") or [])
        executed = event.get("node") == "execute" and "attempt" in event
        if executed and call is not None and not event.get("replayed"):
            yield call_to_json(call), event
