"""Tools from functions and from schemas: what is read, what is refused, how they run."""

# ruff: noqa: E501 -- a row of a table is a line

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import datetime as dt
import decimal
import enum
import functools
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field, ValidationError, model_validator

from selfcorrect.effects import EFFECTS
from selfcorrect.errors import GraphSetupError, ToolDefinitionError
from selfcorrect.tools import ArgumentDeserializationError, ToolSpec, tool_specs


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Person(BaseModel):
    name: str
    born: dt.date | None = None
    friends: list[Person] = []


@dataclasses.dataclass
class Point:
    x: int
    y: float = 1.0


class Picky(BaseModel):
    size: int

    @model_validator(mode="after")
    def small(self):
        if self.size > 3:
            raise ValueError("too big")
        return self


def book(
    origin: str,
    seats: int,
    cabin: Literal["economy", "business"] = "economy",
    tags: list[str] | None = None,
    note: Annotated[str, "for the crew"] = "",
    price: float = 0,
):
    """Book a flight
    for somebody.

    A second paragraph.

    Args:
        origin: Where it starts,
            as an IATA code.
        seats (int): How many: at least one.

    Returns:
        cabin: not a parameter's description.
    """
    return (origin, seats, cabin, tags, note, price)


class TestPlainSignatures:
    def test_the_schema(self):
        tool = ToolSpec.from_function(book)
        assert tool.name == "book"
        assert tool.description == "Book a flight for somebody."
        assert tool.schema == {
            "type": "object",
            "properties": {
                "origin": {"type": "string", "description": "Where it starts, as an IATA code."},
                "seats": {"type": "integer", "description": "How many: at least one."},
                "cabin": {
                    "type": "string",
                    "enum": ["economy", "business"],
                    "default": "economy",
                },
                "tags": {
                    "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
                    "default": None,
                },
                "note": {"type": "string", "description": "for the crew", "default": ""},
                "price": {"type": "number", "default": 0},
            },
            "required": ["origin", "seats"],
        }

    @pytest.mark.parametrize(
        ("annotation", "schema"),
        [
            (bool, {"type": "boolean"}),
            (None, {"type": "null"}),
            (Any, {}),
            (list, {"type": "array"}),
            (dict, {"type": "object", "additionalProperties": True}),
            (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
            (list[list[float]], {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}),
            (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
            (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045
            (Literal["a", 1, None], {"enum": ["a", 1, None]}),  # noqa: PYI061
            (Literal[1, 2], {"type": "integer", "enum": [1, 2]}),
        ],
    )  # fmt: skip
    def test_each_plain_annotation(self, annotation, schema):
        def tool(a): ...

        tool.__annotations__ = {"a": annotation}
        assert ToolSpec.from_function(tool).schema["properties"]["a"] == schema

    def test_what_is_not_annotated_may_be_anything(self):
        def tool(a, b=1, *, c=dt.date(2024, 1, 1), d=float("nan")):
            return a

        properties = ToolSpec.from_function(tool).schema["properties"]
        assert properties == {"a": {}, "b": {"default": 1}, "c": {}, "d": {}}

    def test_further_keywords_open_the_schema(self):
        def anything(a: int, **more):
            return more

        def numbers(**more: int):
            return more

        assert ToolSpec.from_function(anything).is_valid({"a": 1, "z": [2]})
        assert ToolSpec.from_function(anything).run({"a": 1, "z": 2}) == {"z": 2}
        assert not ToolSpec.from_function(numbers).is_valid({"z": "x"})

    def test_a_whole_number_becomes_an_int_where_one_is_asked_for(self):
        def tool(
            a: int,
            b: list[int],
            c: int | None,
            d: dict[str, int],
            e: int | float,  # noqa: PYI041
            f: float,
            g: Literal[1, 2],
        ):
            return [a, b, c, d, e, f, g]

        args = {"a": 1.0, "b": [1.0], "c": 2.0, "d": {"x": 3.0}, "e": 4.0, "f": 5.0, "g": 2.0}
        assert ToolSpec.from_function(tool).is_valid(args)
        assert repr(ToolSpec.from_function(tool).run(args)) == "[1, [1], 2, {'x': 3}, 4.0, 5.0, 2]"

    def test_they_need_no_pydantic_model(self):
        code = (
            "import sys; from selfcorrect.tools import ToolSpec\n"
            "def f(a: int, b: list[str] | None = None): return a\n"
            "assert ToolSpec.from_function(f).run({'a': 1}) == 1\n"
            "heavy = ('asyncio', 'jsonschema', 'jsonschema_rs', 'pydantic', 'langchain_core')\n"
            "print(*(m for m in heavy if m in sys.modules))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == []


class TestTypedSignatures:
    @staticmethod
    def tool(
        day: dt.date,
        color: Color = Color.RED,
        person: Person | None = None,
        at: dt.datetime | None = None,
        amount: decimal.Decimal = decimal.Decimal(1),
        unique: set[int] = frozenset(),
        pair: tuple[int, str] = (1, "a"),
        key: uuid.UUID | None = None,
        point: Point | None = None,
        count: Annotated[int, Field(ge=1, description="how many")] = 1,
        size: int = Field(3, ge=1, le=9),
        _private: int = 1,
        model_config: str = "",
        schema: str = "",
        opaque: float = float("nan"),
        **more: int,
    ):
        """Take everything.

        Args:
            day: The day.
            count: Not this one.
        """
        return locals()

    def test_the_schema(self):
        schema = ToolSpec.from_function(self.tool).schema
        properties = schema["properties"]
        assert schema["required"] == ["day"]
        assert properties["day"] == {"type": "string", "format": "date", "description": "The day."}
        assert properties["count"]["description"] == "how many"
        assert properties["size"] == {"type": "integer", "minimum": 1, "maximum": 9, "default": 3}
        assert properties["color"] == {"$ref": "#/$defs/Color", "default": "red"}
        assert "default" not in properties["opaque"]
        assert {"_private", "model_config", "schema"} < properties.keys()
        assert "title" not in properties["size"]
        assert schema["additionalProperties"] == {"type": "integer"}

    def test_the_function_gets_the_types_that_it_is_annotated_with(self):
        tool = ToolSpec.from_function(self.tool)
        args = {
            "day": "2024-01-01",
            "color": "blue",
            "person": {"name": "a", "born": "2000-01-01", "friends": [{"name": "b"}]},
            "at": "2024-01-01T10:00:00",
            "amount": "1.5",
            "unique": [1, 2],
            "pair": [2, "b"],
            "key": "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
            "point": {"x": 1.0},
            "count": 5.0,
            "_private": 2,
            "schema": "s",
            "extra": 7,
        }
        assert tool.violations(args) == ()
        got = tool.run(args)
        assert got["day"] == dt.date(2024, 1, 1)
        assert got["color"] is Color.BLUE
        assert got["person"].friends[0].name == "b"
        assert got["at"] == dt.datetime(2024, 1, 1, 10, 0)  # noqa: DTZ001
        assert got["amount"] == decimal.Decimal("1.5")
        assert got["unique"] == {1, 2}
        assert got["pair"] == (2, "b")
        assert isinstance(got["key"], uuid.UUID)
        assert got["point"] == Point(1)
        assert repr(got["count"]) == "5"
        assert got["more"] == {"extra": 7}

    def test_what_is_absent_takes_the_functions_own_default(self):
        got = ToolSpec.from_function(self.tool).run({"day": "2024-01-01"})
        assert got["pair"] == (1, "a")
        assert got["size"] == 3
        assert got["unique"] == frozenset()

    def test_nested_models_are_closed(self):
        tool = ToolSpec.from_function(self.tool)
        args = {"day": "2024-01-01", "person": {"name": "a", "z": 1}, "point": {"x": 1, "z": 1}}
        texts = {finding.text for finding in tool.violations(args)}
        assert texts == {"unknown argument 'person.z'", "unknown argument 'point.z'"}

    def test_what_fits_the_schema_but_not_the_types_never_reaches_the_function(self):
        called = []

        def grow(picky: Picky):
            called.append(picky)

        tool = ToolSpec.from_function(grow)
        assert tool.is_valid({"picky": {"size": 5}})
        with pytest.raises(ArgumentDeserializationError) as caught:
            tool.run({"picky": {"size": 5}})
        assert caught.value.target == "grow"
        assert isinstance(caught.value.cause, ValidationError)
        assert caught.value.__cause__ is caught.value.cause
        assert called == []


class Service:
    def method(self, a: int):
        """Serve."""
        return a

    async def later(self, a: int):
        return a

    @classmethod
    def of_class(cls, a: int):
        return a

    @staticmethod
    def static(a: int):
        return a

    def __call__(self, a: int):
        """Be called."""
        return a


class TestWhatCanBeATool:
    @pytest.mark.parametrize(
        ("function", "name", "is_async"),
        [
            (Service().method, "method", False),
            (Service().later, "later", True),
            (Service.of_class, "of_class", False),
            (Service.static, "static", False),
            (Service(), "Service", False),
            (functools.partial(Service().method), "method", False),
            (functools.partial(Service().later), "later", True),
        ],
    )
    def test_callables(self, function, name, is_async):
        tool = ToolSpec.from_function(function)
        assert (tool.name, tool.is_async) == (name, is_async)
        assert tool.schema["required"] == ["a"]
        assert asyncio.run(tool.arun({"a": 1})) == 1

    def test_a_partial_hides_what_it_fills_in(self):
        tool = ToolSpec.from_function(functools.partial(book, "LHR", note="x"))
        assert list(tool.schema["properties"]) == ["seats", "cabin", "tags", "price"]
        assert tool.run({"seats": 1})[:2] == ("LHR", 1)

    def test_a_wrapper_has_the_signature_of_what_it_wraps(self):
        @functools.wraps(book)
        def wrapper(*args, **kwargs):
            return book(*args, **kwargs)

        assert ToolSpec.from_function(wrapper).schema == ToolSpec.from_function(book).schema

    def test_the_docstring_of_an_object_is_that_of_its_call(self):
        assert ToolSpec.from_function(Service()).description == "Be called."

    @staticmethod
    def positional(a, /): ...
    @staticmethod
    def variadic(*a): ...
    @staticmethod
    def unknown(a: Nowhere): ...  # noqa: F821
    @staticmethod
    def callback(a: Callable[[int], int]): ...
    @staticmethod
    def opaque(a: Service): ...
    @staticmethod
    def kwargs_of_a_type(**a: Person): ...
    @staticmethod
    def generator(a: int):
        yield a

    @staticmethod
    async def async_generator(a: int):
        yield a

    @pytest.mark.parametrize(
        ("function", "why"),
        [
            (positional, "'a' is positional-only"),
            (variadic, "turn *a into a list"),
            (unknown, "'Nowhere' is not defined"),
            (callback, "pydantic has no schema"),
            (opaque, "pydantic has no schema"),
            (kwargs_of_a_type, "plain JSON"),
            (generator, "yields"),
            (async_generator, "yields"),
            (Service.method, "is a method"),
            (Service, "is a class"),
            (Person, "is a class"),
            (len, "positional-only"),
            (max, "cannot be read"),
            (print, "turn *args"),
            (lambda a: a, "use def"),
            (5, "is not a function"),
            (None, "is not a function"),
        ],
    )
    def test_what_cannot_is_refused_in_words(self, function, why):
        function = getattr(function, "__func__", function)
        with pytest.raises(ToolDefinitionError) as caught:
            ToolSpec.from_function(function)
        assert why in str(caught.value)

    @pytest.mark.parametrize(
        "options",
        [
            {"effect": "readonly"},
            {"effect": ["read_only"]},
            {"timeout": 0},
            {"timeout": -1},
            {"timeout": float("nan")},
            {"timeout": True},
            {"timeout": "5"},
            {"name": " "},
            {"name": 5},
        ],
    )
    def test_bad_options(self, options):
        with pytest.raises(ToolDefinitionError):
            ToolSpec.from_function(book, **options)

    def test_effects(self):
        tool = ToolSpec.from_function(book)
        assert (tool.effect, tool.declared) == ("mutating", False)
        for effect in EFFECTS:
            declared = tool.has_effect(effect)
            assert (declared.effect, declared.declared) == (effect, True)
            assert declared.run({"origin": "LHR", "seats": 1}) == tool.run(
                {"origin": "LHR", "seats": 1}
            )
        with pytest.raises(ToolDefinitionError, match="did you mean 'read_only'"):
            tool.has_effect("readonly")

    def test_equality_is_identity_and_the_repr_short(self):
        tool = ToolSpec.from_function(book, effect="read_only")
        assert tool == tool  # noqa: PLR0124
        assert tool != ToolSpec.from_function(book, effect="read_only")
        assert {tool: 1}[tool] == 1
        assert repr(tool) == "<ToolSpec book, read_only>"
        assert repr(ToolSpec.from_function(book)) == "<ToolSpec book, effect undeclared>"
        with pytest.raises(dataclasses.FrozenInstanceError):
            tool.name = "other"


PARAMETERS = {"type": "object", "properties": {"a": {"type": "integer"}}}


class TestFromSchema:
    @pytest.mark.parametrize(
        "schema",
        [
            {"type": "function", "function": {"name": "t", "description": "d", "parameters": PARAMETERS}},
            {"type": "function", "name": "t", "description": "d", "parameters": PARAMETERS},
            {"name": "t", "description": "d", "parameters": PARAMETERS, "strict": True},
            {"name": "t", "description": "d", "input_schema": PARAMETERS},
            {"name": "t", "description": "d", "inputSchema": PARAMETERS, "annotations": {}},
        ],
    )  # fmt: skip
    def test_every_form(self, schema):
        tool = ToolSpec.from_schema(schema, call=lambda a=0: a, effect="read_only")
        assert (tool.name, tool.description, tool.schema) == ("t", "d", PARAMETERS)
        assert tool.run({"a": 5}) == 5
        assert [finding.text for finding in tool.violations({"z": 1})] == ["unknown argument 'z'"]

    @pytest.mark.parametrize("schema", [{"name": "t"}, {"name": "t", "parameters": None}])
    def test_no_parameters(self, schema):
        tool = ToolSpec.from_schema(schema, call=dict)
        assert tool.is_valid({})
        assert not tool.is_valid({"a": 1})

    def test_what_is_sent_is_a_copy_and_stays_open(self):
        schema = {"name": "t", "parameters": {"properties": {"a": {"properties": {"b": {}}}}}}
        tool = ToolSpec.from_schema(schema, call=dict)
        assert tool.schema == schema["parameters"]
        schema["parameters"]["properties"]["c"] = {}
        assert "c" not in tool.schema["properties"]

    @pytest.mark.parametrize(
        "schema",
        [
            *({"name": name} for name in ("", "  ", None, 5, "\ud800")),
            *({}, {"function": "t"}, {"description": "d"}, [], "t", None),
            *({"name": "t", "parameters": each} for each in ([], "x", {"type": "string"})),
        ],
    )
    def test_bad_ones(self, schema):
        with pytest.raises(ToolDefinitionError):
            ToolSpec.from_schema(schema, call=dict)

    def test_call_must_be_callable(self):
        with pytest.raises(ToolDefinitionError, match="call must be callable"):
            ToolSpec.from_schema({"name": "t"}, call="f")

    def test_without_one_it_only_checks(self):
        tool = ToolSpec.from_schema({"name": "t", "parameters": PARAMETERS})
        assert tool.is_valid({"a": 1})
        with pytest.raises(GraphSetupError, match="nothing to call"):
            tool.run({"a": 1})
        with pytest.raises(GraphSetupError, match="nothing to call"):
            asyncio.run(tool.arun({"a": 1}))

    def test_an_async_call(self):
        async def call(a):
            return a

        tool = ToolSpec.from_schema({"name": "t", "parameters": PARAMETERS}, call=call)
        assert tool.is_async
        assert asyncio.run(tool.arun({"a": 1})) == 1


def raising(error):
    def tool(a: int = 1):
        raise error

    return tool


def raising_async(error):
    async def tool(a: int = 1):
        raise error

    return tool


class TestRunning:
    def test_a_sync_run_of_an_async_tool_says_what_to_do(self):
        tool = ToolSpec.from_function(raising_async(ValueError()))
        with pytest.raises(GraphSetupError, match="'tool' is async: call ainvoke"):
            tool.run({})

    def test_a_sync_function_may_return_something_to_await(self):
        def tool():
            async def later():
                return 5

            return later()

        spec = ToolSpec.from_function(tool)
        assert asyncio.run(spec.arun({})) == 5
        with pytest.raises(GraphSetupError, match="ainvoke"):
            spec.run({})

    @pytest.mark.parametrize("timeout", [None, 5])
    @pytest.mark.parametrize(
        "error",
        [
            *(ValueError("x"), KeyError("k"), TimeoutError("its own"), RecursionError()),
            *(SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()),
        ],
        ids=repr,
    )
    def test_whatever_it_raises_comes_out_as_it_is(self, error, timeout):
        tool = ToolSpec.from_function(raising(error), timeout=timeout)
        with pytest.raises(type(error)) as caught:
            tool.run({})
        assert caught.value is error

        async def outcome(spec):
            with pytest.raises(type(error)) as caught:
                await spec.arun({})
            return caught.value

        assert asyncio.run(outcome(tool)) is error
        later = ToolSpec.from_function(raising_async(error), timeout=timeout)
        assert asyncio.run(outcome(later)) is error

    @pytest.mark.parametrize("timeout", [None, 5])
    def test_stop_iteration_never_hangs(self, timeout):
        tool = ToolSpec.from_function(raising(StopIteration(1)), timeout=timeout)
        with pytest.raises(StopIteration):
            tool.run({})
        with pytest.raises(RuntimeError, match="StopIteration"):
            asyncio.run(tool.arun({}))

    @pytest.mark.parametrize("timeout", [None, 5])
    def test_the_context_is_kept(self, timeout):
        variable = contextvars.ContextVar("variable", default=0)

        def tool():
            return variable.get()

        spec = ToolSpec.from_function(tool, timeout=timeout)
        variable.set(7)
        assert spec.run({}) == 7
        assert asyncio.run(spec.arun({})) == 7

    def test_an_async_run_keeps_the_loop_free(self):
        released = threading.Event()

        def tool():
            return released.wait(10)

        async def both():
            running = asyncio.create_task(ToolSpec.from_function(tool).arun({}))
            await asyncio.to_thread(released.set)
            return await running

        assert asyncio.run(both())

    def test_a_late_tool_times_out(self):
        released = threading.Event()

        def tool():
            released.wait(10)

        async def later():
            await asyncio.Event().wait()

        spec = ToolSpec.from_function(tool, timeout=0.01)
        expected = "tool 'tool' did not answer within 0.01 s"
        try:
            with pytest.raises(TimeoutError, match=expected):
                spec.run({})
            with pytest.raises(TimeoutError, match=expected):
                asyncio.run(spec.arun({}))
            with pytest.raises(TimeoutError, match="'later' did not answer"):
                asyncio.run(ToolSpec.from_function(later, timeout=0.01).arun({}))
        finally:
            released.set()

    def test_cancelling_is_not_a_timeout(self):
        async def later():
            await asyncio.Event().wait()

        async def main():
            running = asyncio.create_task(ToolSpec.from_function(later, timeout=10).arun({}))
            await asyncio.sleep(0)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running

        asyncio.run(main())

    def test_a_tool_that_changes_its_arguments_changes_a_copy(self):
        def tool(items: list[int], more: dict[str, list[int]]):
            items.append(1)
            more["a"].append(2)
            return items, more

        args = {"items": [0], "more": {"a": []}}
        assert ToolSpec.from_function(tool).run(args) == ([0, 1], {"a": [2]})
        assert args == {"items": [0], "more": {"a": []}}


class TestToolSpecs:
    def test_everything_that_can_be_a_tool(self):
        spec = ToolSpec.from_function(book, name="other")
        specs = tool_specs(tool for tool in [book, spec, {"name": "t"}])
        assert list(specs) == ["book", "other", "t"]
        assert specs["other"] is spec
        assert tool_specs([]) == {}

    def test_a_mapping_names_functions(self):
        spec = ToolSpec.from_function(book)
        assert tool_specs({"reserve": book})["reserve"].name == "reserve"
        assert tool_specs({"book": spec})["book"] is spec
        with pytest.raises(ToolDefinitionError, match="use one name"):
            tool_specs({"reserve": spec})

    @pytest.mark.parametrize(
        ("tools", "why"),
        [
            ([book, book], "two tools named 'book'"),
            ([book, {"name": "book"}], "two tools named 'book'"),
            (book, "write [tool]"),
            (ToolSpec.from_function(book), "write [tool]"),
            ("book", "write [tool]"),
            ({"name": "t", "parameters": PARAMETERS}, "write [tool]"),
            (None, "must be a list"),
            (5, "must be a list"),
            ([None], "is not a tool"),
            (["book"], "is not a tool"),
            ([int], "is a class"),
            ([{"parameters": PARAMETERS}], "needs a name"),
            ({1: book}, "needs a name"),
            (
                [{"name": "t", "parameter_definitions": {"a": {"type": "str"}}}],
                "under 'parameters'",
            ),
            ([{"name": "t", "args_schema": PARAMETERS}], "'args_schema' is not read"),
            ([{"function": {"name": "t", "properties": {"a": {}}}}], "under 'parameters'"),
            ([{"name": "t", "parameters": {"properties": {"a": {"type": "no"}}}}], "'t'"),
            ([{"name": "t", "parameters": {"properties": {"a": {"$ref": "http://x"}}}}], "fetched"),
        ],
    )
    def test_what_is_refused_at_the_start(self, tools, why):
        with pytest.raises(ToolDefinitionError) as caught:
            tool_specs(tools)
        assert why in str(caught.value)

    def test_a_mapping_of_any_kind(self):
        class Tools(Mapping):
            def __getitem__(self, key):
                return {"book": book}[key]

            def __iter__(self):
                return iter(["book"])

            def __len__(self):
                return 1

        assert list(tool_specs(Tools())) == ["book"]


GEMINI = {
    "type": "OBJECT",
    "properties": {
        "type": {"type": "STRING", "enum": ["one_way", "return"], "nullable": True},
        "stops": {"type": "ARRAY", "maxItems": "2", "items": {"type": "STRING"}},
        "n": {"anyOf": [{"type": "INTEGER"}, {"type": "STRING"}], "nullable": True},
    },
    "propertyOrdering": ["type", "stops"],
    "required": ["type", "n"],
}


@pytest.mark.parametrize(
    "schema",
    [
        {"name": "fly", "parameters": GEMINI},
        {"name": "fly", "parametersJsonSchema": GEMINI},
        {"toolSpec": {"name": "fly", "inputSchema": {"json": GEMINI}}},
        {"functionDeclarations": [{"name": "fly", "parameters": GEMINI}]},
    ],
)
def test_every_providers_way_to_write_a_tool_is_read(schema):
    spec = tool_specs([schema])["fly"]
    assert spec.schema["properties"]["type"]["type"] == ["string", "null"]
    good = {"type": None, "stops": ["a", "b"], "n": None}
    assert spec.is_valid(good)
    assert spec.is_valid({**good, "type": "return", "n": 1})
    assert not spec.is_valid({**good, "stops": ["a", "b", "c"]})
    assert not spec.is_valid({**good, "type": "both"})
    assert not spec.is_valid({**good, "n": 1.5})
