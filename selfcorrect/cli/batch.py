"""Lines of a big file through several processes: order kept, memory constant.

A worker is started afresh on every system (`spawn`), so nothing of this process has to survive a
fork; it loads the error-strategy map once, by its name.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, TypeAlias

from selfcorrect.cli.lines import Raw

BIG: Final = 4_000_000
"""Bytes of a file from which several processes are worth their start."""
_LINES: Final = 500
_BYTES: Final = 500_000
_AHEAD: Final = 3

Answers: TypeAlias = tuple[str, bool]
"""The answers to a chunk of lines, as text, and whether every line was done."""
Work: TypeAlias = Callable[[list[Raw], Any], Answers]


def processes(path: str, wanted: int | None) -> int:
    """How many processes to use for a file; one for standard input, whose reader may wait."""
    if wanted is not None:
        return max(1, wanted)
    if path == "-" or not Path(path).is_file() or Path(path).stat().st_size < BIG:
        return 1
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def chunks(given: Iterable[Raw], most: int = _LINES) -> Iterator[list[Raw]]:
    """The lines in chunks of bounded size."""
    chunk: list[Raw] = []
    size = 0
    for raw in given:
        chunk.append(raw)
        size += len(raw.content)
        if len(chunk) >= most or size >= _BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def in_processes(given: Iterable[Raw], work: Work, common: Any, count: int) -> Iterator[Answers]:
    """The answers to all lines, in order.

    Args:
        given: The lines.
        work: What answers a chunk: a function of a module, so that a worker can import it.
        common: What `work` needs besides; small, and of plain values.
        count: How many processes.
    """
    waiting: deque[tuple[list[Raw], Future[Answers] | None]] = deque()
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        try:
            for chunk in chunks(given):
                waiting.append((chunk, _submitted(pool, work, chunk, common)))
                if len(waiting) >= count * _AHEAD:
                    yield _answer(*waiting.popleft(), work, common)
            while waiting:
                yield _answer(*waiting.popleft(), work, common)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _submitted(
    pool: ProcessPoolExecutor, work: Work, chunk: list[Raw], common: Any
) -> Future[Answers] | None:
    try:
        return pool.submit(work, chunk, common)
    except BrokenProcessPool:
        return None


def _answer(chunk: list[Raw], future: Future[Answers] | None, work: Work, common: Any) -> Answers:
    """A worker's answers; where it was killed, this process answers in its place."""
    try:
        return future.result() if future is not None else work(chunk, common)
    except BrokenProcessPool:
        return work(chunk, common)
