"""Check that a ledger keeps the promises that the loop builds on."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

from selfcorrect.model import JSON
from selfcorrect.protocols import Ledger, Record

_VALUES: Final[tuple[JSON, ...]] = (
    *(None, False, 0, "", [], {}, 2**63, -0.5, "é\u2028\U0001f600'\"\\", "x" * 100_000),
    {"a": [{"b": None}, "'; DROP TABLE selfcorrect_intents; --"]},
)
_KEYS: Final = ("'; --", "%s ? {}", "ключ", "k" * 1_000, " ")
_THREADS: Final = 8


def check_ledger(open_ledger: Callable[[], Ledger]) -> None:
    """Check the promises that every ledger gives.

    A new intent is granted, also among many who ask at once to one of them only; what is done is
    replayed as it was stored; what is not done is granted again; what is unknown is told, and held
    by whoever was told; while one holds an intent, all others wait. Where it is a `Board`,
    too, what stands there is changed by one of those who saw it last.

    Args:
        open_ledger: Opens the ledger; each time the same store.

    Raises:
        AssertionError: Naming the first promise that is broken.

    >>> from selfcorrect.ledger import MemoryLedger
    >>> ledger = MemoryLedger()
    >>> check_ledger(lambda: ledger)
    """
    one, two = open_ledger(), open_ledger()
    for key in _KEYS:
        own = key + uuid.uuid4().hex
        _expect(one.begin(own), None, "a new intent is not granted")
        one.settle(own, "done", key)
        _expect(two.begin(own), ("done", key), "what is done is not told")
    for value in _VALUES:
        key = uuid.uuid4().hex
        one.begin(key)
        one.settle(key, "done", value)
        for ledger in (one, two, one):
            _expect(ledger.begin(key), ("done", value), "a value is not replayed as it was stored")
    _check_copies(one, two)
    _check_outcomes(one, two)
    _check_one_of_many(one)
    _check_one_of_many(open_ledger)
    if hasattr(one, "look") and hasattr(one, "swap"):
        _check_board(one, two)


def _check_board(one: Any, two: Any) -> None:
    name, boards = uuid.uuid4().hex, [one, two] * (_THREADS // 2)
    if one.look(name).version != 0 or one.look(name).value is not None:
        raise AssertionError("something stands on the board under a new name")
    for number in range(3):
        version = two.look(name).version
        with ThreadPoolExecutor(_THREADS) as pool:
            asked = [pool.submit(board.swap, name, version, number) for board in boards]
        if sum(bool(each.result()) for each in asked) != 1:
            raise AssertionError("a value is not written by exactly one of those who saw it")
        if not one.look(name).value == two.look(name).value == number:
            raise AssertionError("a value on the board is lost")


def _check_copies(one: Ledger, two: Ledger) -> None:
    key, value = uuid.uuid4().hex, {"a": [1]}
    one.begin(key)
    one.settle(key, "done", value)
    value["a"].append(2)
    found = two.begin(key)
    _expect(found, ("done", {"a": [1]}), "a stored value changes with the caller's object")


def _check_outcomes(one: Ledger, two: Ledger) -> None:
    key = uuid.uuid4().hex
    with _held_elsewhere(one, key) as settle:
        _expect(two.begin(key), ("held", None), "what is held is not told as held")
        settle("not_done", None)
    with _held_elsewhere(two, key, expected=None) as settle:
        settle("unknown", None)
    with _held_elsewhere(one, key, expected=("unknown", None)) as settle:
        _expect(two.begin(key), ("held", None), "whoever is told of a doubt does not hold it")
        settle("paused", {"at": 1})
    with _held_elsewhere(two, key, expected=("paused", {"at": 1})) as settle:
        settle("done", 7)
    _expect(one.begin(key), ("done", 7), "what is done in the end is not told")


def _check_one_of_many(source: Ledger | Callable[[], Ledger]) -> None:
    key, barrier = uuid.uuid4().hex, threading.Barrier(_THREADS)

    def ask(_: int) -> Record | None:
        ledger = source() if callable(source) else source
        barrier.wait()
        found = ledger.begin(key)
        barrier.wait()
        return found

    with ThreadPoolExecutor(_THREADS) as pool:
        told = list(pool.map(ask, range(_THREADS)))
    if told.count(None) != 1:
        raise AssertionError(f"{told.count(None)} of {_THREADS} who ask at once are granted it")
    if any(item is not None and item.status != "held" for item in told):
        raise AssertionError("who is not granted an intent is not told that it is held")


@contextmanager
def _held_elsewhere(
    ledger: Ledger, key: str, expected: tuple[str, JSON] | None = None
) -> Iterator[Callable[[str, JSON], None]]:
    """Begin an intent in a thread that lives on, and settle it there."""
    with ThreadPoolExecutor(1) as pool:
        _expect(pool.submit(ledger.begin, key).result(), expected, "begin answers wrongly")

        def settle(status: str, value: JSON) -> None:
            pool.submit(ledger.settle, key, status, value).result()

        yield settle


def _expect(found: Record | None, expected: tuple[str, JSON] | None, promise: str) -> None:
    told = None if found is None else (found.status, found.value)
    if told != expected or (told is not None and type(told[1]) is not type((expected or told)[1])):
        raise AssertionError(f"{promise}: {told!r:.200} instead of {expected!r:.200}")
