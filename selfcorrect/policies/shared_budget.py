"""The retry budget that all workers on a ledger share."""

from __future__ import annotations

from dataclasses import asdict
from threading import Lock
from typing import Any

from selfcorrect.model import JSON
from selfcorrect.policies.retry_budget import SPARE, RetryBudget, Spent, budget_of
from selfcorrect.protocols import Board


class SharedBudget:
    """Like `RetryBudget`, over all workers; each knows of the others what is a second old.

    Args:
        board: Where it stands.
        tool: Whose repeats it is for.
        ratio: Repeats per call.
        spare: Repeats that are allowed where the ratio gives fewer.
    """

    def __init__(self, board: Board, tool: str, ratio: float, *, spare: float = SPARE) -> None:
        from selfcorrect.policies.sharing import Shared

        self._ratio, self._spare = ratio, spare
        self._spent = Shared(board, f"retries:{tool}"[:300], _read, asdict)
        self._lock = Lock()

    def called(self, now: float) -> None:
        """Count the first execution of a call."""
        with self._lock:
            self._spent.change(lambda spent, at: spent.at(at).called(), now, at_once=_later)

    def may_repeat(self, now: float) -> bool:
        """Take one repeat out of the budget, if there is one."""
        with self._lock:
            spent, at = self._spent.seen(now)
            if not spent.at(at).leaves_one(self._ratio, self._spare):
                return False
            self._spent.change(lambda spent, at: spent.at(at).repeated(), now, at_once=_later)
            return True


class Budgets:
    """The budgets of a loop's tools: of this process, or of all workers on a board."""

    def __init__(self, board: Board | None = None) -> None:
        self.board = board
        self._shared: dict[tuple[str, float], SharedBudget] = {}

    def of(self, tool: str, ratio: float | None) -> RetryBudget | SharedBudget:
        """The budget of a tool; without a ratio there is none to keep to."""
        if self.board is None or ratio is None:
            return budget_of(tool, ratio)
        found = self._shared.get((tool, ratio))
        return found or self._shared.setdefault(
            (tool, ratio), SharedBudget(self.board, tool, ratio)
        )


def _later(before: Spent, after: Spent) -> bool:
    del before, after
    return False


def _read(value: JSON) -> Spent:
    """What was spent, from what stands on the board; what cannot be read is nothing."""
    given: Any = value or {}
    try:
        return Spent(**given)
    except TypeError:
        return Spent()
