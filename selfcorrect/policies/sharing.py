"""A value that all workers on a ledger share, with a view of it that is a second old at most.

Each worker changes its own view at once, and tells the others once a second. What may happen only
once among all of them is decided on the board itself, by compare-and-set.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from threading import RLock
from typing import Any, Final, Generic, TypeAlias, TypeVar

from pydantic import TypeAdapter

from selfcorrect.errors import LedgerError
from selfcorrect.log import warning
from selfcorrect.model import JSON
from selfcorrect.protocols import Board, Posted

S = TypeVar("S")
T = TypeVar("T")

Step: TypeAlias = Callable[[S, float], S]
"""A change: the value before and the time on the board's clock, to the value after."""

VIEW: Final = 1.0
"""Seconds that a view of a board elsewhere may be old."""
_TRIES: Final = 20
_MOST_UNTOLD: Final = 10_000


def _later(before: Any, after: Any) -> bool:
    """The others may know it within a second."""
    del before, after
    return False


class Shared(Generic[S]):
    """One value on a board. Safe for threads; where the board is away, each goes by its own view.

    Args:
        board: Where it stands.
        name: Under which name.
        kind: The dataclass of the value; what it is at first has no arguments.
    """

    def __init__(self, board: Board, name: str, kind: Callable[..., S]) -> None:
        self._board, self._name = board, name[:300]
        self._kind = kind
        self._view = VIEW if getattr(board, "blocks", True) else 0.0
        self._known, self._version = kind(), 0
        self._ahead = 0.0
        self._looked: float | None = None
        self._untold: list[tuple[Step[S], float]] = []
        self._lock = RLock()

    def seen(self, now: float) -> tuple[S, float]:
        """The value with this worker's own changes, and the time on the board's clock.

        Args:
            now: Seconds on this worker's clock.
        """
        with self._lock:
            if self._looked is None or not 0 <= now - self._looked < self._view:
                self._tell(now)
            return self._own(), now + self._ahead

    def change(self, step: Step[S], now: float, at_once: Callable[[S, S], bool] = _later) -> None:
        """Change the value here, and on the board within a second.

        Args:
            step: The change.
            now: Seconds on this worker's clock.
            at_once: Whether the others have to know now; gets the values before and after.
        """
        with self._lock:
            before, _ = self.seen(now)
            self._untold = [*self._untold[-_MOST_UNTOLD:], (step, now)]
            if self._view == 0 or at_once(before, self._own()):
                self._tell(now)

    def decide(self, step: Callable[[S, float], tuple[S, T]], now: float) -> T:
        """Change the value on the board, and find out what came of it, before anybody else does.

        Args:
            step: The value before and the time, to the value after and what came of it. It may run
                several times; the last time counts.
            now: Seconds on this worker's clock.
        """
        with self._lock:
            left = _TRIES
            while True:
                left -= 1
                is_there = self._look(now)
                after, found = step(self._own(), now + self._ahead)
                if is_there and self._swap(after):
                    return found
                if not is_there or left == 0:
                    self._known, self._untold = after, []
                    return found

    def _own(self) -> S:
        value = self._known
        for step, then in self._untold:
            value = step(value, then + self._ahead)
        return value

    def _tell(self, now: float) -> None:
        """Look at the board, and write there what this worker has changed."""
        for _ in range(_TRIES):
            if not self._look(now) or not self._untold or self._swap(self._own()):
                return

    def _look(self, now: float) -> bool:
        self._looked = now
        try:
            found: Posted = self._board.look(self._name)
        except LedgerError:
            return False
        self._known, self._version = self._read(found.value), found.version
        self._ahead = 0.0 if found.clock is None else found.clock - now
        return True

    def _swap(self, value: S) -> bool:
        try:
            written: Any = value
            if not self._board.swap(self._name, self._version, asdict(written)):
                return False
        except LedgerError:
            return False
        self._known, self._version, self._untold = value, self._version + 1, []
        return True

    def _read(self, value: JSON) -> S:
        """The value from what stands on the board; what is damaged is told, and that at first."""
        try:
            found: S = _reader(self._kind).validate_json(json.dumps(value or {}), strict=True)
        except ValueError:
            if (warn := warning()) is not None:
                warn("selfcorrect.board_damaged", {"name": self._name})
            return self._kind()
        return found


@cache
def _reader(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
