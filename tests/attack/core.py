"""What an attack is: a case that says what must not happen, and the classes of cases."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

CLASSES = {
    "A1": "an acting tool is executed again only where structure shows that nothing was done",
    "A1h": "the host's validation is evidence only where the tool's own code is absent",
    "A1s": "a server's protocol error is evidence only where the server is trusted",
    "A2": "refused and lost are told apart, and prose makes neither of them not_done",
    "A3": "what could be mended after an execution is proposed, not run",
    "A4": "after lost, an equal call is not executed again, whatever asks for it",
    "A5": "calls are equal after their normal form",
    "B6": "a call is made only if it is the text",
    "B7": "what stands beside a call in its envelope is not ignored",
    "B8": "a text repeats no call that was made, and quotes none",
    "B9": "arguments that are not closed do not run",
    "B10": "a call for which no offered tool is right is renamed onto none",
    "C11": "money and units run only where the schema names them",
    "C12": "only known namespaces are dropped",
    "C13": "no content is left out in silence",
    "C14": "two readings, or an odd one, do not run",
    "D15": "bounds: reading, findings, patterns, sizes, foreign objects, reports",
    "D16": "no secret reaches a prompt, a log or a report",
    "D17": "check and explain run no code of a map",
    "K0": "what fits is left alone",
    "K1": "nothing that was written is lost",
    "K2": "no key disappears",
    "K3": "nothing is invented, and what an error says runs in no unasked call",
    "K4": "nothing stands around a call but tokens of its form",
    "K5": "as many calls run as were written, each with its own name",
}


@dataclass(frozen=True)
class Case:
    """One attack.

    Attributes:
        text: What is tried, readably.
        run: Tries it; returns what broke, or None if the promise held.
    """

    text: str
    run: Callable[[], str | None]


Generator = Callable[[Random], Case]
ATTACKS: dict[str, dict[str, Generator]] = {name: {} for name in CLASSES}
KEPT: dict[str, dict[str, Generator]] = {name: {} for name in CLASSES}


def attack(name: str) -> Callable[[Generator], Generator]:
    """What this makes must not get through."""

    def add(make: Generator) -> Generator:
        ATTACKS[name][make.__name__] = make
        return make

    return add


def keeps(name: str) -> Callable[[Generator], Generator]:
    """What this makes must go on working, so that refusing everything is no solution."""

    def add(make: Generator) -> Generator:
        KEPT[name][make.__name__] = make
        return make

    return add


class TooLong(BaseException):
    """The case did not come back."""


@contextlib.contextmanager
def within(seconds: float, *, of_work: bool = False) -> Iterator[None]:
    """Raise TooLong in the main thread after so many seconds, or seconds of processor time.

    What works too long is measured by the processor's time, which a busy machine does not change;
    what blocks, by the clock.
    """

    def stop(*_: object) -> None:
        raise TooLong

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    timer, name = signal.ITIMER_REAL, signal.SIGALRM
    if of_work:
        timer, name = signal.ITIMER_PROF, signal.SIGPROF
    before = signal.signal(name, stop)
    signal.setitimer(timer, seconds, 0.2)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(name, before)


@contextlib.contextmanager
def no_waits() -> Iterator[None]:
    """Waits between attempts take no time: what counts is how often something runs."""
    sleep, asleep = time.sleep, asyncio.sleep

    async def short(seconds: float, result: Any = None) -> Any:
        return await asleep(min(seconds, 0.001), result)

    time.sleep = lambda seconds: sleep(min(seconds, 0.001))
    asyncio.sleep = short  # type: ignore[assignment]
    try:
        yield
    finally:
        time.sleep, asyncio.sleep = sleep, asleep
