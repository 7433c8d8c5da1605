"""Loop detection: the same call that failed in the same way before, also in earlier runs."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Final

from selfcorrect.model import Finding
from selfcorrect.plain import digest

MOST_TIMES: Final = 2
"""Runs of one thread in which the same call may fail in the same way, of a kind that stays."""
_MOST_CALLS: Final = 64
_LONGEST: Final = 4_000
_VARIES: Final = re.compile(r"[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4,12}){1,4}|\d+")
"""What differs from one telling of an error to the next: numbers, times, request ids."""


def fingerprint(findings: Sequence[Finding]) -> str:
    """Equal for errors that say the same, whatever numbers and ids they carry.

    >>> one = Finding("no seat 12 (request 7f9c2ba4-e88f-827d-616a-bd0abd0a0d2c)")
    >>> fingerprint([one]) == fingerprint([Finding("no seat 13 (request 2)")])
    True
    """
    told = [
        [list(item.types[:1]), item.code, item.status, _VARIES.sub("#", item.text[:_LONGEST])]
        for item in findings
    ]
    return digest(*told)


def noted(
    past: Mapping[str, Any], key: str, error: str, findings: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The failures of a thread with one more; the oldest are forgotten.

    Args:
        past: What failed before, by call: `{"error", "times", "findings"}`.
        key: The call that failed.
        error: The fingerprint of its error.
        findings: What was found, for a run that is not to execute the call again.
    """
    before = past.get(key) or {}
    times = before["times"] + 1 if before.get("error") == error else 1
    kept = {name: value for name, value in past.items() if name != key}
    while len(kept) >= _MOST_CALLS:
        kept.pop(next(iter(kept)))
    return {**kept, key: {"error": error, "times": times, "findings": list(findings)}}


class FailureMemory:
    """The failures of the last `capacity` tasks, for runs that no checkpointer remembers."""

    def __init__(self, capacity: int = 2_000) -> None:
        self._capacity = capacity
        self._tasks: OrderedDict[str, Mapping[str, Any]] = OrderedDict()
        self._lock = Lock()

    def of(self, task: str | None) -> Mapping[str, Any]:
        """What failed in a task so far."""
        if task is None:
            return {}
        with self._lock:
            return self._tasks.get(task, {})

    def keep(self, task: str | None, failed: Mapping[str, Any]) -> None:
        """Remember what failed in a task."""
        if task is None:
            return
        with self._lock:
            self._tasks[task] = failed
            self._tasks.move_to_end(task)
            while len(self._tasks) > self._capacity:
                self._tasks.popitem(last=False)
