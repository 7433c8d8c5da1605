"""`ledger`: what tools that act have done, what is in doubt, and who settled it."""

import argparse
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from selfcorrect.cli.screen import InputError, say_json
from selfcorrect.effects import Outcome
from selfcorrect.effects.again import Record, in_doubt
from selfcorrect.errors import LedgerError, unknown_name
from selfcorrect.model import JsonDict
from selfcorrect.protocols import Ledger
from selfcorrect.reading.call_object import strict_json
from selfcorrect.text import quote, release

_OUTCOMES = {
    "done": Outcome.DONE,
    "not-done": Outcome.NOT_DONE,
    "again": Outcome.NOT_DONE,
}
"""What a person says of a doubt; `again`: it may be made again, whether or not it was done."""


def show_ledger(options: argparse.Namespace) -> int:
    """Print calls as JSON lines, oldest first; or settle a doubt, and print it."""
    with closing(open_ledger(options.ledger)) as ledger:
        if options.settle is not None:
            records = [_settle(options, ledger)]
        else:
            records = ledger.records(doubts=options.doubts)
        for record in records:
            say_json(record_line(record))
    return 0


def _settle(options: argparse.Namespace, ledger: Ledger) -> Record:
    """Write what a person has found out; return the call."""
    (key, word), by = options.settle, options.by
    if word not in _OUTCOMES:
        raise InputError(unknown_name("outcome", word, _OUTCOMES))
    if not by:
        raise InputError("--by NAME is missing: who has found out?")
    doubts = [record.key for record in ledger.records(doubts=True)]
    if key not in doubts:
        raise InputError(unknown_name("key of a doubt", key, doubts))
    ledger.settle(key, _OUTCOMES[word], by=f"{by}, to be made again" if word == "again" else by)
    return next(record for record in ledger.records() if record.key == key)


def open_ledger(address: str) -> Any:
    """Open an existing ledger: a SQLite file, or the address of a PostgreSQL database.

    Raises:
        LedgerError: If there is none.
    """
    file = Path(address)
    if not _is_url(address) and not (file.is_file() and file.stat().st_size):
        # The address is not repeated: it may hold a password.
        raise LedgerError("there is no such ledger; give its file, or postgresql://user@host/name")
    return ledger_at(address)


def ledger_at(address: str) -> Any:
    """Open a ledger; a SQLite file is made where there is none."""
    if _is_url(address):
        from selfcorrect.ledger.postgres import PostgresLedger

        return PostgresLedger(address)
    from selfcorrect.ledger.sqlite import SqliteLedger

    return SqliteLedger(address)


def _is_url(address: str) -> bool:
    return address.startswith(("postgresql://", "postgres://"))


_SHOWN = ("key", "tool", "status", "thread", "call_id", "request", "by")


def record_line(record: Record) -> JsonDict:
    """Return what a person wants to know of a call."""
    line: JsonDict = {
        **{name: getattr(record, name) for name in _SHOWN},
        "is_running": record.alive,
        "in_doubt": in_doubt(record) and not record.alive,
        "since": datetime.fromtimestamp(record.time, UTC).isoformat(timespec="seconds"),
        "call": record.about,
        "value": strict_json(quote(record.value, 1_000)),
    }
    return {
        name: release(item) if isinstance(item, str) else item
        for name, item in line.items()
        if item not in (None, "", False)
    }
