"""Recorded runs as the commands read them: several logs, any form, with a progress bar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from selfcorrect.batch.files import Source, apart, source
from selfcorrect.batch.lines import parse
from selfcorrect.cli.progress import bar
from selfcorrect.cli.screen import console, counted, refuse
from selfcorrect.cli.strange_keys import StrangeKeys, strange_keys
from selfcorrect.errors import LedgerError, MissingExtra, SelfCorrectError
from selfcorrect.kernel.texts import visible

if TYPE_CHECKING:
    from selfcorrect.learning.calls import RecordedCall
    from selfcorrect.ledger.sql import SqlLedger

T = TypeVar("T")


@dataclass
class Found:
    """The calls of some logs, and what was left out, by reason."""

    calls: Iterator[RecordedCall]
    skipped: Counter[str] = field(default_factory=Counter)


@contextmanager
def calls_of(
    logs: Sequence[str], out: str | None = None, tools: str | None = None
) -> Iterator[Found]:
    """The recorded calls of logs, streamed; a bar on stderr where a person looks at it."""
    from selfcorrect.learning.calls import KEYS
    from selfcorrect.learning.logs import Skipped, declared, recorded

    known = from_tools(tools, declared) if tools is not None else None
    for log in logs:
        apart(out or "-", log)
    with ExitStack() as stack:
        strange = stack.enter_context(strange_keys(KEYS))
        given = [stack.enter_context(source(log)) for log in logs]
        step = stack.enter_context(bar(given, out))

        def calls() -> Iterator[RecordedCall]:
            for each in recorded(_values(given, step, found, strange), known):
                if isinstance(each, Skipped):
                    found.skipped[each.why] += 1
                else:
                    yield each

        found = Found(iter(()))
        found.calls = calls()
        yield found


def from_tools(path: str, make: Callable[[list[Any]], T]) -> T:
    """What is made of the tools of a file: a JSON list, in the form of any provider."""
    try:
        tools = parse(Path(path).read_text(encoding="utf-8"))
        return make(tools if isinstance(tools, list) else [tools])
    except (ValueError, SelfCorrectError) as error:
        refuse(f"{path}: {error}")


def tell_left_out(skipped: Counter[str]) -> None:
    """The lines that held no call, by the reason; the five most common ones."""
    screen = console(stderr=True)
    for why, count in skipped.most_common(5):
        screen.print(f"{counted(count, 'line')} left out: {visible(why)}")


def _values(
    given: Sequence[Source], step: Callable[[int], None], found: Found, strange: StrangeKeys
) -> Iterator[Any]:
    from selfcorrect.learning.calls import is_line

    for number, line in enumerate(chain.from_iterable(each.lines() for each in given), 1):
        step(number)
        if line.error is not None:
            found.skipped[line.error.rpartition(": ")[2]] += 1
            continue
        if is_line(line.value):
            strange.see(line.where, line.value)
        yield line.where, line.value


def from_ledger(ledger: str, read: Callable[[SqlLedger], T]) -> T:
    """What is read out of a ledger's database: an SQLite file, or the DSN of a PostgreSQL one."""
    from selfcorrect.ledger import PostgresLedger, SqliteLedger

    is_dsn = "://" in ledger
    if not is_dsn and not Path(ledger).is_file():
        refuse(f"{ledger}: there is no such file")
    try:
        store = PostgresLedger(ledger) if is_dsn else SqliteLedger(ledger)
        try:
            return read(store)
        finally:
            store.close()
    except (LedgerError, MissingExtra) as error:
        refuse(f"the ledger cannot be read: {error}")
