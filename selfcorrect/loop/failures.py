"""Loop detection: the same call that failed in the same way before, also in earlier runs.

And what is kept of runs and tasks beside their state.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Final, Generic, TypeVar

from selfcorrect.model import Finding
from selfcorrect.plain import digest

T = TypeVar("T")

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
    past: Mapping[str, Any],
    key: str,
    error: str,
    findings: Sequence[Mapping[str, Any]],
    until: float,
) -> dict[str, Any]:
    """The failures of a thread with one more; the oldest are forgotten.

    Args:
        past: What failed before, by call: `{"error", "times", "findings", "until"}`.
        key: The call that failed.
        error: The fingerprint of its error.
        findings: What was found, for a run that is not to execute the call again.
        until: When it may be executed again all the same: what failed may be ready then.
    """
    kept = dict(past)
    before = kept.pop(key, None) or {}
    times = before["times"] + 1 if before.get("error") == error else 1
    while len(kept) >= _MOST_CALLS:
        kept.pop(next(iter(kept)))
    return {
        **kept,
        key: {"error": error, "times": times, "findings": list(findings), "until": until},
    }


class Live(Generic[T]):
    """What belongs to the last `capacity` runs or tasks, and no checkpoint can hold.

    Safe for threads. Of none, or of one that was forgotten, it is what it is at first.
    """

    def __init__(self, at_first: T, capacity: int = 256) -> None:
        self._at_first = at_first
        self._capacity = capacity
        self._kept: OrderedDict[str, T] = OrderedDict()
        self._lock = Lock()

    def of(self, name: str | None) -> T:
        """What was kept."""
        with self._lock:
            return self._at_first if name is None else self._kept.get(name, self._at_first)

    def keep(self, name: str | None, what: T) -> None:
        """Keep it in place of what was."""
        if name is None:
            return
        with self._lock:
            self._kept[name] = what
            self._kept.move_to_end(name)
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)

    def forget(self, name: str) -> None:
        """Keep nothing any more."""
        with self._lock:
            self._kept.pop(name, None)


class LiveErrors(Live[tuple[BaseException, ...]]):
    """The exceptions of running runs, in order; none after a resume in another process."""

    def __init__(self, capacity: int = 4_096) -> None:
        super().__init__((), capacity)

    def add(self, run: str, error: BaseException) -> None:
        """Keep one more."""
        self.keep(run, (*self.of(run), error))


class FailureMemory(Live[Mapping[str, Any]]):
    """What failed in the last tasks, for runs that no checkpointer remembers."""

    def __init__(self, capacity: int = 2_000) -> None:
        super().__init__({}, capacity)
