"""Who holds an intent: a process, told from every other one that has had its number."""

from __future__ import annotations

import functools
import os
import uuid
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_DEAD_STATES = ("Z", "X", "x")


@dataclass(frozen=True, slots=True)
class Holder:
    """One process, or one life of it.

    Attributes:
        id: Unique for each ledger object.
        host: Names the machine since its last start, and the space of process numbers in it; None
            where that cannot be known, and then nobody takes it for dead by its number.
        pid: The process number.
        started: When the process started, in the kernel's own count.
    """

    id: str
    host: str | None
    pid: int
    started: str | None


def this_process() -> Holder:
    """A new holder that is this process."""
    pid = os.getpid()
    started = _state_and_start(pid)
    host = _host() if started is not None else None
    return Holder(uuid.uuid4().hex, host, pid, started[1] if started else None)


def is_dead(holder: Holder) -> bool | None:
    """Whether a holder is surely gone, or surely there; None where this process cannot tell."""
    if holder.host is None or holder.started is None or holder.host != _host():
        return None
    found = _state_and_start(holder.pid)
    if found is None:
        return True if not (_PROC / str(holder.pid)).exists() else None
    state, started = found
    return started != holder.started or state in _DEAD_STATES


@functools.cache
def _host() -> str | None:
    """Machine, boot and space of process numbers; two containers never share all three."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{(_PROC / 'self/ns/pid').readlink()}"
    except (OSError, ValueError):
        return None


def _state_and_start(pid: int) -> tuple[str, str] | None:
    """State and start time of a process; a number is given out again, a start time is not."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return (fields[0], fields[19]) if len(fields) > 19 else None
