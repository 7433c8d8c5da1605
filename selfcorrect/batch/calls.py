"""Several calls of one message: each in a loop of its own, and none at another's expense."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from selfcorrect.errors import is_control_flow
from selfcorrect.loop.context import AsyncHost, RunContext, run_sync
from selfcorrect.loop.intents import begin, settle
from selfcorrect.loop.loop import Loop
from selfcorrect.loop.walk import Walk
from selfcorrect.model import JSON
from selfcorrect.plain import as_text, digest, plain

_NOT_DONE = "The call was not done."
_TWICE = "Another call of the same message had the same id, and was not done."


@dataclass(frozen=True, slots=True)
class CallResult:
    """What became of one call: the one tool message that belongs to its id.

    Attributes:
        id: The id of the call; made up, always in the same way, where it had none.
        name: The tool that the call named.
        output: `result` or `failure`, and the `trail`.
        error: What was raised instead, where the loop raises.
        content: Text for the model.
    """

    id: str
    name: str
    output: Mapping[str, JSON] = field(default_factory=dict)
    error: Exception | None = None
    content: str = ""

    @property
    def ok(self) -> bool:
        return self.error is None and "failure" not in self.output


class _NeedsPerson(Exception):
    """A call has to ask; it waits until every other one has come to its end."""


@dataclass(slots=True)
class _One:
    """One call on its way."""

    id: str
    given: Mapping[str, Any]
    walk: Walk | None = None
    asked: list[JSON] = field(default_factory=list)
    output: Mapping[str, Any] | None = None
    error: Exception | None = None
    twice: bool = False


def run_calls(
    loop: Loop,
    calls: Sequence[Mapping[str, Any]],
    *,
    task_id: str | None = None,
    tenant: str | None = None,
    given: Mapping[str, Any] | None = None,
    ask: Callable[[JSON], JSON] | None = None,
) -> list[CallResult]:
    """Run the calls of one message one after the other, each whatever becomes of the others.

    Not the right function for a single call without a message: walk the loop.

    Args:
        loop: The loop to run them through.
        calls: `{"name", "args", "id"}` each.
        task_id: What the ids of the calls belong to, such as thread and message. With it, what
            was done is done once, also after a crash, and replayed.
        tenant: Whose policy holds.
        given: `request` and `messages`, for all of them.
        ask: Asks a person and returns the answer, or raises the host's interrupt. Then every other
            call has come to its end, and is replayed when the same calls come again. Needs a
            `task_id`.

    Returns:
        One result for each id, in the order of the calls.
    """
    context = loop.start(tenant=tenant)
    return run_sync(_run(loop, calls, context, task_id, given, ask, together=False))


async def arun_calls(
    loop: Loop,
    calls: Sequence[Mapping[str, Any]],
    *,
    task_id: str | None = None,
    tenant: str | None = None,
    given: Mapping[str, Any] | None = None,
    ask: Callable[[JSON], JSON] | None = None,
) -> list[CallResult]:
    """Like `run_calls`, all calls at the same time, for tools that are async."""
    context = loop.start(tenant=tenant, host=AsyncHost())
    return await _run(loop, calls, context, task_id, given, ask, together=True)


async def _run(
    loop: Loop,
    calls: Sequence[Mapping[str, Any]],
    context: RunContext,
    task_id: str | None,
    given: Mapping[str, Any] | None,
    ask: Callable[[JSON], JSON] | None,
    *,
    together: bool,
) -> list[CallResult]:
    ones = _distinct(calls, task_id, given or {})
    pauses = ask is not None and task_id is not None
    key = digest("calls", task_id, [[one.id, plain(one.given["call"])] for one in ones])
    if pauses:
        await _take_up(ones, loop, context, key)
    first = replace(context, ask_person=_postpone) if pauses else context
    new = [one for one in ones if one.output is None and one.walk is None]
    if together:
        await _all([_walk(one, loop, first) for one in new])
    else:
        for one in new:
            await _walk(one, loop, first)
    if pauses and ask is not None:
        await _ask_in_turn(ones, context, ask, key)
    return [_result(one) for one in ones]


def _distinct(
    calls: Sequence[Mapping[str, Any]], task_id: str | None, given: Mapping[str, Any]
) -> list[_One]:
    found: dict[str, _One] = {}
    for index, call in enumerate(calls):
        said = call.get("id")
        name = str(said) if said is not None else f"call_{digest(task_id, index, plain(call))}"
        before = found.get(name)
        if before is not None:
            before.twice = before.twice or before.given["call"] != call
            continue
        found[name] = _One(name, {**given, "call": {**call, "id": name}, "task_id": task_id})
        if said is not None:
            found[name].given = {**found[name].given, "call": call}
    return list(found.values())


def _postpone(question: JSON) -> JSON:
    raise _NeedsPerson(question)


async def _walk(one: _One, loop: Loop, context: RunContext) -> None:
    """Walk one call as far as it goes without a person."""
    one.walk = Walk(loop, one.given)
    try:
        one.output = await one.walk.run(context)
    except _NeedsPerson:
        return
    except Exception as error:
        if is_control_flow(error):
            raise
        one.error = error


async def _all(work: Sequence[Any]) -> None:
    """Run everything at the same time; nothing is left running, whatever is raised."""
    tasks = [asyncio.ensure_future(item) for item in work]
    if not tasks:
        return
    try:
        await asyncio.wait(tasks)
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        raise
    for task in tasks:
        task.result()


async def _take_up(ones: list[_One], loop: Loop, context: RunContext, key: str) -> None:
    """Go on where these calls were left when a person was asked."""
    ledger = context.ledger or context.memory
    counts: Any = {"counts": {}}
    record = await begin(ledger, key, counts, context)
    if record is None or record.status != "paused":
        return
    for one in ones:
        kept = record.value["calls"].get(one.id) or {}
        one.asked = kept.get("asked", [])
        if "output" in kept:
            one.output = kept["output"]
        elif "state" in kept:
            one.walk = Walk(loop, kept["state"], kept["node"])


async def _ask_in_turn(
    ones: list[_One], context: RunContext, ask: Callable[[JSON], JSON], key: str
) -> None:
    """Ask what is open, call after call; an interrupt finds everything else stored."""
    ledger = context.ledger or context.memory
    current: list[_One] = []

    def asking(question: JSON) -> JSON:
        answer = ask(question)
        current[0].asked.append(question)
        return answer

    try:
        for one in ones:
            # A host that re-enters hands out its answers in the order of the questions.
            for question in list(one.asked):
                ask(question)
            if one.output is not None or one.error is not None or one.walk is None:
                continue
            current[:] = [one]
            try:
                one.output = await one.walk.run(replace(context, ask_person=asking))
            except Exception as error:
                if is_control_flow(error):
                    raise
                one.error = error
    except BaseException:
        await settle(ledger, context, key, "paused", {"calls": {o.id: _kept(o) for o in ones}})
        raise
    await settle(ledger, context, key, "not_done")


def _kept(one: _One) -> dict[str, JSON]:
    kept: dict[str, JSON] = {"asked": one.asked}
    if one.output is not None:
        return kept | {"output": plain(one.output)}
    if one.walk is not None and one.error is None:
        kept |= {"state": plain(dict(one.walk.state)), "node": one.walk.node}
    return kept


def _result(one: _One) -> CallResult:
    call = one.given["call"]
    name = str(call.get("name", "")) if isinstance(call, Mapping) else ""
    output = one.output or {}
    failure = output.get("failure")
    report = getattr(one.error, "report", None)
    if failure is not None:
        content = str(failure.get("for_model") or _NOT_DONE)
    elif one.error is not None:
        content = getattr(report, "for_model", "") or "The call did not succeed."
    else:
        content = _text(output.get("result"))
    if one.twice:
        content = f"{content}\n{_TWICE}"
    return CallResult(one.id, name, output, one.error, content)


def _text(value: JSON) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return as_text(value)
