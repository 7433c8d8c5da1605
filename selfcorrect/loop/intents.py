"""The intent of one execution: written before the tool is called, settled after it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from selfcorrect.effects import Outcome, acts, may_call_again
from selfcorrect.errors import LedgerError, is_control_flow
from selfcorrect.json_forms import call_from_json, finding_to_json
from selfcorrect.kernel import memory
from selfcorrect.kernel.outcomes import verified
from selfcorrect.kernel.texts import excerpt
from selfcorrect.limits import remaining
from selfcorrect.loop.answers import all_who_answered
from selfcorrect.loop.context import RunContext
from selfcorrect.loop.failures import fingerprint, noted
from selfcorrect.loop.progress import stopped
from selfcorrect.model import ABSENT, JSON, Call, Finding, Result
from selfcorrect.plain import copied, digest
from selfcorrect.protocols import Ledger, Record
from selfcorrect.schema.equality import call_key, normal_form
from selfcorrect.state import CorrectionState

if TYPE_CHECKING:
    from selfcorrect.tools import ToolSpec

_FIRST_LOOK: Final = 0.02
_LONGEST_LOOK: Final = 0.25
_LONGEST_WAIT: Final = 300.0
_VERIFY_SECONDS: Final = 30.0
_MOST_LOST: Final = 1_000
_LONGEST_TOLD: Final = 300
LIFTED: Final = "lifted"
"""What a person let equals of be made: it stays unknown for itself."""


@dataclass(frozen=True)
class Intent:
    """A call that is to be executed, as it is written down.

    Attributes:
        state: Of the run.
        context: Of the run.
        call: The call.
        tool: The tool that it names.
    """

    state: CorrectionState
    context: RunContext
    call: Call
    tool: ToolSpec

    @cached_property
    def ledger(self) -> Ledger | None:
        """The ledger of this run: the caller's; without one, memory, where a run can come again."""
        return ledger_of(self.state, self.context)

    @cached_property
    def scope(self) -> str:
        """The same for equal calls of one thread (else one task, one step of a host's).

        Of a tool whose effect nobody declared, what is in doubt is so until a person's next
        message. Empty where none of these is known: nothing then says that two calls are one.
        """
        given, context, equal = self.state["given"], self.context, call_key(self.call, self.tool)
        turn = None if self.tool.declared else context.person or _last_of_a_person(given)
        return memory.doubt(context.thread, given.get("task_id"), context.step, turn, equal)

    @cached_property
    def key(self) -> str:
        """The ledger's key: the same origin and call id with equal arguments is one intent.

        Empty where nobody asks for it.
        """
        if self.ledger is None and not self.tool.takes_key and not self.tool.verify:
            return ""
        given, scope = self.state["given"], ""
        task = given.get("task_id")
        if acts(self.tool):  # what others answer twice may have changed in between
            task = task or given.get("origin")
            scope = self.scope
        equal = call_key(self.call, self.tool)
        own = memory.identity(task or self.state["run"], self.call.id, equal)
        return f"{scope}:{own}" if scope else own

    def first_keys(self) -> tuple[str, ...]:
        """The keys under which version 0.1 may have written an equal call, as it was written."""
        call, schema = self.call, self.tool.schema
        known = schema.get("properties") or {}
        filled: Any = normal_form(call.args, schema)
        defaults: Any = normal_form({}, schema)
        bare = {key: value for key, value in filled.items() if defaults.get(key, ABSENT) != value}
        exact = [
            {key: _as_number(value, known.get(key)) for key, value in form.items()}
            for form in (filled, bare)
        ]
        forms = (call.args, filled, bare, *exact)
        task = self.state["given"].get("task_id") or self.state["run"]
        return tuple(dict.fromkeys(digest(task, call.id, call.name, form) for form in forms))

    @property
    def about(self) -> str:
        """Whose call it is, for the person who settles it: nothing of its arguments."""
        thread, task = self.context.thread, self.state["given"].get("task_id")
        whose = f"task {task}" if thread is None else f"thread {thread}"
        return excerpt(f"{self.call.name}, {whose}, call {self.call.id}", _LONGEST_TOLD)

    def where(self, key: str) -> str:
        """Where a person finds a call that is in doubt, if the ledger lets them settle it."""
        is_kept = key and hasattr(self.ledger, "settle_doubt")
        return f" (in the ledger: {idempotency_key(key)})" if is_kept else ""

    @property
    def _doubtful(self) -> Any:
        """Where calls in doubt are remembered: in the ledger, if it can say so, else in memory."""
        return self.ledger if hasattr(self.ledger, "doubts") else self.context.memory

    async def begin(self, ledger: Ledger) -> Any:
        """Write the intent, and wait while somebody else is at it.

        Returns:
            The ledger's record: None to go on, `held` where waiting took too long.

        Raises:
            LedgerError: If the ledger cannot be used.
        """
        context, own_key = self.context, _key_in(ledger, self.key)
        left = remaining(self.state["counts"], context.limits)
        most = _LONGEST_WAIT if left is None else min(_LONGEST_WAIT, left)
        waited, pause = 0.0, _FIRST_LOOK
        first = getattr(ledger, "of_first_version", None)
        while True:
            record, cut = None, None
            if first is not None:
                record, cut = await context.ask_store(ledger, first, self.first_keys())
            if cut is None and _is_ours(record):
                # What the first version left in doubt is told by its row until this is settled.
                old, told = record, (self.about,) if hasattr(ledger, "settle_doubt") else ()
                record, cut = await context.ask_store(ledger, ledger.begin, own_key, *told)
                record = old if record is None else record
            if cut is None and _is_ours(record):
                cut = await self._sign(ledger, own_key)
            if cut is not None:
                if record is None:
                    await context.ask_store(ledger, ledger.settle, own_key, "not_done")
                elif _is_ours(record):
                    await settle(ledger, context, self.key, "unknown", lost_value(record))
                raise cut
            if record is None or record.status != "held" or waited >= most:
                return record
            await context.host.sleep(context.time, pause)
            waited += pause
            pause = min(pause * 1.5, _LONGEST_LOOK)

    async def _sign(self, ledger: Ledger, own_key: str) -> BaseException | None:
        """Keep who answered, where the ledger can; the cancellation that came meanwhile.

        What it cannot write stands in the trail as well: nothing is held up for it.
        """
        by, sign = all_who_answered(self.state.get("trail")), getattr(ledger, "sign", None)
        if by is None or sign is None:
            return None

        def write() -> None:
            with suppress(LedgerError):
                sign(own_key, by)

        return (await self.context.ask_store(ledger, write))[1]

    async def doubts(self) -> list[str]:
        """Keys of equal calls that may have been done already, its own among them.

        Raises:
            LedgerError: If the ledger cannot be read.
        """
        store, kept, context = self._doubtful, self.state.get("lost") or {}, self.context
        if not acts(self.tool) or (not kept and getattr(store, "is_sure", False)) or not self.scope:
            return []
        keys = {str(kept[self.scope]["key"])} if self.scope in kept else set()
        status_of = getattr(store, "status_of", None)
        # A person may have told the ledger, which tells neither threads nor conversations.
        told = await context.of_store(store, status_of, *keys) if keys and status_of else None
        keys = set() if told in (LIFTED, "not_done") else keys
        places = [replace(self, context=replace(context, thread=each)) for each in context.earlier]
        for each in (self, *places):
            keys |= set(await context.of_store(store, store.doubts, each.scope))
        return sorted(keys)

    def remember(self, key: str) -> dict[str, Any]:
        """Note that the call may have been done; what changes in the state."""
        scope = self.scope
        if not scope:
            return {}
        key = key or f"{scope}:{digest(self.state['run'], self.call.id)}"
        if not hasattr(self.ledger, "doubts"):
            self.context.memory.settle(key, "unknown")
        kept = dict(self.state.get("lost") or {})
        kept.pop(scope, None)
        while len(kept) >= _MOST_LOST:
            kept.pop(next(iter(kept)))
        return {"lost": {**kept, scope: {"key": key, "tool": self.call.name}}}

    async def verified_doubt(self, key: str) -> Result | Outcome:
        """What the tool finds out of an equal call that is in doubt, as `verified` says it.

        Raises:
            LedgerError: If the ledger cannot be used.
        """
        if self.tool.verify is None:
            return verified(None, over=False)
        store, context = self._doubtful, self.context
        found, cut = await context.ask_store(store, store.begin, key)
        record: Record = found or Record("unknown")
        held = _is_ours(record)
        try:
            if cut is not None:
                raise cut
            if not held:
                return verified(None, over=False)
            # One that was lost sight of may still act: then "not done" is no answer that will stay.
            return await self.verified(key, over=not record.lost)
        finally:
            if held:
                await settle(store, context, key, "unknown", lost_value(record))

    async def forget(self, keys: Sequence[str], status: str) -> dict[str, Any]:
        """Note that what was in doubt is settled: it was not done, or is to be done again."""
        store, context = self._doubtful, self.context
        for key in keys:
            record, cut = await context.ask_store(store, store.begin, key)
            if _is_ours(record):
                await settle(store, context, key, status)
            if cut is not None:
                raise cut
        lost = dict(self.state.get("lost") or {})
        return {"lost": lost} if lost.pop(self.scope, None) is not None else {}

    async def verified(self, key: str, *, over: bool) -> Result | Outcome:
        """What the tool finds out of an execution that is in doubt; `LOST` where it cannot tell.

        Args:
            key: The key of the intent.
            over: Whether the execution is surely over, so that "not done" will stay true.
        """
        if self.tool.verify is None:
            return verified(None, over=False)
        try:
            found = await self._verdict(idempotency_key(key))
        except Exception as error:
            if is_control_flow(error):
                raise
            found = None
        return found if isinstance(found, Result) else verified(found, over=over)

    async def _verdict(self, key: str) -> Any:
        verify: Any = self.tool.verify
        args, seconds = copied(self.call.args), self.tool.timeout or _VERIFY_SECONDS

        def ask() -> Any:
            return verify(args, key)

        if inspect.iscoroutinefunction(verify):
            return await _within(ask(), seconds)
        from selfcorrect.tools.deadlines import in_time

        found, cut = await self.context.host.off_loop(in_time, ask, seconds, self.tool.name)
        if cut is not None:
            raise cut
        return await _within(found, seconds) if inspect.isawaitable(found) else found


def idempotency_key(key: str) -> str:
    """What a tool gets of an intent's key: nothing of the thread."""
    return key.rpartition(":")[2]


def _key_in(ledger: Ledger, key: str) -> str:
    """What a ledger gets of it: one that knows no scopes must not tell threads apart."""
    return key if hasattr(ledger, "doubts") else idempotency_key(key)


def _last_of_a_person(given: Mapping[str, Any]) -> str | None:
    """What marks the last message of a person in what came with a call."""
    for message in reversed(given.get("messages") or ()):
        if isinstance(message, Mapping) and _PERSON & {message.get("type"), message.get("role")}:
            return digest(message.get("id") or message.get("content"))
    return digest(given["request"]) if given.get("request") else None


_PERSON: Final = frozenset({"human", "user"})


def _as_number(value: JSON, schema: Any) -> JSON:
    asked = isinstance(schema, Mapping) and schema.get("type") == "number"
    return float(value) if asked and type(value) is int else value


def ledger_of(state: CorrectionState, context: RunContext) -> Ledger | None:
    """The ledger of this run: the caller's; without one, memory, where a run can come again."""
    if context.ledger is not None:
        return context.ledger
    comes_again = bool({"task_id", "origin"} & state["given"].keys())
    return context.memory if comes_again or context.ask_person else None


def _is_ours(record: Record | None) -> bool:
    """Whether who asked holds the intent now."""
    return record is None or record.status not in ("held", "done")


async def settle(
    ledger: Ledger | None, context: RunContext, key: str, status: str, value: JSON = None
) -> str | None:
    """Write what came of an intent; why it could not be written, or None.

    What cannot be written stays in doubt, and the run goes on with what it knows.
    """
    if ledger is None or not key:
        return None
    try:
        await context.of_store(ledger, ledger.settle, _key_in(ledger, key), status, value)
    except LedgerError as error:
        return str(error)
    return None


def settle_now(ledger: Ledger | None, key: str, status: str) -> None:
    """The same, where nothing can be awaited any more."""
    if ledger is not None and key:
        try:
            ledger.settle(_key_in(ledger, key), status)
        except LedgerError:
            return


def lost_value(record: Record) -> JSON:
    """What is stored with `unknown`, so that a holder that was lost sight of stays so."""
    return {"lost": True} if record.lost else None


async def _within(work: Awaitable[Any], seconds: float) -> Any:
    try:
        asyncio.current_task()
    except RuntimeError:
        return await work
    return await asyncio.wait_for(work, seconds)


def held_until(context: RunContext, wait: float | None = None) -> float:
    """Until when an equal call is held back: the wait that the tool named, else the longest."""
    return context.time.now().timestamp() + (wait or context.limits.wait)


def failed_before(state: CorrectionState, context: RunContext) -> tuple[str | None, dict[str, Any]]:
    """The task of a run, and what failed in it and in its thread, by call."""
    task: Any = state["given"].get("task_id")
    return task, {**context.failures.of(task), **(state.get("failed") or {})}


async def concluded(
    state: CorrectionState,
    context: RunContext,
    findings: Sequence[Finding],
    attempts: list[dict[str, Any]],
    outcome: Outcome,
) -> dict[str, Any]:
    """Settle the intent of an execution that failed, and remember how.

    Returns:
        What changes in the state: the attempts, the failures of the thread, and what bars the tool
        from being called again by the run.
    """
    error, call = state["error"] or {}, call_from_json(state["current"])
    ledger, key = ledger_of(state, context), error.get("intent") or ""
    update: dict[str, Any] = {"attempts": attempts}
    tool = context.tools.get(call.name)
    is_kept = tool is not None and acts(tool) and attempts and outcome is Outcome.REFUSED
    told = {"error": error, "attempt": attempts[-1]} if is_kept else None
    await settle(ledger, context, key, _STATUS[outcome], told)
    if tool is not None and not may_call_again(outcome, tool.effect):
        if attempts:
            attempts[-1]["outcome"] = "refused" if outcome is Outcome.REFUSED else "unknown"
        if outcome is Outcome.REFUSED:
            detail = f"the tool is {tool.effect} and refused: it is not called again by itself"
            return update | {"barred": {"reason": "refused", "detail": detail}}
        detail = f"the tool is {tool.effect} and broke off: nobody knows whether it acted"
        if outcome is Outcome.DONE:
            detail = f"the tool is {tool.effect} and acted, but its result is lost"
        this = Intent(state, context, call, tool)
        detail += this.where(key)
        return update | this.remember(key) | stopped("unknown_outcome", detail)
    if attempts and not attempts[-1].get("retryable"):
        failed_key = attempts[-1].get("key")
        if not any(item.get("key") == failed_key for item in attempts[:-1]):
            task, past = failed_before(state, context)
            shown = [finding_to_json(item) for item in findings]
            until = held_until(context, attempts[-1].get("retry_after"))
            failed = noted(past, str(failed_key), fingerprint(findings), shown, until)
            context.failures.keep(task, failed)
            update["failed"] = failed
    return update


_STATUS: Final = {
    Outcome.NOT_DONE: "not_done",
    Outcome.REFUSED: "refused",
    Outcome.LOST: "unknown",
    Outcome.DONE: "unknown",
}
"""What the ledger keeps of an execution that failed."""
