"""Nothing that may have happened once is done twice: failing ledgers, killed processes, replays."""

import asyncio
import time
from contextlib import suppress

import pytest
from kit import INTEGER, TEXT, Answered, Tool, run
from langgraph.errors import GraphInterrupt, ParentCommand
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, RetryPolicy

from selfcorrect import CorrectionState, GraphSetupError, NotDone, ToolSpec, build_graph
from selfcorrect.ledger import MemoryLedger, SqliteLedger
from selfcorrect.testing import aplay, play

ENDS = ["ok", ValueError("x"), TimeoutError("x"), TypeError("x"), Answered(409), NotDone("x")]


class Failing:
    """A ledger whose k-th write raises, before or after it is written."""

    blocks = False

    def __init__(self, inner, k, *, after):
        self._inner, self._left, self._after = inner, k, after

    def _write(self, method, *args, **options):
        self._left -= 1
        if self._left == 0 and not self._after:
            raise OSError("disk full")
        value = method(*args, **options)
        if self._left == 0:
            raise OSError("disk full")
        return value

    def begin(self, *args):
        return self._write(self._inner.begin, *args)

    def settle(self, *args, **options):
        return self._write(self._inner.settle, *args, **options)

    def records(self, **options):
        return self._inner.records(**options)


@pytest.mark.parametrize("k", range(1, 9))
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("end", ENDS, ids=repr)
@pytest.mark.parametrize("ids", [(None, None, None), ("1", "1", "1"), ("1", "2", "3")])
def test_a_ledger_that_raises_at_write_k_lets_no_equal_call_run_twice_in_doubt(k, after, end, ids):
    tool = Tool(end, end, end, effect="mutating")
    ledger = Failing(MemoryLedger(), k, after=after)
    outs = []
    for each in ids:
        call = {"name": "t", "args": {"q": 1}} | ({"id": each} if each else {})
        before = len(tool.ran)
        given = {"call": call, "task_id": "t"}
        out = play([tool.spec], given, ledger=ledger, limits={"equal": 1})
        assert ("result" in out) != ("failure" in out)
        outs.append((len(tool.ran) - before, out))
    doubtful = not isinstance(end, NotDone) and not (end == "ok" or isinstance(end, ValueError))
    if doubtful and not isinstance(end, Answered):
        assert len(tool.ran) <= 1
    if end == "ok":
        assert len(tool.ran) <= 1
    if len(set(ids)) == 1 and not isinstance(end, NotDone):
        assert len(tool.ran) <= 1


def test_a_call_in_other_words_runs_at_its_second_try(tmp_path):
    tool = Tool(TimeoutError("x"), "ok", effect="mutating", schema={"to": TEXT, "text": TEXT})
    ledger = SqliteLedger(tmp_path / "ledger.db")
    words = ["Your invoice is attached", "Here comes the invoice", "Here comes the invoice"]
    outs = [
        run(tool, {"to": "ann", "text": text}, task_id="t", ledger=ledger, id=str(number))
        for number, text in enumerate(words)
    ]
    assert [each["text"] for each in tool.ran] == [words[0], words[2]]
    failure = outs[1]["failure"]
    assert failure["reason"] == "unknown_outcome"
    assert "differs only in its words" in failure["for_model"]
    assert outs[2]["result"] == "ok"


def graph_of(tool, **options):
    return build_graph([tool.spec], **options)


@pytest.mark.parametrize("error", [ValueError("x"), TimeoutError("x"), Answered(503)])
def test_an_outer_retry_policy_does_not_repeat_what_acted(error):
    tool = Tool(*[error] * 9, effect="mutating")
    inner = graph_of(tool, on_failure="raise")
    outer = StateGraph(CorrectionState)
    outer.add_node(
        "inner",
        lambda state: inner.invoke(state) and {},
        retry_policy=RetryPolicy(max_attempts=3, initial_interval=0.001, retry_on=Exception),
    )
    outer.add_edge(START, "inner")
    outer.add_edge("inner", END)
    with pytest.raises(Exception, match=r"x|answered|refused|unknown"):
        outer.compile().invoke(
            {"call": {"name": "t", "args": {"q": 1}, "id": "c"}, "task_id": "task"}
        )
    assert len(tool.ran) == 1


class Unreadable:
    def __iter__(self):
        raise LookupError("x")


def late():
    yield 1
    raise ValueError("x")


def refuse(*_):
    raise LookupError("x")


AFTER = {
    "its value cannot be read": (Unreadable, {}),
    "its value is made late": (late, {}),
    "`fails` fails": (dict, {"fails": refuse}),
    "`receipt` fails": (dict, {"receipt": refuse}),
    "`verify` fails": (lambda: refuse, {"verify": refuse, "receipt": "id"}),
    "its error value has a status": (lambda: {"error": "x", "status_code": 503}, {}),
    "its error value has an error with a status": (lambda: {"error": {"code": 503}}, {}),
}


@pytest.mark.parametrize("name", AFTER)
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_what_fails_after_the_tool_has_returned_refuses_nothing(name, is_async):
    make, options = AFTER[name]
    ran = []

    def pay():
        ran.append(1)
        return make()

    spec = ToolSpec.from_function(pay, effect="mutating", atomic=True, **options)
    given_ = {"call": {"name": "pay", "args": {}}, "task_id": "T"}
    ledger = MemoryLedger()
    out = asyncio.run(aplay([spec], given_, ledger=ledger)) if is_async else None
    out = out or play([spec], given_, ledger=ledger)
    assert out["failure"]["reason"] == "unknown_outcome"
    assert (len(ran), [each.status for each in ledger.records()]) == (1, ["lost"])


def nested():
    async def inner():
        await asyncio.sleep(0)

    build_graph([inner]).invoke({"call": {"name": "inner", "args": {}}})


async def nothing():
    pass


DEVELOPERS = {"a graph in the tool": nested, "a coroutine": nothing}


@pytest.mark.parametrize("name", DEVELOPERS)
def test_a_mistake_of_the_developer_behind_an_effect_is_a_doubt(name):
    ran, ledger = [], MemoryLedger()

    def pay():
        ran.append(1)
        return DEVELOPERS[name]()

    given_ = {"call": {"name": "pay", "args": {}}, "task_id": "T"}
    with pytest.raises(GraphSetupError):
        play([pay], given_, ledger=ledger)
    assert play([pay], given_, ledger=ledger)["failure"]["reason"] == "unknown_outcome"
    assert ran == [1]


@pytest.mark.parametrize("kind", [ParentCommand, GraphInterrupt])
def test_a_command_that_a_tool_raises_is_its_answer_and_an_interrupt_is_not(kind):
    ran, ledger = [], MemoryLedger()

    def hand_over():
        ran.append(1)
        raise kind(Command(goto="x") if kind is ParentCommand else ())

    given_ = {"call": {"name": "hand_over", "args": {}, "id": "c"}, "task_id": "T"}
    for _ in range(2):
        with suppress(kind):
            play([hand_over], given_, ledger=ledger)
    assert len(ran) == (1 if kind is ParentCommand else 2)


def test_a_cancelled_call_is_lost_and_no_equal_one_runs(tmp_path):
    ledger = SqliteLedger(tmp_path / "l.db")
    ran, started = [], asyncio.Event()

    async def slow(**args):
        ran.append(args)
        started.set()
        await asyncio.sleep(30)

    schema = {"name": "slow", "parameters": {"type": "object", "properties": {"q": INTEGER}}}
    spec = ToolSpec.from_schema(schema, slow, effect="mutating")
    given_ = {"call": {"name": "slow", "args": {"q": 1}}, "task_id": "T"}

    async def main():
        task = asyncio.create_task(aplay([spec], given_, ledger=ledger))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await aplay([spec], given_, ledger=ledger)

    assert asyncio.run(main())["failure"]["reason"] == "unknown_outcome"
    assert len(ran) == 1
    assert [each.status for each in ledger.records(doubts=True)] == ["lost"]
    ledger.close()


class Slow(MemoryLedger):
    """A ledger whose writes take time."""

    blocks = True

    def begin(self, *args):
        time.sleep(0.2)
        return super().begin(*args)


def test_a_call_that_is_cancelled_behind_its_intent_is_not_done():
    tool, ledger = Tool(effect="mutating"), Slow()
    given_ = {"call": {"name": "t", "args": {"q": 1}, "id": "c"}, "task_id": "T"}

    async def main():
        task = asyncio.create_task(aplay([tool.spec], given_, ledger=ledger))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert tool.ran == []
        return await aplay([tool.spec], given_, ledger=ledger)

    assert asyncio.run(main())["result"] == "ok"
    assert len(tool.ran) == 1
