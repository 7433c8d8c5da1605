"""Remembers the calls of one process."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from threading import Lock
from time import time

from selfcorrect.effects import Outcome
from selfcorrect.effects.again import BEGUN, HELD, Record, Reworded, Run, Verdict, in_doubt
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
        self._lock = Lock()

    def begin(self, intent: Record, decide: Callable[[Sequence[Record]], Verdict]) -> Verdict:
        with self._lock:
            equal = [record for record in self._records.values() if _may_be_equal(record, intent)]
            equal.sort(key=lambda record: record.key != intent.key)
            verdict = decide(equal)
            if isinstance(verdict, Run | Reworded):
                # What is begun again is the youngest.
                self._records.pop(intent.key, None)
                self._records[intent.key] = begun_record(intent, verdict)
                self._trim()
        return verdict

    def settle(self, key: str, status: str, value: JSON = None, by: str | None = None) -> None:
        status = outcome_named(status)
        with self._lock:
            if key not in self._records:
                raise unknown_key(key, self._records)
            old = self._records[key]
            if old.status != BEGUN and by is None and status in CLEARED:
                # A holder that was taken for dead does not know what others have done since.
                return
            self._records[key] = replace(old, status=status, value=value, alive=False, by=by)
            self._trim()

    def records(self, *, doubts: bool = False) -> list[Record]:
        with self._lock:
            records = list(self._records.values())
        return [record for record in records if in_doubt(record) or not doubts]

    def _trim(self) -> None:
        items = self._records.items()
        over = (key for key, record in items if record.status not in (BEGUN, Outcome.LOST))
        for key in [*islice(over, max(0, len(items) - self._size))]:
            del self._records[key]


CLEARED = (Outcome.NOT_DONE, Outcome.REFUSED)
"""What only a person says of a call that nobody holds: these let it be made again."""


def _may_be_equal(one: Record, other: Record) -> bool:
    is_theme = one.theme == other.theme != ""
    return one.key == other.key or one.doubt == other.doubt or is_theme


def begun_record(intent: Record, verdict: Verdict) -> Record:
    """Return the record of a call that is made, or held, from now on.

    What this process began, it is still making until it settles it.
    """
    runs = isinstance(verdict, Run)
    return replace(intent, status=BEGUN if runs else HELD, alive=runs, time=time())


def unknown_key(key: str, keys: Iterable[str]) -> LedgerError:
    """Return the error for a key that no call has."""
    return LedgerError(unknown_name("key of a call", key, list(keys)[-200:]))


def outcome_named(word: str) -> str:
    """Return the word of an outcome.

    Raises:
        LedgerError: If it is another word.
    """
    if word not in tuple(Outcome):
        raise LedgerError(f"unknown outcome {word!r}; give one of {', '.join(Outcome)}")
    return Outcome(word).value
