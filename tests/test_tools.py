"""A tool is made of what the user has, runs within its timeout, and answers plain JSON."""

import asyncio
import base64
import contextvars
import copy
import dataclasses
import enum
import functools
import threading
import time
from concurrent.futures import Future
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Literal, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given, strategies as st
from kit import table, type_of
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import InjectedToolArg, StructuredTool, ToolException, tool
from pydantic import AfterValidator, BaseModel, Field, RootModel
from typing_extensions import TypedDict

from selfcorrect.errors import GraphSetupError, NotDone, ToolDefinitionError
from selfcorrect.ledger import MemoryLedger
from selfcorrect.testing import VirtualTime, aplay, play
from selfcorrect.tools.error_value import error_in
from selfcorrect.tools.run import arun_tool, plain, run_tool
from selfcorrect.tools.spec import ToolSpec, collect_tools


class Cabin(enum.Enum):
    ECONOMY = "economy"


class Person(BaseModel):
    age: int


@dataclasses.dataclass
class Seat:
    row: int


def book(
    origin: str,
    when: date,
    who: Person | None = None,
    cabin: Cabin = Cabin.ECONOMY,
    *,
    seats: Annotated[int, Field(ge=1)] = 1,
    meal: Literal["veg", "fish"] = "veg",
):
    """Book a flight."""
    return [origin, when, who, cabin, seats, meal]


def test_annotations_become_the_schema():
    spec = ToolSpec.from_function(book)
    assert (spec.name, spec.description) == ("book", "Book a flight.")
    assert spec.parameters["required"] == ["origin", "when"]
    assert spec.parameters["additionalProperties"] is False
    codes = {each["paths"][0]: each["code"] for each in spec.findings({"seats": 0, "meal": "x"})}
    assert codes == {
        "/args/origin": "required",
        "/args/when": "required",
        "/args/seats": "minimum",
        "/args/meal": "enum",
    }


def test_arguments_reach_the_function_as_what_it_annotates():
    args = {"origin": "LHR", "when": "2026-10-26", "who": {"age": 3}, "cabin": "economy"}
    value = run_tool(ToolSpec.from_function(book), args)
    assert value == ["LHR", date(2026, 10, 26), Person(age=3), Cabin.ECONOMY, 1, "veg"]


def test_arguments_that_only_the_function_refuses_are_not_done():
    def even(value):
        if value % 2:
            raise ValueError("odd")
        return value

    def act(n: Annotated[int, AfterValidator(even)]):
        raise AssertionError(n)

    with pytest.raises(NotDone, match="odd"):
        run_tool(ToolSpec.from_function(act), {"n": 1})


class Rank(enum.IntEnum):
    HIGH = 1


class Rate(enum.Enum):
    FULL = 2.0**53


class Crew(BaseModel):
    lead: Person
    shares: list[float] = []
    pay: float = Field(0, alias="paid")
    tip: float = Field(0, validation_alias="tips")


class Rates(RootModel[dict[int, float]]):
    pass


class Pair(NamedTuple):
    low: float
    high: float = 1


class Step(TypedDict):
    size: float


@dataclasses.dataclass
class Row:
    price: float
    seat: Seat | None = None


OWN = (Cabin, Person, Seat, Rank, Rate, Crew, Rates, Pair, Step, Row)


def rows(section):
    """Return types and values of the data file."""
    return [(type_of(text, *OWN), value) for text, value in table("types.txt", section)]


KEEPS = [
    *rows("keeps"),
    (Annotated[Decimal, Field(decimal_places=2)], 0.1),
    (Annotated[int, Field(gt=1)], 2**53 + 1),
    # What an author's own validator makes of a value is what the author wants.
    (Annotated[int, AfterValidator(abs)], -5),
    (Annotated[list, AfterValidator(lambda items: items[:1])], [1, 2]),
]
CHANGES = [*rows("changes"), (Annotated[float, Field(gt=1)], 2**53 + 1)]
wraps = pytest.mark.parametrize("wrap", [ToolSpec.from_function, StructuredTool.from_function])


def typed(wrap, kind):
    """Return a tool with one argument, and what it was called with."""
    ran = []

    def act(x):
        """Act."""
        ran.append(x)
        return "ok"

    act.__annotations__ = {"x": kind}
    (spec,) = collect_tools([wrap(act)], {}).values()
    return spec, ran


@wraps
@pytest.mark.parametrize(("kind", "written"), KEEPS)
def test_a_type_that_keeps_a_value_makes_it(wrap, kind, written):
    spec, ran = typed(wrap, kind)
    for run in run_both(spec, {"x": written}):
        run()
    assert len(ran) == 2


@wraps
@pytest.mark.parametrize(("kind", "written"), CHANGES)
def test_a_type_that_changes_a_value_refuses_it_before_the_tool_runs(wrap, kind, written):
    spec, ran = typed(wrap, kind)
    for run in run_both(spec, {"x": written}):
        with pytest.raises(NotDone, match=r"would change `x`: .* would be "):
            run()
    assert ran == []
    if spec.is_valid({"x": written}):
        ledger = MemoryLedger()
        out = play([spec], {"call": {"name": "act", "args": {"x": written}}}, ledger=ledger)
        assert out["failure"]["findings"][0]["kind"] == "validation"
        assert "lost" not in [each.status for each in ledger.records()]
        assert ran == []


def test_methods_partials_and_objects_are_functions():
    class Desk:
        def book(self, origin: str):
            return origin

        def __call__(self, origin: str):
            return origin

    for fn in (Desk().book, Desk(), functools.partial(book, when=date(2026, 1, 1))):
        spec = ToolSpec.from_function(fn, name="book")
        assert "origin" in spec.parameters["properties"]
        value = run_tool(spec, {"origin": "LHR"})
        assert value == "LHR" or value[1] == date(2026, 1, 1)


def test_names_that_pydantic_keeps_for_itself_are_arguments():
    def act(schema: str, _x: int, model_config: str):
        return [schema, _x, model_config]

    args = {"schema": "a", "_x": 1, "model_config": "b"}
    assert run_tool(ToolSpec.from_function(act), args) == ["a", 1, "b"]


def test_open_keywords_make_an_open_schema():
    def act(**more: int):
        return more

    spec = ToolSpec.from_function(act)
    assert spec.findings({"x": 1}) == []
    assert spec.findings({"x": "y"})[0]["code"] == "type"
    assert run_tool(spec, {"x": 1}) == {"x": 1}


def test_a_function_declares_its_effect_in_metadata():
    def act():
        pass

    assert not ToolSpec.from_function(act).declared
    act.metadata = {"effect": "destructive", "atomic": True, "owner": "ann"}
    spec = ToolSpec.from_function(act)
    assert (spec.effect, spec.declared, spec.atomic) == ("destructive", True, True)
    assert ToolSpec.from_function(act, effect="read_only").effect == "read_only"
    assert ToolSpec.from_function(act, effect=None).declared


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ToolSpec.from_function(book, effect="reed_only"), "did you mean 'read_only'"),
        (lambda: ToolSpec.from_function(lambda x, /: x), "positional"),
        (lambda: ToolSpec.from_function(book, timeout=0), "more than 0 seconds"),
        (lambda: ToolSpec.from_schema({"parameters": {}}), 'needs a "name"'),
        (lambda: collect_tools([book, book], {}), "two tools are named 'book'"),
        (lambda: collect_tools([3], {}), "not a tool: 3"),
    ],
)
def test_an_unusable_tool_is_refused(make, words):
    with pytest.raises(ToolDefinitionError, match=words):
        make()


def test_an_annotation_without_a_schema_is_refused():
    def act(x: threading.Thread):
        pass

    with pytest.raises(ToolDefinitionError, match="'act': an annotation"):
        ToolSpec.from_function(act)


INNER = {"name": "f", "description": "d"}
WANTS = {"type": "object", "properties": {"x": {"type": "integer"}}}


@pytest.mark.parametrize(
    "schema",
    [
        {**INNER, "parameters": WANTS},
        {**INNER, "input_schema": WANTS},
        {**INNER, "inputSchema": WANTS},
        {"type": "function", "function": {**INNER, "parameters": WANTS}},
    ],
)
def test_a_schema_of_any_provider_is_a_tool(schema):
    (spec,) = collect_tools([schema], {}).values()
    assert (spec.name, spec.description, spec.parameters) == ("f", "d", WANTS)
    assert spec.findings({"x": "y"})[0]["code"] == "type"


def test_a_map_declares_effects_of_undeclared_tools():
    said = {
        "book*": SimpleNamespace(effect="idempotent", atomic=True),
        "*": SimpleNamespace(effect="read_only", atomic=False),
    }
    other = ToolSpec.from_function(book, name="book_2", effect="destructive")
    found = collect_tools([book, other, INNER], said)
    assert [(each.effect, each.atomic) for each in found.values()] == [
        ("idempotent", True),
        ("destructive", False),
        ("read_only", False),
    ]


def test_a_langchain_tool_keeps_its_schema_and_hides_injected_arguments():
    @tool
    def pay(amount: int, account: Annotated[str, InjectedToolArg] = "own") -> str:
        """Pay."""
        return f"{amount} {account}"

    pay.metadata = {"effect": "mutating"}
    spec = ToolSpec.from_langchain(pay)
    assert spec.declared
    assert set(spec.parameters["properties"]) == {"amount"}
    assert spec.findings({"amount": 1, "acount": "x"})[0]["code"] == "additionalProperties"
    assert run_tool(spec, {"amount": 1}) == "1 own"


def test_a_langchain_tool_with_a_json_schema_is_taken_as_it_is():
    made = StructuredTool.from_function(lambda **args: args, name="f", description="d")
    made = made.model_copy(update={"args_schema": WANTS})
    spec = ToolSpec.from_langchain(made)
    assert spec.parameters["properties"] == WANTS["properties"]
    assert run_tool(spec, {"x": 1}) == {"x": 1}


def test_a_langchain_error_does_not_come_as_a_result():
    def fail() -> str:
        """Fail."""
        raise ToolException("no seat")

    made = StructuredTool.from_function(fail, handle_tool_error=True)
    with pytest.raises(ToolException, match="no seat"):
        run_tool(ToolSpec.from_langchain(made), {})
    assert made.handle_tool_error is True


def made(call, **options):
    return ToolSpec.from_schema({"name": "f"}, call, **options)


def run_both(spec, args):
    yield lambda: run_tool(spec, args)
    yield lambda: asyncio.run(arun_tool(spec, args))


def test_a_late_tool_is_a_timeout():
    stop = threading.Event()
    for run in run_both(made(stop.wait, timeout=0.05), {}):
        began = time.monotonic()
        with pytest.raises(TimeoutError, match=r"f gave no answer within 0\.05 seconds"):
            run()
        assert time.monotonic() - began < 10
    stop.set()


def test_a_timeout_holds_for_a_tool_that_ignores_its_cancellation():
    async def stubborn():
        for _ in range(20):
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue

    async def main():
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            await arun_tool(made(stubborn, timeout=0.05), {})
        return time.monotonic() - began

    assert asyncio.run(main()) < 0.5


@pytest.mark.parametrize("timeout", [None, 5])
@pytest.mark.parametrize("error", [KeyError("x"), TimeoutError("own"), StopIteration("x")])
def test_an_error_of_the_tool_comes_out(timeout, error):
    def fail():
        raise error

    for run in run_both(made(fail, timeout=timeout), {}):
        with pytest.raises((type(error), RuntimeError), match=str(error.args[0])):
            run()


@pytest.mark.parametrize("timeout", [None, 5])
def test_an_argument_may_have_any_name(timeout):
    def tell(name, run, args, options, future):
        return [name, run, args, options, future]

    given = {"name": 1, "run": 2, "args": 3, "options": 4, "future": 5}
    for run in run_both(made(tell, timeout=timeout), given):
        assert run() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("timeout", [None, 5])
def test_context_variables_reach_the_tool(timeout):
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(7)
    for run in run_both(made(variable.get, timeout=timeout), {}):
        assert run() == 7


def test_a_sync_tool_that_returns_a_coroutine_is_async():
    async def answer():
        return 1

    spec = made(functools.partial(lambda give: give(), answer))
    assert asyncio.run(arun_tool(spec, {})) == 1
    with pytest.raises(GraphSetupError, match="async"):
        run_tool(spec, {})


LATE = {
    "a coroutine": (lambda: give([1, 2]), False),
    "a coroutine that returns a generator": (lambda: give(n for n in (1, 2)), False),
    "an async generator": (lambda: stream(1, 2), False),
    "a coroutine that returns an async generator": (lambda: give(stream(1, 2)), False),
    "a task": (lambda: Awaited([1, 2]), False),
    "a generator": (lambda: (n for n in (1, 2)), True),
    "an iterator": (lambda: iter([1, 2]), True),
    "a map": (lambda: map(int, "12"), True),
    "a future": (lambda: done([1, 2]), True),
    "a future of a generator": (lambda: done(n for n in (1, 2)), True),
}


async def give(value):
    return value


async def stream(*values):
    for value in values:
        yield value


class Awaited:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        yield from ()
        return self.value


def done(value):
    future = Future()
    future.set_result(value)
    return future


@pytest.mark.parametrize("name", LATE)
@pytest.mark.parametrize("timeout", [None, 5])
def test_a_value_that_is_made_late_is_waited_for(name, timeout):
    make, _ = LATE[name]
    out = asyncio.run(aplay([made(make, timeout=timeout)], {"call": {"name": "f", "args": {}}}))
    assert out["result"] == [1, 2]


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize("name", LATE)
@pytest.mark.parametrize("timeout", [None, 5])
def test_a_value_that_sync_code_cannot_wait_for_is_never_a_text(name, timeout):
    make, waits = LATE[name]
    spec = made(make, timeout=timeout, effect="mutating")
    given_, ledger = {"call": {"name": "f", "args": {}}}, MemoryLedger()
    try:
        out = play([spec], given_, ledger=ledger)
    except GraphSetupError:
        out = {"failure": {"reason": "unknown_outcome"}}
    assert out.get("result") == ([1, 2] if waits else None)
    assert [each.status for each in ledger.records()] == ["done" if waits else "lost"]
    if not waits:
        assert out["failure"]["reason"] == "unknown_outcome"


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize("make", [lambda: give(1), lambda: stream(1), lambda: done(1)])
@pytest.mark.parametrize("is_async", [False, True])
def test_a_part_that_nobody_waits_for_is_a_lost_result(make, is_async):
    spec = made(lambda: {"a": [make()]}, effect="mutating", atomic=True)
    given_ = {"call": {"name": "f", "args": {}}}
    out = asyncio.run(aplay([spec], given_)) if is_async else play([spec], given_)
    assert out["failure"]["reason"] == "unknown_outcome"


def test_a_generator_is_taken_within_the_timeout():
    def slow():
        yield 1
        stop.wait()

    stop = threading.Event()
    for run in run_both(made(slow, timeout=0.05), {}):
        with pytest.raises(TimeoutError, match="gave no answer within"):
            run()
    stop.set()


def test_a_tool_gets_copies_of_its_arguments_each_time():
    def spoil(x, later):
        seen.append(copy.deepcopy([x, later]))
        x["inner"].append("eve")
        later.clear()
        if len(seen) < 3:
            error = ConnectionError("busy")
            error.status_code, error.retry_after = 429, 0
            raise error
        return x

    args = {"x": {"inner": ["ann"]}, "later": [1]}
    call = {"name": "f", "args": copy.deepcopy(args)}
    for is_async in (False, True):
        seen = []
        places = {"name": "f", "parameters": {"properties": {"x": {}, "later": {}}}}
        spec = ToolSpec.from_schema(places, spoil, effect="idempotent")
        ledger = MemoryLedger()
        given_, options = {"call": call}, {"time": VirtualTime(), "ledger": ledger}
        run = asyncio.run(aplay([spec], given_, **options)) if is_async else None
        run = run or play([spec], given_, **options)
        assert seen == [list(args.values())] * 3
        assert call["args"] == args
        assert run["result"] == {"inner": ["ann", "eve"]}


LOOKS_LIKE_A_CALL = {"type": "tool_call", "name": "other", "args": {"amount": 99}, "id": "x"}


@pytest.mark.parametrize("is_async", [False, True])
def test_arguments_that_look_like_a_call_are_arguments(is_async):
    class Args(BaseModel):
        type: str
        name: str
        args: dict
        id: str

    def keep(**args):
        return args

    async def akeep(**args):
        return args

    options = {"name": "f", "description": "d", "args_schema": Args}
    tool_ = StructuredTool.from_function(keep, akeep if is_async else None, **options)
    (spec,) = collect_tools([tool_], {}).values()
    for run in run_both(spec, LOOKS_LIKE_A_CALL):
        assert run() == LOOKS_LIKE_A_CALL


def keyed(kind=str):
    keys = []

    def pay(amount, idempotency_key):
        keys.append(idempotency_key)
        if len(keys) % 2:
            error = ConnectionError("busy")
            error.status_code, error.retry_after = 503, 0
            raise error
        return "ok"

    pay.__annotations__ = {"amount": int, "idempotency_key": kind}
    return keys, ToolSpec.from_function(pay, effect="idempotent")


@pytest.mark.parametrize("kind", [str, str | None, UUID])
@pytest.mark.parametrize(
    "written", [{}, {"idempotency_key": "mine"}, {"idempotencyKey": 5}, {"idempotency_key": None}]
)
def test_the_runtime_gives_each_call_a_key_of_its_own(kind, written):
    keys, spec = keyed(kind)
    assert set(spec.parameters["properties"]) == {"amount"}
    assert spec.findings({"amount": 1, **written}) == []
    for amount, id_ in ((1, "a"), (1, "a"), (1, "b"), ("2", "a")):
        call = {"name": "pay", "args": {"amount": amount, **written}, "id": id_}
        out = play([spec], {"call": call, "task_id": "t"}, time=VirtualTime())
        assert out["result"] == "ok"
    pairs = [set(keys[n : n + 2]) for n in range(0, 8, 2)]
    assert [len(pair) for pair in pairs] == [1] * 4
    assert pairs[0] == pairs[1]
    assert len(set(keys)) == 3
    assert not {"mine", 5, None} & set(keys)


def test_a_key_that_a_model_wrote_makes_no_call_another():
    lost, ledger = [], MemoryLedger()

    def pay(amount: int, idempotency_key: str):
        lost.append(idempotency_key)
        raise TimeoutError("no answer")

    spec = ToolSpec.from_function(pay, effect="mutating")
    for number in "123":
        args = {"amount": 1, "idempotency_key": number}
        call = {"name": "pay", "args": args, "id": number}
        play([spec], {"call": call, "task_id": "t"}, ledger=ledger)
    assert len(lost) == 1
    assert lost[0] == ledger.records()[0].key


def test_a_cancelled_run_cancels_its_tool():
    ended = []

    async def sleep():
        try:
            await asyncio.sleep(9)
        finally:
            ended.append(1)

    async def main():
        task = asyncio.ensure_future(arun_tool(made(sleep, timeout=9), {}))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait({task})
        await asyncio.sleep(0.01)
        return list(ended)

    assert asyncio.run(main()) == [1]


LOOP = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (datetime(2026, 10, 26, 9, 30), "2026-10-26T09:30:00"),  # noqa: DTZ001
        (b"text", "text"),
        (b"\xff", base64.b64encode(b"\xff").decode()),
        (float("nan"), "nan"),
        ({1: Cabin.ECONOMY, Cabin.ECONOMY: 2}, {"1": "economy", "economy": 2}),
        ([Person(age=1), Seat(2)], [{"age": 1}, {"row": 2}]),
        (Decimal("1.50"), "1.50"),
        (Path("a/b"), "a/b"),
        ((n for n in (1, 2)), [1, 2]),
        (LOOP, ["…"]),
        (AIMessage("hello"), "hello"),
        (ToolMessage("done", tool_call_id="1", artifact=object()), "done"),
        (Seat, str(Seat)),
    ],
)
def test_a_value_becomes_plain_json(value, wanted):
    assert plain(value) == wanted


def test_depth_is_bounded():
    value = []
    for _ in range(10_000):
        value = [value]
    assert len(str(plain(value))) < 200


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=10,
    )
)
def test_json_stays_as_it_is(value):
    if "inf" not in repr(value):
        assert plain(value) == value


@pytest.mark.parametrize(
    ("value", "text"),
    table("error_values.txt", "values"),
)
def test_an_error_value_is_told_by_its_structure(value, text):
    assert error_in(value) == text
