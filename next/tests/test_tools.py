"""A tool is made of what the user has, runs within its timeout, and answers plain JSON."""

import asyncio
import base64
import contextvars
import dataclasses
import enum
import functools
import threading
import time
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Literal

import pytest
from hypothesis import given, strategies as st
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import InjectedToolArg, StructuredTool, ToolException, tool
from pydantic import AfterValidator, BaseModel, Field

from selfcorrect.errors import GraphSetupError, NotDone, ToolDefinitionError
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


def test_a_tool_says_whether_arguments_are_valid_and_what_is_wrong():
    def book(seats: int) -> str:
        """Book seats."""
        return str(seats)

    spec = ToolSpec.from_function(book)
    for args, is_valid in (({"seats": 2}, True), ({"seats": "2"}, False), ({}, False)):
        assert spec.is_valid(args) is is_valid
        assert (spec.findings(args) == []) is is_valid


def test_arguments_that_only_the_function_refuses_are_not_done():
    def even(value):
        if value % 2:
            raise ValueError("odd")
        return value

    def act(n: Annotated[int, AfterValidator(even)]):
        raise AssertionError(n)

    with pytest.raises(NotDone, match="odd"):
        run_tool(ToolSpec.from_function(act), {"n": 1})


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
    with pytest.raises(ToolDefinitionError, match="only checked"):
        run_tool(spec, {})


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


def test_a_langchain_tool_may_be_async():
    @tool
    async def find(x: int) -> int:
        """Find."""
        return x

    spec = ToolSpec.from_langchain(find)
    assert asyncio.run(arun_tool(spec, {"x": 1})) == 1
    with pytest.raises(GraphSetupError, match="use ainvoke, or aplay"):
        run_tool(spec, {"x": 1})


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
        assert time.monotonic() - began < 1
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
    [
        ({"isError": True, "content": [{"type": "text", "text": "no seat"}]}, "no seat"),
        ({"error": "no seat"}, "no seat"),
        ({"error": {"code": 4, "message": "no seat"}}, "no seat"),
        ({"error": {"code": 4}}, "{'code': 4}"),
        ({"status": "error", "message": "no seat"}, "no seat"),
        ({"status_code": 500, "detail": "down"}, "down"),
        ({"error": None}, None),
        ({"error": ""}, None),
        ({"isError": False}, None),
        ({"status_code": 200}, None),
        ({"status": "ok", "text": "error: none"}, None),
        ("error: no seat", None),
        ([{"error": "x"}], None),
    ],
)
def test_an_error_value_is_told_by_its_structure(value, text):
    assert error_in(value) == text
