"""rename-tool: the one tool that was meant, never a dangerous one, never another word."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.model import Call, Changed, Diagnosis, Finding, GiveUp, Safety
from selfcorrect.policies.safety import SafetyPolicy
from selfcorrect.protocols import RepairContext
from selfcorrect.repairs.rename_tool import RenameTool
from selfcorrect.testing.conformance import try_rename
from selfcorrect.tools import ToolSpec

TRAVEL = ["search_flights", "book_flight", "cancel_booking", "get_weather"]


def meant(name, tools):
    """(new name, class), or None."""
    answer = try_rename(RenameTool(), name, tools)
    if not isinstance(answer, Changed):
        assert answer.reason
        return None
    (change,) = answer.changes
    assert (change.path, change.before) == ("/name", name)
    return change.after, change.safety.value


@pytest.mark.parametrize(
    ("name", "tools", "after", "safety"),
    [
        ("Search_Flights", TRAVEL, "search_flights", "exact"),
        ("searchFlights", TRAVEL, "search_flights", "exact"),
        ("search-flights", TRAVEL, "search_flights", "exact"),
        ("'search_flights'", TRAVEL, "search_flights", "exact"),
        (" search_flights()", TRAVEL, "search_flights", "exact"),
        ("search flights", TRAVEL, "search_flights", "exact"),
        ("functions.search_flights", TRAVEL, "search_flights", "exact"),
        ("default_api.searchFlights", TRAVEL, "search_flights", "exact"),
        ("tools.search_flights", TRAVEL, "search_flights", "exact"),
        ("search_flights<|channel|>commentary", TRAVEL, "search_flights", "exact"),
        ("ls<|channel|>", ["ls", "cat"], "ls", "exact"),
        ("\uff53earch_flights", TRAVEL, "search_flights", "inferred"),
        ("serach_flights", TRAVEL, "search_flights", "inferred"),
        ("search_flihgts", TRAVEL, "search_flights", "inferred"),
        ("search_flight", TRAVEL, "search_flights", "lossy"),
        ("hote.book", ["car.rental", "hotel.book"], "hotel.book", "inferred"),
        (
            "FindTrains",
            ["Trains_1_FindTrains", "Events_3_FindEvents"],
            "Trains_1_FindTrains",
            "lossy",
        ),
        ("generate_scale", ["music.generate_scale"], "music.generate_scale", "inferred"),
        ("get_weather_tool", TRAVEL, "get_weather", "inferred"),
        ("get_weather.get_weather", TRAVEL, "get_weather", "inferred"),
        ("hotel.book.book", ["car.rental", "hotel.book"], "hotel.book", "inferred"),
    ],
)
def test_renames(name, tools, after, safety):
    assert meant(name, tools) == (after, safety)


@pytest.mark.parametrize(
    ("name", "tools"),
    [
        ("find_hotel", TRAVEL),
        ("delete_order", ["create_order"]),
        ("create_order", ["delete_order", "update_order"]),
        ("unlock_door", ["lock_door"]),
        ("import_data", ["export_data"]),
        ("close_ticket", ["clone_ticket"]),
        ("send_money", ["lend_money"]),
        ("start_server", ["restart_server"]),
        ("enable_user", ["disable_user"]),
        ("decrease_limit", ["increase_limit"]),
        ("get_user_v2", ["get_user_v1"]),
        ("tool_1_0", ["tool_10"]),
        ("step1", ["step2"]),
        ("search_Flights", ["search_flights", "searchFlights"]),
        ("serch_flights", ["search_flights", "serve_flights", "serch_fligths"]),
        ("se\u0430rch_flights", TRAVEL),
        ("order", ["delete_order"]),
        ("delete.order", ["order"]),
        ("cancel.search_flights", ["search_flights"]),
        ("music.generate_scale", ["generate_scale", "play"]),
        ("mcp__travel__search_flights", TRAVEL),
        ("multi_tool_use.search_flights", TRAVEL),
        ("schedule.search_flights", ["schedule.create", "schedule.remove", "search_flights"]),
        ("flights", TRAVEL),
        ("search", TRAVEL),
        ("func1", ["basketball.stats"]),
        ("", TRAVEL),
        ("''", TRAVEL),
        ("<|channel|>", TRAVEL),
        ("\u202e", TRAVEL),
        ("\u0645\u0631\u062d\u0628\u0627", ["\u0633\u0644\u0627\u0645"]),
        ("s" * 1_000_000, TRAVEL),
        ("a" + "\u0301" * 100_000, TRAVEL),
        ("search_flights", []),
    ],
)
def test_refuses(name, tools):
    assert meant(name, tools) is None


def tool(name, effect):
    return ToolSpec.from_schema({"name": name, "parameters": {"type": "object"}}, effect=effect)


@pytest.mark.parametrize(
    "name", ["Delete_User", "delete_user<|x|>", "functions.delete_user", "delete_usr"]
)
def test_never_onto_a_destructive_tool(name):
    allowed = SafetyPolicy(allow=frozenset(Safety))
    for effect, count in (("destructive", 1), ("mutating", 0)):
        tools = {"delete_user": tool("delete_user", effect)}
        made = try_rename(RenameTool(), name, [*tools.values()])
        assert len(allowed.refusals(made.changes, tools, tools["delete_user"])) == count


@pytest.mark.parametrize("name", ["delete_usr", "delte_user"])
def test_no_slip_onto_a_tool_that_sounds_destructive_and_is_not_declared(name):
    tools = [tool("delete_user", None), tool("get_deleted_users", None)]
    assert meant(name, tools) == ("delete_user", "lossy")


@pytest.mark.parametrize("name", ["Delete_User", "functions.delete_user", "delete_user:0"])
def test_another_spelling_of_a_tool_that_sounds_destructive(name):
    assert meant(name, [tool("delete_user", None)]) is not None


def taking(name, *params):
    properties = {param: {} for param in params}
    schema = {"type": "object", "properties": properties, "required": list(params)}
    return ToolSpec.from_schema({"name": name, "parameters": schema})


def test_arguments_break_no_tie_of_namespaces():
    tools = [taking("money.convert", "amount", "currency"), taking("unit.convert", "value", "unit")]
    rename = RenameTool()
    assert isinstance(try_rename(rename, "convert", tools), GiveUp)
    assert isinstance(try_rename(rename, "convert", tools, {"value": 1, "unit": "km"}), GiveUp)
    assert isinstance(try_rename(rename, "convert", tools, {"value": 1}), GiveUp)
    assert isinstance(try_rename(rename, "transform", tools, {"value": 1, "unit": "km"}), GiveUp)


def reading(name, *params):
    return replace(taking(name, *params), effect="read_only")


EVENTS = {"country": "x", "year": 1}


@pytest.mark.parametrize(
    ("name", "tools"),
    [
        ("history.events", [reading("history.key_events", *EVENTS)]),
        ("get_events", [reading("get_key_events", *EVENTS), taking("book")]),
        # a tool that acts, or two that take the arguments
        ("get_events", [taking("get_key_events", *EVENTS)]),
        ("events", [reading("key_events", *EVENTS), reading("new_events", *EVENTS)]),
        # something missing or unknown
        ("get_events", [reading("get_key_events", *EVENTS, "day")]),
        ("get_events", [reading("get_key_events", "country")]),
        # another word, one more, or a verb less
        ("find_fastest_route", [reading("prime_numbers_in_range", *EVENTS)]),
        ("schedule_events", [reading("events", *EVENTS)]),
        ("past_events", [reading("key_events", *EVENTS)]),
        ("events", [reading("delete_events", *EVENTS)]),
        ("func1", [reading("get_key_events", *EVENTS)]),
        # a word that another tool has as well
        ("get_events", [reading("get_key_events", *EVENTS), taking("list_events")]),
    ],
)
def test_arguments_rename_nothing(name, tools):
    assert isinstance(try_rename(RenameTool(), name, tools, EVENTS), GiveUp)


@pytest.mark.parametrize("name", ["func1", "transform"])
def test_the_one_tool_that_takes_the_arguments_is_named(name):
    answer = try_rename(RenameTool(), name, [taking("events", *EVENTS), taking("book")], EVENTS)
    assert 'Did you mean "events"?' in answer.reason
    answer = try_rename(RenameTool(), name, [taking("delete_events", *EVENTS)], EVENTS)
    assert "Did you mean" not in answer.reason


def test_a_namespace_was_not_left_out_of_a_tool_that_takes_other_arguments():
    tools = [taking("interval.calculate", "mean", "size")]
    assert try_rename(RenameTool(), "calculate", tools, {"mean": 1}).changes[0].after
    (change,) = try_rename(RenameTool(), "calculate", tools, {"expression": "1+1"}).changes
    assert change.safety.value == "lossy"


@pytest.mark.parametrize("name", ["[{", "", "''", "<|x|>"])
def test_arguments_stand_for_a_name_that_is_none(name):
    tools = [taking("one", "a"), taking("two", "b")]
    assert try_rename(RenameTool(), name, tools, {"b": 1}).changes[0].after == "two"
    assert isinstance(try_rename(RenameTool(), name, tools, {"c": 1}), GiveUp)
    assert isinstance(try_rename(RenameTool(), name, [taking("one")], {}), GiveUp)


def test_the_reason_is_feedback():
    answer = try_rename(RenameTool(), "vector_lookup", ["vectorSearch", "book"])
    assert answer.reason == (
        'There is no tool named "vector_lookup". Did you mean "vectorSearch"? '
        'Available tools: "vectorSearch", "book". Use an exact name.'
    )


def test_an_existing_tool_is_left_alone():
    one = tool("search", "read_only")
    given = RepairContext(tool=one, tools={"search": one})
    answer = RenameTool()(Call("search"), Diagnosis((Finding("x", paths=("/name",)),)), given)
    assert not isinstance(answer, Changed)


@settings(max_examples=40)
@given(st.text(max_size=20), st.lists(st.text(min_size=1, max_size=12), max_size=4, unique=True))
def test_any_name_becomes_an_offered_one_or_stays(name, tools):
    tools = [one for one in tools if one.strip()]
    if name not in tools:
        found = meant(name, tools)
        assert found is None or found[0] in tools


@pytest.mark.parametrize(
    ("written", "offered"),
    [
        ("spend_money", "send_money"),
        ("book_hostel", "book_hotel"),
        ("add_contract", "add_contact"),
        ("sing_document", "sign_document"),
        ("hire_post", "hide_post"),
        ("replay_loan", "repay_loan"),
        ("transform_funds", "transfer_funds"),
        ("rest_device", "reset_device"),
        ("notify_payer", "notify_payee"),
    ],
)
def test_another_english_word_is_no_slip(written, offered):
    assert meant(written, [offered, "noop"]) is None
    assert meant(offered, [written, "noop"]) is None
