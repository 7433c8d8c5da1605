"""Policies per tenant that a running service swaps; a run keeps the one that it started with."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from selfcorrect.errors import MapError
from selfcorrect.log import sink
from selfcorrect.mapping.loading import DEFAULT, load_map, reload_map
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.policies.terminal_kinds import ToolErrorPolicy

UNSETTLED: Final = 2 * 10**9
"""Nanoseconds after a change in which another one may leave a file's time as it is."""

_Stamp = tuple[int, int, int] | None


class PolicySource:
    """The policy of each tenant, swapped by call or by editing a map; safe for threads and asyncio.

    A run asks once, when it starts, and carries what it got in its state: a swap reaches the runs
    that start after it, and no run that is under way, also not one that is resumed elsewhere.

    >>> source = PolicySource(tenants={"acme": ToolErrorPolicy.operator_safe()})
    >>> source.swap(ToolErrorPolicy.of(["internal"]))
    >>> sorted(source.policy("acme").terminal), sorted(source.policy("nobody").terminal)
    ([<ErrorKind.AUTH: 'auth'>, ...], [<ErrorKind.INTERNAL: 'internal'>])

    Args:
        default: The policy of everyone without one of their own; by default nothing ends a run.
        tenants: Policies by tenant.
        clock: Seconds that only grow; decides when a watched file is looked at again.
    """

    def __init__(
        self,
        default: ToolErrorPolicy | None = None,
        tenants: Mapping[str, ToolErrorPolicy] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._policies: dict[str | None, ToolErrorPolicy] = {
            None: _usable(ToolErrorPolicy() if default is None else default)
        }
        self._watched: dict[str | None, _Watched] = {}
        for tenant, policy in (tenants or {}).items():
            self._policies[tenant] = _usable(policy)

    def policy(self, tenant: str | None = None) -> ToolErrorPolicy:
        """The policy for a run that starts now: the tenant's own, or else the default one.

        A watched file is looked at first, where it is time to. While one thread reads a changed
        file, others get what was in force before.
        """
        if tenant not in self._policies:
            tenant = None
        watched = self._watched.get(tenant)
        if watched is not None and watched.due <= self._clock():
            self._look(tenant)
        return self._policies.get(tenant) or self._policies[None]

    def swap(self, policy: ToolErrorPolicy, tenant: str | None = None) -> None:
        """Put a policy in force for the runs that start from now on.

        A file that was watched for the tenant has no say any more.

        Raises:
            TypeError: If this is no ToolErrorPolicy.
        """
        _usable(policy)
        with self._lock:
            self._watched.pop(tenant, None)
            self._policies[tenant] = policy

    def watch(
        self,
        path: str | os.PathLike[str],
        tenant: str | None = None,
        *,
        every: float = 5.0,
        allow_code: bool = True,
    ) -> None:
        """Take the policy from the `[policy]` of a map, and again whenever the file has changed.

        The file itself has to say `terminal`, if only `[]`: of a file that is cut off above that
        line nothing else would tell. A file that turns unusable, is half-written or goes away
        leaves the policy as it is: see `fault`, and the log event `selfcorrect.policy_kept`.
        Reading a changed file takes milliseconds of the run that starts first.

        Args:
            path: The file of an error-strategy map.
            tenant: Whose policy it is; None: the default one.
            every: The file is looked at when a run starts, at most once in so many seconds.
            allow_code: Whether the map may bring Python along with `[use]`.

        Raises:
            MapError: If the file is not usable now.
        """
        file, strategies = Path(path).absolute(), load_map(DEFAULT)
        watched = _Watched(file, strategies, every, allow_code, self._clock() + every)
        watched.take()
        if watched.fault is not None:
            raise watched.fault
        with self._lock:
            self._watched[tenant] = watched
            self._policies[tenant] = watched.policy

    def forget(self, tenant: str) -> None:
        """Let a tenant have the default policy again."""
        with self._lock:
            self._watched.pop(tenant, None)
            self._policies.pop(tenant, None)

    @property
    def fault(self) -> MapError | None:
        """What is wrong with the watched files, or None; the policies before that are in force."""
        faults = [w.fault for w in list(self._watched.values()) if w.fault is not None]
        return MapError([each for fault in faults for each in fault.faults]) if faults else None

    def _look(self, tenant: str | None) -> None:
        if not self._lock.acquire(blocking=False):
            return
        try:
            watched = self._watched.get(tenant)
            now = self._clock()
            if watched is None or now < watched.due:
                return
            watched.due = now + watched.every
            before = watched.fault
            if not watched.read():
                return
            if watched.fault is None:
                self._policies[tenant] = watched.policy
        finally:
            self._lock.release()
        _tell(tenant, watched, before)


@dataclass(slots=True)
class _Watched:
    """A file, and what was last read of it."""

    path: Path
    strategies: StrategyMap
    every: float
    allow_code: bool
    due: float
    stamp: _Stamp = None
    settled: bool = False
    fault: MapError | None = None

    def read(self) -> bool:
        """Read the file if it may have changed; whether it was read."""
        stamp, settled = _stamp(self.path)
        if stamp == self.stamp and self.settled and self.fault is None:
            return False
        self.stamp, self.settled = stamp, settled
        self.take()
        return True

    def take(self) -> None:
        """Take the map of the file, or what is wrong with it."""
        new, self.fault = reload_map(self.strategies, self.path, allow_code=self.allow_code)
        own = new.documents[0]
        if self.fault is None and "terminal" not in own.content.said("policy"):
            message = "a map that is watched says which kinds of error end a run, if only []"
            self.fault = MapError([own.fault(message, key="policy.terminal")])
        if self.fault is None:
            self.strategies = new

    @property
    def policy(self) -> ToolErrorPolicy:
        """What the map says."""
        return ToolErrorPolicy.of_map(self.strategies.policy)


def _stamp(file: Path) -> tuple[_Stamp, bool]:
    """Time, size and inode of a file, and whether it last changed long enough ago to trust them."""
    try:
        found = file.stat()
    except OSError:
        return None, True
    settled = abs(time.time_ns() - found.st_mtime_ns) > UNSETTLED
    return (found.st_mtime_ns, found.st_size, found.st_ino), settled


def _usable(policy: Any) -> ToolErrorPolicy:
    if type(policy) is not ToolErrorPolicy:
        raise TypeError(f"a policy is a ToolErrorPolicy, not {policy!r:.80}")
    return policy


def _tell(tenant: str | None, watched: _Watched, before: MapError | None) -> None:
    """A log event for what a reading came to; the same fault is told once."""
    emit = sink()
    if emit is None:
        return
    values: dict[str, Any] = {"tenant": tenant, "file": str(watched.path)}
    if watched.fault is None:
        terminal = sorted(kind.value for kind in watched.policy.terminal)
        emit("selfcorrect.policy_read", {**values, "terminal": terminal})
    elif before is None or str(before) != str(watched.fault):
        emit(
            "selfcorrect.policy_kept",
            {**values, "faults": [str(fault) for fault in watched.fault.faults]},
        )
