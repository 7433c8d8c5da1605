"""Nothing is done twice: what a tool did on this thread stands in for it on another branch."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Final
from uuid import uuid4

from selfcorrect.errors import GraphSetupError, RemoteError, is_control_flow
from selfcorrect.model import JSON, Call
from selfcorrect.plain import copied, plain
from selfcorrect.protocols import Ledger, Record
from selfcorrect.schema.equality import call_key
from selfcorrect.tools import ToolSpec

BEGUN: Final = "begun"
DONE: Final = "done"
FAILED: Final = "failed"


@dataclass(slots=True)
class Execution:
    """One real execution of a tool that changes something.

    Attributes:
        number: Its place in the order of executions.
        key: Equal for calls that do the same.
        at: The moment that it started from.
        status: `begun` (nobody knows how it ended), `done` or `failed`.
    """

    number: int
    key: str
    tool: str
    at: int
    status: str = BEGUN
    value: JSON = None
    error: BaseException | None = None
    traceback: TracebackType | None = None

    def done(self, value: Any) -> None:
        """Keep what it returned."""
        self.status, self.value = DONE, copied(plain(value))


@dataclass(slots=True)
class Executions:
    """What the tools of a thread did, and which of it stands in during the next step."""

    made: list[Execution] = field(default_factory=list)
    at: int = 0
    line: Collection[int] = ()
    used: Collection[int] = ()
    really: bool = False
    fresh: bool = False
    last_used: int | None = None

    def arm(
        self,
        at: int,
        line: Collection[int],
        used: Collection[int],
        *,
        really: bool,
        fresh: bool,
    ) -> None:
        """Say where the next step starts.

        Args:
            at: The moment that it starts from.
            line: The moments of its branch; what was executed before, on this branch, does not
                stand in: whether it may run again is the loop's own decision.
            used: Executions that already stood in on this branch.
            really: A person wants a second execution.
            fresh: The tool is called whatever the ledger knows; for tools that only read.
        """
        self.at, self.line, self.used, self.really = at, line, used, really
        self.fresh = really or fresh
        self.last_used = None

    def stored(self, call: Call) -> Execution | None:
        """What stands in for this call now, if anything does."""
        if self.really:
            return None
        before = set(self.line) - {self.at}
        key = call_key(call)
        return next(
            (
                made
                for made in self.made
                if made.key == key and made.at not in before and made.number not in self.used
            ),
            None,
        )

    def begin(self, call: Call) -> Execution:
        """Note that a tool is about to be called."""
        number = self.made[-1].number + 1 if self.made else 0
        execution = Execution(number, call_key(call), call.name, self.at)
        self.made.append(execution)
        return execution

    @contextmanager
    def calling(self, call: Call) -> Iterator[Execution]:
        """Note that a tool is called, and what it raised.

        Where its host stepped in, it is run again from its top.
        """
        execution = self.begin(call)
        try:
            yield execution
        except Exception as error:
            if is_control_flow(error) or isinstance(error, GraphSetupError):
                self.made.remove(execution)
            else:
                execution.status, execution.error = FAILED, error
                execution.traceback = error.__traceback__  # whence it came says what was done
            raise

    def known(self, at: int, call: Call, status: str, value: JSON, error: Exception | None) -> None:
        """Note what an earlier process did, as the checkpoints tell it."""
        self.at = at
        execution = self.begin(call)
        execution.status, execution.value, execution.error = status, value, error


class OutcomeUnknown(GraphSetupError):
    """A tool was begun and nobody knows how it ended; only a person may have it called again."""


def guarded(tools: Mapping[str, ToolSpec], executions: Executions) -> Mapping[str, ToolSpec]:
    """The tools, so that those that change something answer from what is stored where it is."""
    return {
        name: tool if tool.effect == "read_only" else _guarded(tool, executions)
        for name, tool in tools.items()
    }


def _guarded(tool: ToolSpec, executions: Executions) -> ToolSpec:
    def parted(args: dict[str, Any]) -> tuple[Call, str | None]:
        """The call, and the idempotency key that came with its arguments."""
        own = dict(args)
        key = own.pop(tool.takes_key, None) if tool.takes_key is not None else None
        # A second execution that a person wants must not be taken for the first one.
        return Call(tool.name, own), None if executions.really else key

    def run(args: dict[str, Any], call_id: str | None) -> Any:
        call, key = parted(args)
        if (found := executions.stored(call)) is not None:
            return _answer(executions, found)
        with executions.calling(call) as execution:
            value = tool.run(call.args, call_id, key)
            execution.done(value)
        return value

    async def arun(args: dict[str, Any], call_id: str | None) -> Any:
        call, key = parted(args)
        if (found := executions.stored(call)) is not None:
            return _answer(executions, found)
        with executions.calling(call) as execution:
            value = await tool.arun(call.args, call_id, key)
            execution.done(value)
        return value

    # The inner tool keeps the time itself.
    return replace(tool, timeout=None, _run=run, _arun=arun)


class ForkLedger:
    """The loop's ledger, which a second execution that a person wants does not meet."""

    def __init__(self, inner: Ledger, executions: Executions) -> None:
        self._inner = inner
        self._executions = executions
        self._again: dict[str, str] = {}
        self.blocks = getattr(inner, "blocks", True)

    def begin(self, key: str) -> Record | None:
        """Write an intent; a second execution is an intent of its own."""
        self._again.pop(key, None)
        if self._executions.fresh:
            self._again[key] = f"{key}/{uuid4().hex}"
        return self._inner.begin(self._again.get(key, key))

    def settle(self, key: str, status: str, value: JSON = None) -> None:
        """Write what came of the intent."""
        self._inner.settle(self._again.get(key, key), status, value)

    def sign(self, key: str, by: str) -> None:
        """Keep who answered, where the loop's ledger can."""
        if (inner := getattr(self._inner, "sign", None)) is not None:
            inner(self._again.get(key, key), by)


def _answer(executions: Executions, found: Execution) -> Any:
    executions.last_used = found.number
    if found.status == BEGUN:
        raise OutcomeUnknown(
            f"{found.tool} was begun with these arguments, and nobody knows how it ended: confirm"
            " a second execution, or go on without it"
        )
    if found.error is not None:
        raise found.error.with_traceback(found.traceback)
    return copied(found.value)


def stored_error(attempt: Mapping[str, Any], findings: Sequence[Any]) -> Exception:
    """An exception that reads as the one that an earlier process saw."""
    first = findings[0] if findings and isinstance(findings[0], Mapping) else {}
    names = [str(name) for name in first.get("types") or ()] or [
        str(attempt.get("type") or "Error")
    ]
    base = next((kind for name in names if (kind := _built_in(name)) is not None), Exception)
    module, _, name = names[0].rpartition(".")
    text = str(first.get("text") or attempt.get("text") or "")
    try:
        made = type(name or "Error", (base,), {"__module__": module or "builtins"})
        error: Exception = made(text)
    except TypeError:
        error = RemoteError(name, text)
    if isinstance(first.get("status"), int):
        error.status_code = first["status"]  # type: ignore[attr-defined]
    return error


def _built_in(name: str) -> type[Exception] | None:
    import builtins

    kind = getattr(builtins, name.rpartition(".")[2], None)
    return kind if isinstance(kind, type) and issubclass(kind, Exception) else None
