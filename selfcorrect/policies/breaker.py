"""A circuit breaker: while a service fails, its calls are held back, but one at a time.

Each service has a circuit. It opens after so many failures in a row, or a share of the calls of
late. While it is open no call is made, but one each pause, to find out; if that one succeeds, the
circuit closes. All workers on a ledger share the circuits, so that exactly one of them finds out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from typing import Final

from selfcorrect.mapping.document import MapBreaker
from selfcorrect.mapping.matching import takes
from selfcorrect.model import ErrorKind
from selfcorrect.policies.sharing import Shared, Step
from selfcorrect.protocols import Board

_HALF_LIFE: Final = 30.0


@dataclass(frozen=True, slots=True)
class Circuit:
    """What is known of one service.

    Attributes:
        calls: Its calls of late; one that is 30 seconds old counts half.
        failures: Those that failed.
        row: Failures in a row.
        at: When the calls were counted last, in seconds.
        opened: How often it has opened.
        until: While it is open, when the next call may be made to find out.
    """

    calls: float = 0.0
    failures: float = 0.0
    row: int = 0
    at: float = 0.0
    opened: int = 0
    until: float | None = None

    def noted(self, *, ok: bool, probe: int | None, now: float, said: MapBreaker) -> Circuit:
        """After a call; `probe` is the opening that it was to find out about, if any."""
        if self.until is not None:
            if probe != self.opened:
                return self  # it was made before the circuit opened
            if ok:
                return Circuit(at=now, opened=self.opened)
            return replace(self, until=max(self.until, now + said.pause))
        kept = 0.5 ** (max(0.0, now - self.at) / _HALF_LIFE)
        calls, failures = self.calls * kept + 1, self.failures * kept + (not ok)
        # An answer that another worker tells late, and got before the last failure, ends no row.
        row = self.row + 1 if not ok else self.row if now < self.at else 0
        counted = Circuit(calls, failures, row, max(now, self.at), self.opened)
        share = calls >= said.calls and failures >= said.ratio * calls
        if ok or not (share or row >= said.failures):
            return counted
        return replace(counted, opened=self.opened + 1, until=now + said.pause)

    def returned(self, *, due: float, now: float) -> Circuit:
        """After a call that was to find out, and then was not made: the next one may."""
        return replace(self, until=now) if self.until == due else self

    def asked(self, now: float, said: MapBreaker) -> tuple[Circuit, Admission]:
        """What becomes of a call that is to be made; one that finds out has the next pause."""
        if self.until is None:
            return self, Admission()
        left = self.until - now
        if 0 < left <= 2 * said.pause:  # else a clock was set back
            return self, Admission(wait=left)
        due = now + said.pause
        return replace(self, until=due), Admission(probe=self.opened, due=due)


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether a call may be made.

    Attributes:
        wait: Seconds for which it may not; 0: it may.
        probe: The opening of the circuit that it is to find out about, if any.
        due: When the next one may find out, by the board's clock.
        service: Whose circuit it is.
    """

    wait: float = 0.0
    probe: int | None = None
    due: float | None = None
    service: str = ""


class Breaker:
    """The circuits of all services that a loop's tools use. Safe for threads.

    A service is what an error names as its host, else the tool. A tool whose errors name several
    hosts has none of its own: nobody knows before a call which one it will use.

    Args:
        said: What the map says.
        board: Where the circuits stand.
    """

    def __init__(self, said: MapBreaker, board: Board) -> None:
        self._said = said
        self.board = board
        self._circuits: dict[str, Shared[Circuit]] = {}
        self._hosts: dict[str, set[str]] = {}
        self._lock = Lock()

    def guards(self, tool: str) -> bool:
        """Whether calls of this tool may be held back."""
        return takes(self._said.tools, tool)

    def is_failure(self, kind: ErrorKind) -> bool:
        """Whether errors of a kind are failures of a service."""
        return kind in self._said.kinds

    def admit(self, tool: str, now: float) -> Admission:
        """Whether a call of a tool may be made now.

        Args:
            tool: The tool.
            now: Seconds on a clock that only grows.
        """
        may = (self._service_of(tool), f"tool:{tool}")
        shut = (each for each in may if self._circuit(each).seen(now)[0].until is not None)
        service = next(shut, may[0])
        circuit = self._circuit(service)
        seen, then = circuit.seen(now)
        _, found = seen.asked(then, self._said)
        if found.probe is not None:  # one worker alone finds out: the board says which
            found = circuit.decide(lambda known, at: known.asked(at, self._said), now)
        return replace(found, service=service)

    def told(
        self, tool: str, made: Admission, now: float, *, ok: bool | None, host: str | None = None
    ) -> None:
        """What became of a call that was admitted.

        Args:
            tool: The tool.
            made: What `admit` said of it.
            now: Seconds on a clock that only grows.
            ok: Whether the service answered; None where that is not known.
            host: The host that the error names, if it failed.
        """
        service = made.service if ok else None if ok is None else self._failed(tool, host)
        if made.probe is not None and service != made.service:
            self._note(made.service, ok=False, probe=made.probe, now=now)
        if service is not None:
            probe = made.probe if service == made.service else None
            self._note(service, ok=bool(ok), probe=probe, now=now)
        if ok and service != (own := f"tool:{tool}"):
            self._note(own, ok=True, probe=None, now=now)

    def returned(self, made: Admission, now: float) -> None:
        """A call that was admitted is not made after all."""
        if (due := made.due) is not None:
            self._change(made.service, lambda known, at: known.returned(due=due, now=at), now)

    def _failed(self, tool: str, host: str | None) -> str | None:
        """Whose failure it was; None where nobody could have known before the call."""
        if host is None:  # nobody knows that it was its host's
            return f"tool:{tool}"
        with self._lock:
            known = self._hosts.setdefault(tool, set())
            if len(known) < 2:
                known.add(host)
            return f"host:{host}" if len(known) == 1 else None

    def _note(self, service: str, *, ok: bool, probe: int | None, now: float) -> None:
        said = self._said
        self._change(
            service, lambda known, at: known.noted(ok=ok, probe=probe, now=at, said=said), now
        )

    def _change(self, service: str, step: Step[Circuit], now: float) -> None:
        # The others have to know at once when a circuit opens, closes or is about to be tried.
        self._circuit(service).change(step, now, lambda before, after: before.until != after.until)

    def _service_of(self, tool: str) -> str:
        with self._lock:
            known = self._hosts.get(tool, ())
            return f"host:{next(iter(known))}" if len(known) == 1 else f"tool:{tool}"

    def _circuit(self, service: str) -> Shared[Circuit]:
        with self._lock:
            found = self._circuits.get(service)
            if found is None:
                found = self._circuits[service] = Shared(self.board, f"circuit:{service}", Circuit)
            return found
