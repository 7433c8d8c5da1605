"""Logs of any known form as recorded calls; the form is told from the lines themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from selfcorrect.learning.calls import RecordedCall, Unreadable, from_line, is_line


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line of a log that holds no calls, and why."""

    where: str
    why: str


def recorded(lines: Iterable[tuple[str, Any]]) -> Iterator[RecordedCall | Skipped]:
    """The calls in the lines of a log, each line with where it stands."""
    for where, value in lines:
        if is_line(value):
            try:
                yield from_line(value)
            except Unreadable as error:
                yield Skipped(where, str(error))
        else:
            yield Skipped(where, "no recorded call")
