"""Lines through several processes: order kept, memory constant.

A worker is started afresh on every system (`spawn`), so nothing of this process has to survive a
fork; it gets the error-strategy map once.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any, Final, TypeAlias

from selfcorrect.batch.lines import Item, Line, Raw, as_item, dump, line_of
from selfcorrect.log import warning

BIG: Final = 4_000_000
"""Bytes of a file from which several processes are worth their start."""
_LINES: Final = 500
_BYTES: Final = 500_000
_AHEAD: Final = 3


@dataclass(frozen=True, slots=True)
class Job:
    """What is done with lines; its functions are those of a module, so that a worker finds them.

    Attributes:
        answer: Answers one line, whatever is wrong with it; gets the map, too.
        outcome_of: What an answer came to, in a word.
        to_look_at: The words of answers that somebody has to look at.
        keys: The keys of a line that are read.
    """

    answer: Callable[[Line, Any], dict[str, Any]]
    outcome_of: Callable[[Mapping[str, Any]], str]
    to_look_at: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to a chunk of lines.

    Attributes:
        items: In order: objects, or texts.
        outcomes: How many came to what.
        strange: The lines with a key that is not read, each with its keys; of those with the same
            ones the first.
        first: Where the first line is that somebody has to look at, and why.
        lost: The lines, first to last, if a worker that was killed had them in its hands.
    """

    items: list[Any]
    outcomes: Counter[str]
    strange: dict[tuple[str, ...], str] = field(default_factory=dict)
    first: str | None = None
    lost: str | None = None


def processes(path: str, wanted: int | None) -> int:
    """How many processes to use for a file; one for standard input, whose reader may wait."""
    if wanted is not None:
        return max(1, wanted)
    if path == "-" or not Path(path).is_file() or Path(path).stat().st_size < BIG:
        return 1
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def chunks(given: Iterable[Item], most: int = _LINES) -> Iterator[list[Item]]:
    """The lines in chunks of bounded size."""
    chunk: list[Item] = []
    size = 0
    for item in given:
        chunk.append(item)
        size += len(item.content) if isinstance(item, Raw) else 0
        if len(chunk) >= most or size >= _BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def answers(
    given: Iterable[Item], job: Job, common: Any, count: int, *, as_text: bool = False
) -> Iterator[Answers]:
    """The answers to all lines, in order; of one process, one line at a time.

    Args:
        given: The lines.
        job: What is done with them.
        common: What it needs besides; it is pickled where there are workers.
        count: How many processes.
        as_text: Each answer as a line of JSON, rather than an object.
    """
    work = partial(_answered, job, common, as_text)
    if count > 1:
        yield from _in_processes(given, work, count)
    else:
        yield from (work([item]) for item in given)


def answered_all(
    lines: Iterable[Any], job: Job, common: Any, count: int
) -> Iterator[dict[str, Any]]:
    """The answers to the lines that a caller hands over, as objects."""
    items = (as_item(line, number) for number, line in enumerate(lines, 1))
    return chain.from_iterable(part.items for part in answers(items, job, common, count))


_Work: TypeAlias = Callable[[list[Item]], Answers]


def _answered(job: Job, common: Any, as_text: bool, chunk: list[Item]) -> Answers:
    found: list[dict[str, Any]] = []
    strange: dict[tuple[str, ...], str] = {}
    first = None
    for item in chunk:
        line = line_of(item)
        found.append(answer := job.answer(line, common))
        if first is None and job.outcome_of(answer) in job.to_look_at:
            why = str(answer.get("detail") or answer.get("error"))
            first = why if why.startswith(line.where) else f"{line.where}: {why}"
        if isinstance(line.value, Mapping) and not line.value.keys() <= job.keys:
            strange.setdefault(tuple(line.value), line.where)
    items = [f"{dump(answer)}\n" for answer in found] if as_text else found
    return Answers(items, Counter(map(job.outcome_of, found)), strange, first)


def _in_processes(given: Iterable[Item], work: _Work, count: int) -> Iterator[Answers]:
    waiting: deque[tuple[list[Item], Future[Answers] | None]] = deque()
    with ProcessPoolExecutor(count, get_context("spawn"), _begin, (work,)) as pool:
        try:
            for chunk in chunks(given):
                waiting.append((chunk, _submitted(pool, chunk)))
                if len(waiting) >= count * _AHEAD:
                    yield _answer(*waiting.popleft(), work)
            while waiting:
                yield _answer(*waiting.popleft(), work)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


_WORK: Final[list[_Work]] = []
"""What this process, a worker, was started for."""


def _begin(work: _Work) -> None:
    _WORK[:] = [work]
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this worker where the process that started it is killed: it would wait for ever.

    The pipe of its lines never ends by itself, for a worker has both ends of it.
    """
    if (parent := parent_process()) is not None:
        parent.join()
    os._exit(1)


def _work(chunk: list[Item]) -> Answers:
    return _WORK[0](chunk)


def _submitted(pool: ProcessPoolExecutor, chunk: list[Item]) -> Future[Answers] | None:
    try:
        return pool.submit(_work, chunk)
    except BrokenProcessPool:
        return None


def _answer(chunk: list[Item], future: Future[Answers] | None, work: _Work) -> Answers:
    """A worker's answers; where it was killed, this process answers in its place, and says so."""
    try:
        return future.result() if future is not None else work(chunk)
    except BrokenProcessPool:
        lost = f"{chunk[0].where} to {chunk[-1].where}"
        if (warn := warning()) is not None:
            warn("selfcorrect.worker_lost", {"lines": lost})
        return replace(work(chunk), lost=lost)
