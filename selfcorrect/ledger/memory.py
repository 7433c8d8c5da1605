"""Remembers the calls of one process."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from threading import Lock
from time import time

from selfcorrect.effects.again import BEGUN, HELD, Record, Reworded, Run, Verdict, in_doubt
from selfcorrect.effects.outcome import Outcome
from selfcorrect.errors import LedgerError, unknown_name
from selfcorrect.model import JSON


class MemoryLedger:
    """Remembers the calls of one process, and forgets the oldest ones without a doubt.

    Args:
        size: How many records are kept; a record that is begun or in doubt stays beyond it.
    """

    blocks = False

    def __init__(self, size: int = 10_000) -> None:
        self._size = size
        self._records: dict[str, Record] = {}
        # Keys by doubt, and by theme.
        self._by_group: dict[str, dict[str, None]] = defaultdict(dict)
        self._lock = Lock()

    def begin(self, intent: Record, decide: Callable[[Sequence[Record]], Verdict]) -> Verdict:
        with self._lock:
            groups = (self._by_group.get(each, {}) for each in _groups(intent))
            keys = dict.fromkeys((intent.key, *(key for group in groups for key in group)))
            verdict = decide([self._records[key] for key in keys if key in self._records])
            if isinstance(verdict, Run | Reworded):
                self._forget(intent.key)
                self._records[intent.key] = begun_record(intent, verdict)
                for group in _groups(intent):
                    self._by_group[group][intent.key] = None
                self._trim()
        return verdict

    def settle(self, key: str, status: str, value: JSON = None, by: str | None = None) -> None:
        status = outcome_named(status)
        with self._lock:
            if key not in self._records:
                raise unknown_key(key, self._records)
            record = replace(self._records[key], status=status, value=value, alive=False, by=by)
            self._records[key] = record
            self._trim()

    def records(self, *, doubts: bool = False) -> list[Record]:
        with self._lock:
            found = list(self._records.values())
        return [record for record in found if in_doubt(record) or not doubts]

    def _trim(self) -> None:
        items = self._records.items()
        over = (key for key, each in items if each.status not in (BEGUN, Outcome.LOST))
        for key in [*islice(over, max(0, len(items) - self._size))]:
            self._forget(key)

    def _forget(self, key: str) -> None:
        if record := self._records.pop(key, None):
            for group in _groups(record):
                del self._by_group[group][key]
                if not self._by_group[group]:
                    del self._by_group[group]


def _groups(record: Record) -> set[str]:
    return {record.doubt, record.theme} - {""}


def begun_record(intent: Record, verdict: Verdict) -> Record:
    """Return the record of a call that is made, or held, from now on.

    What this process began, it is still making until it settles it.
    """
    runs = isinstance(verdict, Run)
    return replace(intent, status=BEGUN if runs else HELD, alive=runs, time=time())


def unknown_key(key: str, known: Iterable[str]) -> LedgerError:
    """Return the error for a key that no call has."""
    return LedgerError(unknown_name("key of a call", key, list(known)[-200:]))


def outcome_named(word: str) -> str:
    """Return the word of an outcome.

    Raises:
        LedgerError: If it is none of the four.
    """
    if word not in tuple(Outcome):
        raise LedgerError(f"unknown outcome {word!r}; give one of {', '.join(Outcome)}")
    return Outcome(word).value
