"""Equal calls have equal keys: defaults, number forms, Unicode forms and order do not matter."""

import dataclasses
import enum
import itertools
import unicodedata
import uuid
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any

import pytest
from hypothesis import given, strategies as st
from kit import table, type_of
from langchain_core.tools import StructuredTool
from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter

from selfcorrect import Call, ToolSpec
from selfcorrect.effects.equal import call_key, digest, theme_key
from selfcorrect.ledger import MemoryLedger
from selfcorrect.schema.place import Place
from selfcorrect.testing import play

((SCHEMA,),) = table("equal.txt", "schema")
PLACE = Place.of(SCHEMA)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def key(args):
    return call_key(Call("f", args), PLACE)


def test_equal():
    assert [(a, b) for a, b in table("equal.txt", "equal") if key(a) != key(b)] == []


def test_different():
    assert [(a, b) for a, b in table("equal.txt", "different") if key(a) == key(b)] == []


@given(st.dictionaries(st.text(), values))
def test_order_and_unicode_form_do_not_matter(args):
    def decomposed(value):
        if isinstance(value, str):
            return unicodedata.normalize("NFD", value)
        if isinstance(value, dict):
            pairs = [(decomposed(k), decomposed(v)) for k, v in value.items()]
            return dict(reversed(pairs)) if len(dict(pairs)) == len(pairs) else value
        return [decomposed(item) for item in value] if isinstance(value, list) else value

    def composed(value):
        if isinstance(value, str):
            return unicodedata.normalize("NFC", value)
        if isinstance(value, dict):
            return {composed(k): composed(v) for k, v in value.items()}
        return [composed(item) for item in value] if isinstance(value, list) else value

    if len(composed(args)) == len(args):
        assert key(decomposed(composed(args))) == key(composed(args))


STANDS = table("equal.txt", "stands")


def test_each_part_of_an_identity_counts_whatever_its_type():
    same = call_key(Call("f", {}), PLACE)
    keys = [digest("identity", *stands, same) for stands in STANDS]
    assert len(set(keys)) == len(keys)
    assert digest("identity", *STANDS[0], same) == keys[0]


LONG = "Dear Ann, here is the invoice"
THEMES = table("equal.txt", "themes")


@pytest.mark.parametrize(("one", "other", "same"), THEMES)
def test_calls_in_other_words_have_one_theme(one, other, same):
    first, second = (theme_key("thread", Call("send", args), None) for args in (one, other))
    assert first
    assert (first == second) is same
    assert first != theme_key("other thread", Call("send", one), None)


@pytest.mark.parametrize("args", [{"to": "ann", "n": 5}, {"text": LONG}, {}])
def test_a_call_without_short_arguments_or_without_words_has_no_theme(args):
    assert theme_key("thread", Call("send", args), None) == ""


def executions(tool, *calls):
    """Make calls of one task whose answers are lost; return how many reached the tool."""
    ran, ledger = [], MemoryLedger()

    def act(**args):
        ran.append(args)
        raise TimeoutError("no answer")

    spec = dataclasses.replace(tool, call=act)
    for number, args in enumerate(calls):
        call = {"name": spec.name, "args": args, "id": str(number)}
        play([spec], {"call": call, "task_id": "t"}, ledger=ledger)
    return len(ran)


def of_schema(place, *, required=True):
    schema = {"type": "object", "properties": {"x": place}, "required": ["x"] if required else []}
    return ToolSpec.from_schema({"name": "act", "parameters": schema}, effect="mutating")


def of_type(annotation, default=dataclasses.MISSING):
    def act(x):
        return x

    act.__annotations__ = {"x": annotation}
    if default is not dataclasses.MISSING:
        act.__defaults__ = (default,)
    return ToolSpec.from_function(act, effect="mutating")


@pytest.mark.parametrize(("place", "one", "other"), table("equal.txt", "same"))
def test_what_the_schema_says_is_the_same_is_not_made_again(place, one, other):
    assert executions(of_schema(place), {"x": one}, {"x": other}) == 1


@pytest.mark.parametrize(("place", "one", "other"), table("equal.txt", "other"))
def test_what_differs_by_the_schema_is_made(place, one, other):
    assert executions(of_schema(place), {"x": one}, {"x": other}) == 2


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1


class Opt(BaseModel):
    speed: Decimal = Decimal(1)
    tags: set[str] = Field(default_factory=set)


class Outer(BaseModel, extra="allow"):
    opt: Opt = Opt()
    at: datetime | None = None


class Stamped(BaseModel):
    n: int
    id: str = Field(default_factory=lambda: uuid.uuid4().hex)
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    number: int = Field(default_factory=itertools.count().__next__)


class Celsius(BaseModel):
    value: float = Field(alias="c")


class Kelvin(BaseModel):
    value: float = Field(alias="k")


@dataclasses.dataclass
class Pair:
    price: Decimal
    days: frozenset[date] = frozenset()


def drop_dry_run(value):
    value.pop("dry_run", None)
    return value


OWN = (Colour, Level, Opt, Outer, Stamped, Celsius, Kelvin, Pair)


def rows(section):
    """Return rows of the data file with the type that each begins with."""
    return [(type_of(text, *OWN), *more) for text, *more in table("equal.txt", section)]


SAME_BY_TYPE = [
    *rows("same by type"),
    (Annotated[dict, BeforeValidator(drop_dry_run)], {"a": 1, "dry_run": True}, {"a": 1}),
]


@pytest.mark.parametrize(("annotation", "one", "other"), SAME_BY_TYPE)
def test_what_the_function_gets_as_the_same_is_not_made_again(annotation, one, other):
    assert executions(of_type(annotation), {"x": one}, {"x": other}) == 1


@pytest.mark.parametrize(("annotation", "one", "other"), rows("other by type"))
def test_what_the_function_gets_as_something_else_is_made(annotation, one, other):
    assert executions(of_type(annotation), {"x": one}, {"x": other}) == 2


DEFAULTS = [
    *(
        (kind, TypeAdapter(kind).validate_python(default), named)
        for kind, default, named in rows("defaults")
    ),
    # A default of another type than the one that is annotated.
    (Decimal, 5, ["5"]),
    (Colour, "red", ["red"]),
    (list[str], ("a",), [["a"]]),
    (Annotated[list[str], Field(default_factory=list)], dataclasses.MISSING, [[]]),
]


@pytest.mark.parametrize(("annotation", "default", "named"), DEFAULTS)
def test_a_default_left_out_is_a_default_named(annotation, default, named):
    calls = [{}, *({"x": value} for value in named), {}]
    assert executions(of_type(annotation, default), *calls) == 1


@pytest.mark.filterwarnings("ignore:Default value")
def test_a_state_beside_the_arguments_makes_no_call_another():
    class Client:
        calls = 0

    client = Client()

    def pay(to: str, client: Any = client):
        return to

    spec = ToolSpec.from_function(pay, effect="mutating")
    ran, ledger = [], MemoryLedger()

    def act(to):
        ran.append(to)
        client.calls += 1
        raise TimeoutError("no answer")

    for number in "12":
        call = {"name": "pay", "args": {"to": "ann"}, "id": number}
        given_ = {"call": call, "task_id": "t"}
        play([dataclasses.replace(spec, call=act)], given_, ledger=ledger)
    assert ran == ["ann"]


def test_a_langchain_tool_is_known_by_its_types():
    class Args(BaseModel):
        at: timedelta = timedelta(hours=1)
        tags: set[str] = Field(default_factory=set)

    made = StructuredTool.from_function(
        lambda at, tags: "ok", name="act", description="d", args_schema=Args
    )
    spec = ToolSpec.from_langchain(made, effect="mutating")
    calls = {}, {"at": "PT60M"}, {"tags": []}, {"tags": ["a", "b"]}, {"tags": ["b", "a"]}
    assert executions(spec, *calls) == 2


HOMES = table("equal.txt", "homes")


@pytest.mark.parametrize(("one", "other", "ran"), HOMES)
def test_a_scope_is_of_any_type(one, other, ran):
    made, ledger = [], MemoryLedger()

    def act():
        made.append(1)
        raise TimeoutError("no answer")

    spec = ToolSpec.from_function(act, effect="mutating")
    for home in (one, other):
        play([spec], {"call": {"name": "act", "args": {}}, **home}, ledger=ledger)
    assert len(made) == ran


@pytest.mark.parametrize("parts", [({"index": 0}, {"index": 1}), ({"message_id": 0}, {})])
def test_equal_calls_of_two_places_are_two(parts):
    made, ledger = [], MemoryLedger()

    def act():
        made.append(1)
        return "ok"

    spec = ToolSpec.from_function(act, effect="mutating")
    for part in (*parts, *parts):
        given_ = {"call": {"name": "act", "args": {}}, "task_id": "t", **part}
        play([spec], given_, ledger=ledger)
    assert len(made) == 2


@pytest.mark.parametrize(("text", "is_free"), table("equal.txt", "free"))
def test_words_are_free_in_any_script(text, is_free):
    assert bool(theme_key("t", Call("send", {"to": "ann", "text": text}), None)) is is_free
