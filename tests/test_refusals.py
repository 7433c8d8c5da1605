"""Every refusal that the design asks for, against every built-in strategy at once.

Under the default policy changes of class exact and inferred run unasked. So for each call here no
strategy may answer with such a change, but for the one outcome that is named, if any is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from selfcorrect import Mender
from selfcorrect.kernel.changes import Step, judge
from selfcorrect.mapping.registry import bind, built_in_names, resolve
from selfcorrect.model import Call, Category, Changed, Diagnosis, Finding, Safety
from selfcorrect.pointer import apply
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.slots import slots_of
from selfcorrect.testing.conformance import try_strategy
from selfcorrect.tools import ToolSpec

UNASKED = {Safety.EXACT, Safety.INFERRED}
FREE = [name for name in built_in_names() if resolve(name).needs == "nothing"]

INT, NUM, TEXT, BOOL = ({"type": t} for t in ("integer", "number", "string", "boolean"))
DAY = {"type": "string", "format": "date"}
INSTANT = {"type": "string", "format": "date-time"}
TEXTS = {"type": "array", "items": TEXT}
CABIN = {"enum": ["economy", "business", "first"]}


@dataclass(frozen=True)
class Row:
    """A call that nobody may mend unasked, except into `only`."""

    why: str
    schema: dict[str, Any]
    args: dict[str, Any]
    only: dict[str, Any] | None = None
    effect: str = "mutating"
    required: tuple[str, ...] = ()
    told: tuple[Finding, ...] = field(default=())


def one(why, schema, *values, name="x"):
    """The same refusal for several values of one required argument."""
    return [Row(why, {name: schema}, {name: value}, required=(name,)) for value in values]


ROWS = [
    *one("day or month", DAY, "03/04/2026", "3-4-2026", "04.03.2026", "1/2/2026"),
    *one("the year is not said", DAY, "Oct 26", "26 October", "10/26", "26.10."),
    *one("a year of two digits", DAY, "10/26/26", "26 Oct 26", "26-10-26"),
    *one("relative to what", DAY, "tomorrow", "next Friday", "in two weeks", "Friday"),
    *one("no such day", DAY, "2026-02-30", "31 April 2026", "2026-13-01", "2026-99-99"),
    *one("the weekday disagrees", DAY, "Monday, October 27, 2026"),
    *one("a time that would be lost", DAY, "2026-10-26T14:00:00", "2026-10-26T00:00:00Z"),
    *one("a zone that nobody said", INSTANT, "2026-10-26 14:00:00", "2026-10-26"),
    *one("two dates", DAY, "2026-10-26 or 2026-10-27", "Oct 26-28, 2026"),
    *one("a fraction for a whole number", INT, 2.5, "2.5", "1/2", "2,5", "two and a half"),
    *one("a number with two readings", NUM, "1,234", "50.000", "+1", "5,5", "1 234", "1.234.567"),
    *one("no number", NUM, "1e400", "NaN", "Infinity", "0x10", "1_000", "\u0663", "abc", "", "5+5"),
    *one("a range for one number", INT, "2-3", "2 or 3", "about 5", "> 5", "5+"),
    *one("a unit that nobody asked for", NUM, "5 km", "5%", "5k", "5M", "5 dozen"),
    *one("more digits than a number holds", NUM, "12345678901234567.89"),
    *one("no truth value", BOOL, "maybe", "not true", 2, 0.0, "", "null and void"),
    *one("true for a number", INT, True),
    *one("null where a value is required", INT, None, "null", "None"),
    *one("null where a value is required", CABIN, None, "null", "None"),
    *one("null where a value is required", DAY, None, "null"),
    *one("null where a value is required", TEXTS, None, "null"),
    *one("a value between two", CABIN, "premium economy", "Premium Economy", "economy plus"),
    *one("a negation", CABIN, "not economy", "non-business", "anything but first"),
    *one("several values for one", CABIN, "economy or business", "economy, first", "economy/first"),
    *one("another word", CABIN, "coach", "luxury", "standard", "class", "second"),
    *one("two values equally near", {"enum": ["red a", "red-a"]}, "RED A", "red_a"),
    *one("two values equally near", {"enum": ["cart", "card"]}, "carx", "car"),
    *one("near by letters, far by meaning", {"enum": ["Iraq", "Israel"]}, "Iran"),
    *one("near by letters, far by meaning", {"enum": ["male", "other"]}, "female"),
    *one("near by letters, far by meaning", {"enum": ["lock", "other"]}, "unlock", "block"),
    *one("symbols mean something", {"enum": ["C", "Java"]}, "C++", "C#"),
    *one("signs mean something", {"enum": ["-1", "0"]}, "1", "+1"),
    *one("versions mean something", {"enum": ["v1.0", "v2.0"]}, "v10", "v1", "v1.1"),
    *one("one item with a comma", TEXTS, "Smith, John", "Paris, France", "Dallas, TX"),
    *one("a sentence", TEXTS, "Hello, how are you?", "salt and pepper", "bread, salt and pepper"),
    *one("grouped digits or two numbers", {"type": "array", "items": INT}, "1,234", "10,200"),
    *one("several items for one value", TEXT, ["a", "b"], [], [["a"]], [None]),
    *one("an object for a value", TEXT, {"a": 1}, {"value": 1, "unit": "km"}),
    *one("text cut off inside a string", {"type": "object"}, '{"a": "b', "{'a': 'b"),
    *one("cut off anywhere", {"type": "object"}, '{"a": 1', '{"a": [1, 2]', '{"a"'),
    *one("a key that is written twice", {"type": "object"}, '{"a": 1, "a": 2}'),
    *one("no scheme", {"type": "string", "format": "uri"}, "example.org", "www.example.org"),
    *one("no address", {"type": "string", "format": "email"}, "ann", "ann at example.org"),
    *one("octal or decimal", {"type": "string", "format": "ipv4"}, "010.0.0.1"),
    *one("no country code", {"type": "string", "pattern": r"^\+[1-9]\d{6,14}$"}, "(555) 123-4567"),
    *one("a city is no code", {"type": "string", "pattern": "^[A-Z]{3}$"}, "London", "New York"),
    *one("another user", {"type": "string", "pattern": "^[a-z0-9]+$"}, "john.smith", "john smith"),
    *one("beyond a bound", {"type": "integer", "minimum": 1, "maximum": 9}, 0, 10, -5, 10**30),
    *one("beyond a bound", {"type": "number", "exclusiveMinimum": 0}, 0, -1.5),
    *one("no multiple", {"type": "integer", "multipleOf": 5}, 7),
    *one("too long", {"type": "string", "maxLength": 3}, "abcdef"),
    *one("too short", {"type": "string", "minLength": 3}, "ab"),
    *one("too many", {"type": "array", "maxItems": 1}, [1, 2]),
    Row("money of another currency", {"x": NUM, "currency": TEXT}, {"x": "$5", "currency": "EUR"}),
    Row("money whose currency is not said", {"x": NUM, "currency": TEXT}, {"x": "$5"}),
    Row("cents", {"x": NUM | {"description": "amount in cents"}}, {"x": "$5"}),
    # A strict schema, in which everything is required, names its defaults to be filled in.
    Row("a value that nobody said", {"x": INT | {"default": 1}, "y": INT}, {}, required=("x",)),
    Row("a value that nobody said", {"x": INT}, {}, required=("x",)),
    Row("an argument that the tool does not know", {"x": INT}, {"x": 1, "verbose": True}),
    Row("it may be misspelt", {"return_date": DAY}, {"date": "2026-10-26"}, effect="read_only"),
    Row(
        "a misspelt optional key is mended, never dropped",
        {"return_date": DAY},
        {"retrun_date": "2026-10-26"},
        only={"return_date": "2026-10-26"},
        effect="read_only",
    ),
    Row("two arguments equally near", {"start_date": DAY, "end_date": DAY}, {"date": "2026-10-26"}),
    Row("two keys for one argument", {"city": TEXT}, {"Citty": "a", "cityy": "b"}),
    Row("two spellings, two values", {"city": TEXT}, {"city": "a", "City": "b"}),
    Row("another argument", {"file_name": TEXT}, {"dir_name": "a"}, required=("file_name",)),
    Row("another argument", {"to": TEXT}, {"from": "a"}, required=("to",)),
    Row("another argument", {"id": INT}, {"order_id": 5}, required=("id",)),
    Row("a limit is no value", {"max_price": INT}, {"price": 5}),
    Row("the opposite", {"exclude": TEXT}, {"include": "a"}, required=("exclude",)),
    Row("the wrapper names another tool", {"x": INT}, {"name": "wipe", "arguments": {"x": 1}}),
    Row("wrapped and unwrapped disagree", {"x": INT}, {"x": 1, "arguments": {"x": 2}}),
    Row(
        "no date like it on offer",
        {"x": DAY},
        {"x": "2050-10-26"},
        told=(Finding("full", ("E",), paths=("/args/x",), suggestions=("2050-10-27",)),),
    ),
    Row(
        "a suggestion that is another thing",
        {"x": TEXT},
        {"x": "Berlin"},
        told=(Finding("unknown", ("E",), paths=("/args/x",), suggestions=("Hamburg",)),),
    ),
    Row(
        "two suggestions",
        {"x": TEXT},
        {"x": "berlin"},
        told=(Finding("?", ("E",), paths=("/args/x",), suggestions=("Berlin", "Berlim")),),
    ),
    Row(
        "an error that names no argument",
        {"x": TEXT},
        {"x": "a"},
        told=(Finding("it failed", ("ValueError",), category=Category.BUSINESS_RULE),),
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.why}: {row.args}"[:80])
def test_nothing_is_guessed(row):
    parameters = {"type": "object", "properties": row.schema, "required": list(row.required)}
    schema = {"name": "tool", "parameters": parameters}
    tool = ToolSpec.from_schema(schema, effect=row.effect)
    findings = row.told or tool.violations(row.args)
    assert findings
    context = RepairContext(tool=tool, tools={"tool": tool})
    call, mended = Call("tool", row.args), []
    for name in FREE:
        strategy = bind(resolve(name))
        for finding in findings:
            answer = strategy(call, Diagnosis((finding,)), context)
            if not isinstance(answer, Changed):
                continue
            if UNASKED.issuperset(change.safety for change in answer.changes):
                runs = apply(call, answer.changes)
                # What a strategy says of its change can only make it worse: the kernel decides.
                step = Step(call, runs, slots_of(tool.schema), ["tool"], tool.effect)
                if judge(step).safety not in UNASKED:
                    continue
                after = runs.args
                assert after == row.only, f"{name} answered {after}"
                mended.append(name)
    assert bool(mended) == (row.only is not None)


def tool(name, effect="mutating"):
    return ToolSpec.from_schema({"name": name, "parameters": {"type": "object"}}, effect=effect)


@pytest.mark.parametrize(
    ("requested", "offered"),
    [
        ("delete_order", [tool("create_order")]),
        ("unlock_door", [tool("lock_door")]),
        ("import_data", [tool("export_data")]),
        ("close_ticket", [tool("clone_ticket")]),
        ("activate_plan", [tool("deactivate_plan")]),
        ("account", [tool("delete_account")]),
        ("find_hotel", [tool("search_flights"), tool("book_flight")]),
        ("searchflights", [tool("search_flights"), tool("searchFlights")]),
        ("serch", [tool("search"), tool("serach")]),
        ("get_user_v3", [tool("get_user_v2")]),
        ("se\u0430rch", [tool("search")]),
        ("", [tool("search")]),
    ],
)
@pytest.mark.parametrize("suggested", [False, True])
def test_no_tool_is_guessed(requested, offered, suggested):
    finding = Finding(
        "there is no such tool",
        ("UnknownTool",),
        code="unknown_tool",
        paths=("/name",),
        suggestions=(offered[0].name,) if suggested and "serch" not in requested else (),
    )
    tools = {each.name: each for each in offered}
    for name in FREE:
        if suggested and len(offered) > 1:
            continue
        answer = bind(resolve(name))(
            Call(requested), Diagnosis((finding,)), RepairContext(tools=tools)
        )
        assert not isinstance(answer, Changed), name


@pytest.mark.parametrize("name", ["Delete_User", "delete_usr", "deleteUser", "x.delete_user"])
@pytest.mark.parametrize("strategies", ["default", "local_model"])
def test_what_destroys_is_called_by_its_own_name_alone(name, strategies):
    mender = Mender([tool("delete_user", "destructive")], strategies=strategies)
    assert mender.call({"name": name, "args": {}}).outcome == "failed"
    assert mender.call({"name": "delete_user", "args": {}}).outcome == "valid"


NEVER_EXACT = [
    *one("one best reading", DAY, "Oct 26, 2026", "12/25/2026", "26.10.2026"),
    *one("one best reading", INT, "five", "007"),
    *one("one best reading", BOOL, "yes", 1),
    *one("one best reading", CABIN, "business class", "buisness"),
    *one("one best reading", {"type": "array", "items": INT}, "1, 2"),
    *one("one best reading", TEXTS, "a, b"),
    *one("one best reading", TEXT, ["a"]),
    *one("equal after NFKC only", {"enum": ["m2", "km"]}, "m\u00b2", "\uff4d2"),
    Row("a typo", {"passengers": INT}, {"passangers": 1}, required=("passengers",)),
    Row("equal after NFKC only", {"city": TEXT}, {"\uff43ity": "a"}, required=("city",)),
    Row("a part", {"departure_date": DAY}, {"date": "2026-10-26"}, required=("departure_date",)),
    Row("nested from flat", {"a": {"properties": {"b": INT}}}, {"a.b": 1}),
]


@pytest.mark.parametrize("row", NEVER_EXACT, ids=lambda row: f"{row.why}: {row.args}")
def test_a_reading_is_never_called_exact(row):
    parameters = {"type": "object", "properties": row.schema, "required": list(row.required)}
    tool = ToolSpec.from_schema({"name": "tool", "parameters": parameters})
    for name in FREE:
        for finding in tool.violations(row.args):
            answer = try_strategy(bind(resolve(name)), parameters, row.args, finding)
            if isinstance(answer, Changed):
                assert Safety.EXACT not in {change.safety for change in answer.changes}, name
