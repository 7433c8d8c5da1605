"""Shows that a process lives: it holds a lock on a file, and the lock ends with the process."""

import sqlite3
from contextlib import closing, suppress
from glob import escape
from pathlib import Path


class Holder:
    """A locked file beside a ledger.

    Args:
        ledger: The file of the ledger.
        id: A name that no holder had before.
    """

    def __init__(self, ledger: Path, id: str) -> None:  # noqa: A002
        self.id = id
        self._file = _file(ledger, id)
        self._lock = connect(self._file)
        # The lock alone counts: no journal is left beside the file.
        self._lock.execute("pragma journal_mode = memory")
        self._lock.execute("begin immediate")

    def close(self) -> None:
        """Let go: what this holder began becomes a doubt."""
        self._lock.close()
        with suppress(OSError):
            self._file.unlink()


def is_held(ledger: Path, holder: str) -> bool:
    """Say whether a holder lives; the file of a dead one is deleted.

    Where that cannot be found out, the answer is no: a doubt is safe. The caller holds the
    ledger's lock, so that no look is taken for a holder by another look.
    """
    file = _file(ledger, holder)
    if not file.exists():
        return False
    try:
        with closing(connect(file, mode="rw", timeout=0)) as lock:
            lock.execute("begin immediate")
            with suppress(OSError):
                file.unlink()
    except sqlite3.Error as error:
        return error.sqlite_errorcode == sqlite3.SQLITE_BUSY
    return False


def sweep(ledger: Path) -> None:
    """Delete the files of dead holders; the caller holds the ledger's lock."""
    for file in ledger.parent.glob(f"{escape(ledger.name)}{_MIDDLE}*"):
        is_held(ledger, file.name.rpartition(_MIDDLE)[2])


def connect(path: Path, *, mode: str = "rwc", timeout: float = 30) -> sqlite3.Connection:
    """Open a SQLite file; the mode `rw` does not make one."""
    address = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(
        address, timeout=timeout, isolation_level=None, check_same_thread=False, uri=True
    )


_MIDDLE = "-holder-"


def _file(ledger: Path, holder: str) -> Path:
    return ledger.with_name(f"{ledger.name}{_MIDDLE}{holder}")
