"""What may be called again, cell by cell; replay, doubt, verification and idempotency keys."""

from __future__ import annotations

import asyncio
import threading
from typing import Annotated, Any

import pytest
from langchain_core.tools import InjectedToolArg, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from selfcorrect import NotDone, Result, ToolSpec, build_graph
from selfcorrect.effects import EFFECTS, MAY_CALL_AGAIN, Outcome, may_call_again
from selfcorrect.errors import LedgerError, ToolDefinitionError
from selfcorrect.ledger import MemoryLedger, SqliteLedger
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import awalk, walk
from selfcorrect.testing import VirtualTime
from selfcorrect.testing.faults import Fault
from selfcorrect.testing.world import World
from selfcorrect.tools.deadlines import StillRunning

CALL = {"call": {"name": "act", "args": {"item": "a"}, "id": "c1"}, "task_id": "t"}

TABLE = """
              read_only idempotent mutating destructive
    not_done  yes       yes        yes      yes
    refused   yes       yes        no       no
    lost      yes       yes        no       no
    done      yes       yes        no       no
"""
CELLS = [
    (Outcome(line.split()[0]), effect, word == "yes")
    for line in TABLE.strip().splitlines()[1:]
    for effect, word in zip(EFFECTS, line.split()[1:], strict=True)
]


@pytest.mark.parametrize(("outcome", "effect", "again"), CELLS)
def test_the_table(outcome, effect, again):
    assert may_call_again(outcome, effect) is again


def test_the_table_is_whole():
    assert {(outcome, effect) for outcome, effect, _ in CELLS} == set(MAY_CALL_AGAIN)


FAULT_OF = {
    Outcome.NOT_DONE: Fault.NOT_DONE,
    Outcome.REFUSED: Fault.RATE_LIMIT,
    Outcome.LOST: Fault.TIMEOUT_AFTER,
}
REASON_OF = {Outcome.REFUSED: ("refused", "refused"), Outcome.LOST: ("unknown_outcome", "unknown")}


@pytest.mark.parametrize(
    ("outcome", "effect", "again"), [cell for cell in CELLS if cell[0] in FAULT_OF]
)
def test_the_table_in_a_run(outcome, effect, again):
    world = World()
    spec = world.tool("act", effect=effect, faults=iter([FAULT_OF[outcome]]))
    out = walk(assemble([spec], Options(time=world.time)), CALL)
    assert len(world.executions) == (2 if again else 1)
    if again:
        assert out["result"] == {"item": "a", "count": 1}
        return
    failure = out["failure"]
    reason, said = REASON_OF[outcome]
    assert failure["reason"] == reason
    assert [attempt["outcome"] for attempt in failure["attempts"]] == [said]
    if outcome is Outcome.LOST:
        assert "Do not repeat it: nobody knows whether it was done." in failure["for_model"]
        assert any("Find out whether the tool acted" in line for line in failure["advice"])


def run_twice(spec: ToolSpec, ledger: Any, time: VirtualTime | None = None) -> list[dict[str, Any]]:
    """Two loops on one ledger: the second resumes what the first has begun."""
    return [walk(assemble([spec], Options(ledger=ledger, time=time)), CALL) for _ in range(2)]


def test_what_is_done_is_replayed():
    world = World()
    first, second = run_twice(world.tool("act"), MemoryLedger())
    assert first["result"] == second["result"]
    assert second["trail"][-1]["replayed"] is True
    assert world.done("act", "a") == 1


def test_a_changed_call_is_another_intent():
    world, ledger = World(), MemoryLedger()
    loop = assemble([world.tool("act")], Options(ledger=ledger))
    walk(loop, CALL)
    walk(loop, {**CALL, "call": {"name": "act", "args": {"item": "b"}, "id": "c1"}})
    walk(loop, {**CALL, "task_id": "another"})
    walk(loop, {**CALL, "call": {**CALL["call"], "id": "c2"}})
    assert len(world.executions) == 4


def test_a_doubt_stays_a_doubt_for_everybody_who_comes_later():
    world, ledger = World(), MemoryLedger()
    spec = world.tool("act", faults=iter([Fault.TIMEOUT_BEFORE]))
    for out in [*run_twice(spec, ledger), *run_twice(spec, ledger)]:
        assert out["failure"]["reason"] == "unknown_outcome"
    assert len(world.executions) == 1


def test_after_a_doubt_no_changed_call_runs_either():
    world = World()

    def change(call, diagnosis, context):
        from selfcorrect import Change, Changed, Safety

        return Changed(Change("/args/item", "a", "b", Safety.EXACT, "another one"))

    spec = world.tool("act", faults=iter([Fault.TIMEOUT_AFTER]), on_error=change)
    out = walk(assemble([spec]), CALL)
    assert out["failure"]["reason"] == "unknown_outcome"
    assert len(world.executions) == 1


# --- verification ---------------------------------------------------------------------------------


def outcome_of_verification(found, fault, effect="mutating"):
    world, asked = World(), []

    def verify(args, key):
        asked.append((args, key))
        if isinstance(found, Exception):
            raise found
        return found

    spec = world.tool("act", effect=effect, faults=iter([fault]), verify=verify)
    out = walk(assemble([spec], Options(ledger=MemoryLedger(), time=world.time)), CALL)
    return out, world, asked


def test_verified_as_done():
    out, world, asked = outcome_of_verification(Result("booked"), Fault.TIMEOUT_AFTER)
    assert out["result"] == "booked"
    assert out["trail"][-1]["verified"] is True
    assert world.done("act", "a") == len(world.executions) == 1
    assert asked[0][0] == {"item": "a"}
    assert len(asked[0][1]) == 24


def test_verified_as_not_done():
    out, world, _ = outcome_of_verification(Outcome.NOT_DONE, Fault.TIMEOUT_BEFORE)
    assert out["result"] == {"item": "a", "count": 1}
    assert len(world.executions) == 2
    assert world.done("act", "a") == 1


@pytest.mark.parametrize("found", [None, True, "done", Outcome.DONE, OSError("away")])
def test_any_other_answer_leaves_the_doubt(found):
    out, world, _ = outcome_of_verification(found, Fault.TIMEOUT_AFTER)
    assert out["failure"]["reason"] == "unknown_outcome"
    assert len(world.executions) == 1


@pytest.mark.parametrize("lost", [False, True])
def test_not_done_is_believed_of_a_dead_process_not_of_a_lost_one(lost):
    world, ledger = World(), MemoryLedger()
    spec = world.tool("act", faults=iter([Fault.TIMEOUT_BEFORE]))
    walk(assemble([spec], Options(ledger=ledger)), CALL)
    if lost:
        key = next(iter(ledger._settled))
        ledger.begin(key)
        ledger.settle(key, "unknown", {"lost": True})

        class Lost(MemoryLedger):
            def begin(self, key):
                from dataclasses import replace

                record = super().begin(key)
                return replace(record, lost=True) if record else None

        lost_ledger = Lost()
        lost_ledger._settled = ledger._settled
        ledger = lost_ledger
    again = world.tool("act", verify=lambda args, key: Outcome.NOT_DONE)
    out = walk(assemble([again], Options(ledger=ledger)), CALL)
    assert ("result" in out) is not lost
    assert len(world.executions) == (1 if lost else 2)


def test_a_tool_that_goes_on_in_its_thread_may_act_yet():
    release, acted = threading.Event(), []

    def act(item: str) -> str:
        """Act slowly."""
        release.wait(10)
        acted.append(item)
        return item

    spec = ToolSpec.from_function(
        act, effect="mutating", timeout=0.05, verify=lambda args, key: Outcome.NOT_DONE
    )
    out = walk(assemble([spec]), CALL)
    release.set()
    assert out["failure"]["reason"] == "unknown_outcome"
    release.clear()
    with pytest.raises(StillRunning):
        spec.run({"item": "b"})
    release.set()


def test_verification_may_be_async():
    async def verify(args, key):
        return Result(key)

    world = World()
    spec = world.tool("act", faults=iter([Fault.TIMEOUT_AFTER]), verify=verify)
    out = asyncio.run(awalk(assemble([spec]), CALL))
    assert len(out["result"]) == 24


# --- idempotency keys -----------------------------------------------------------------------------


def test_the_key_is_the_same_for_every_execution_of_one_intent_and_hidden_from_the_model():
    keys = []

    def pay(amount: int, idempotency_key: str) -> str:
        """Pay."""
        keys.append(idempotency_key)
        if len(keys) == 1:
            raise NotDone("try again") from ConnectionRefusedError()
        return "paid"

    spec = ToolSpec.from_function(pay, effect="mutating")
    assert list(spec.schema["properties"]) == ["amount"]
    loop = assemble([spec], Options(time=VirtualTime()))
    given = {"call": {"name": "pay", "args": {"amount": 5}, "id": "1"}, "task_id": "t"}
    assert walk(loop, given)["result"] == "paid"
    assert len(keys) == 2
    assert len(set(keys)) == 1
    walk(loop, {**given, "task_id": "u"})
    assert len(set(keys)) == 2


def test_a_model_cannot_choose_the_key():
    keys = []

    def pay(amount: int, idempotency_key: str) -> str:
        """Pay."""
        keys.append(idempotency_key)
        return "paid"

    loop = assemble([ToolSpec.from_function(pay, effect="mutating")], Options(time=VirtualTime()))
    given = {"call": {"name": "pay", "args": {"amount": 5, "idempotency_key": "mine"}}}
    walk(loop, given)
    assert "mine" not in keys


def test_other_names_for_the_key():
    def pay(amount: int, request_id: str) -> str:
        """Pay."""
        return request_id

    spec = ToolSpec.from_function(pay, key_argument="request_id")
    assert spec.run({"amount": 1}, None, "k") == "k"
    assert len(spec.run({"amount": 1})) == 32
    with pytest.raises(ToolDefinitionError, match="no parameter 'nothing'"):
        ToolSpec.from_function(pay, key_argument="nothing")


def test_a_langchain_tool_gets_the_key_as_an_injected_argument():
    @tool
    def pay(amount: int, idempotency_key: Annotated[str, InjectedToolArg]) -> str:
        """Pay."""
        return f"{amount} {idempotency_key}"

    spec = ToolSpec.from_langchain(pay, effect="mutating")
    assert list(spec.schema["properties"]) == ["amount"]
    assert spec.run({"amount": 1}, None, "k") == "1 k"


# --- the ledger is away ---------------------------------------------------------------------------


class Broken(MemoryLedger):
    """A ledger that fails at one of its methods."""

    def __init__(self, method):
        super().__init__()
        self.method = method

    def begin(self, key):
        if self.method == "begin":
            raise LedgerError("disk full")
        return super().begin(key)

    def settle(self, key, status, value=None):
        if self.method == "settle":
            raise LedgerError("disk full")
        super().settle(key, status, value)


def test_without_an_intent_nothing_that_changes_things_is_called():
    world = World()
    loop = assemble([world.tool("act")], Options(ledger=Broken("begin")))
    with pytest.raises(LedgerError, match="disk full"):
        walk(loop, CALL)
    assert not world.executions


@pytest.mark.parametrize("effect", ["read_only", "idempotent"])
def test_what_may_be_repeated_runs_without_its_ledger(effect):
    world = World()
    loop = assemble([world.tool("act", effect=effect)], Options(ledger=Broken("begin")))
    assert "result" in walk(loop, CALL)


def test_a_result_is_not_lost_because_it_could_not_be_settled():
    world, ledger = World(), Broken("settle")
    loop = assemble([world.tool("act")], Options(ledger=ledger))
    out = walk(loop, CALL)
    assert out["result"] == {"item": "a", "count": 1}
    assert out["trail"][-1]["ledger"] == "disk full"
    assert walk(loop, CALL)["failure"]["reason"] == "unknown_outcome"
    assert world.done("act", "a") == 1


# --- waiting for one another ----------------------------------------------------------------------


def test_a_second_run_of_the_same_call_waits_for_the_first():
    started, release, done = threading.Event(), threading.Event(), []

    def act(item: str) -> str:
        """Act."""
        started.set()
        release.wait(10)
        done.append(item)
        return item

    ledger = MemoryLedger()
    loop = assemble([ToolSpec.from_function(act, effect="mutating")], Options(ledger=ledger))
    outs = []
    first = threading.Thread(target=lambda: outs.append(walk(loop, CALL)))
    first.start()
    started.wait(10)
    second = threading.Thread(target=lambda: outs.append(walk(loop, CALL)))
    second.start()
    release.set()
    first.join(10)
    second.join(10)
    assert [out["result"] for out in outs] == ["a", "a"]
    assert done == ["a"]


def test_waiting_for_another_process_ends_with_the_deadline():
    class Held(MemoryLedger):
        def begin(self, key):
            from selfcorrect.protocols import Record

            return Record("held")

    world = World()
    options = Options(ledger=Held(), time=world.time, limits={"seconds": 5})
    loop = assemble([world.tool("act")], options)
    out = walk(loop, CALL)
    assert out["failure"]["reason"] == "unknown_outcome"
    assert 5 <= world.time.monotonic() < 6
    assert not world.executions


# --- cancellation ---------------------------------------------------------------------------------


def test_a_run_that_is_cancelled_leaves_a_doubt_and_nothing_running(tmp_path):
    acted, started = [], asyncio.Event()

    async def act(item: str) -> str:
        """Act."""
        acted.append(item)
        started.set()
        await asyncio.sleep(60)
        return item

    ledger = SqliteLedger(tmp_path / "ledger.db")
    loop = assemble([ToolSpec.from_function(act, effect="mutating")], Options(ledger=ledger))

    async def main():
        running = asyncio.create_task(awalk(loop, CALL))
        await started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return await awalk(loop, CALL)

    assert asyncio.run(main())["failure"]["reason"] == "unknown_outcome"
    assert acted == ["a"]
    ledger.close()


@pytest.mark.parametrize("steps", range(0, 60, 3))
def test_cancelled_anywhere_nothing_is_done_twice_or_forgotten(tmp_path, steps):
    acted = []

    async def act(item: str) -> str:
        """Act."""
        await asyncio.sleep(0)
        acted.append(item)
        await asyncio.sleep(0)
        return item

    ledger = SqliteLedger(tmp_path / "ledger.db")
    loop = assemble([ToolSpec.from_function(act, effect="mutating")], Options(ledger=ledger))

    async def main():
        running = asyncio.create_task(awalk(loop, CALL))
        for _ in range(steps):
            await asyncio.sleep(0.0002 if steps % 2 else 0)
        running.cancel()
        await asyncio.wait([running])
        return await awalk(loop, CALL)

    out = asyncio.run(main())
    assert len(acted) <= 1
    if "result" in out:
        assert acted == ["a"]
    else:
        assert out["failure"]["reason"] == "unknown_outcome"
    ledger.close()


# --- interrupts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("effect", "asks_first", "runs_again"),
    [
        ("read_only", None, True),
        ("idempotent", None, True),
        ("mutating", None, True),
        ("destructive", None, False),
        ("destructive", True, True),
        ("mutating", False, False),
    ],
)
def test_a_tool_that_interrupts_itself(effect, asks_first, runs_again):
    acted = []

    def act(item: str) -> str:
        """Act, if a person agrees."""
        answer = interrupt("really?")
        acted.append(item)
        return f"{item} {answer}"

    spec = ToolSpec.from_function(act, effect=effect, asks_first=asks_first)
    graph = build_graph([spec], checkpointer=InMemorySaver(), ledger=MemoryLedger())
    config = {"configurable": {"thread_id": "t"}}
    assert graph.invoke(CALL, config)["__interrupt__"][0].value == "really?"
    out = graph.invoke(Command(resume="yes"), config)
    if runs_again:
        assert out["result"] == "a yes"
        assert acted == ["a"]
    else:
        assert out["failure"]["reason"] == "unknown_outcome"
        assert acted == []
