"""The travel strategies as tables, refusals included; and the maps of this folder, by path."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.mapping.linting import check_map
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import Ask, Call, Changed, Diagnosis, Finding, GiveUp, Safety
from selfcorrect.pointer import apply
from selfcorrect.protocols import RepairContext
from selfcorrect.testing import check_strategy

ROOT = Path(__file__).parents[1]

pytest.importorskip("airportsdata", reason="the extra `cli` is not installed")


def load(path):
    """Load a file by path, outside `sys.modules`, as a map's `[use]` may do."""
    spec = importlib.util.spec_from_file_location("file_under_test", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


travel = load(ROOT / "strategies" / "travel_repairs.py")


def mend(strategy, args, path="/args/origin", **captures):
    call = Call("book_flight", args)
    finding = Finding("the error's text", paths=(path,) if path else (), captures=captures)
    answer = strategy(call, Diagnosis((finding,)), RepairContext())
    if isinstance(answer, Changed):
        assert all(change.safety in strategy.safety for change in answer.changes)
        apply(call, answer.changes)
    return answer


def place(text, hint="", served=()):
    captures = {"hint": hint} if hint else {}
    return mend(travel.CityToAirport(served=served), {"origin": text}, **captures)


# city-to-airport


@pytest.mark.parametrize(
    ("text", "hint", "code", "safety"),
    [
        (" LHR ", "", "LHR", Safety.EXACT),
        (" NYC", "", "NYC", Safety.EXACT),
        ("lhr", "LHR", "LHR", Safety.EXACT),
        ("nyc", "NYC", "NYC", Safety.EXACT),
        ("London (LHR)", "", "LHR", Safety.INFERRED),
        ("LHR - London Heathrow", "", "LHR", Safety.INFERRED),
        ("New York JFK", "", "JFK", Safety.INFERRED),
        ("JFK Airport", "", "JFK", Safety.INFERRED),
        ("NEW YORK (NYC)", "", "NYC", Safety.INFERRED),
        ("Boston", "BOS", "BOS", Safety.INFERRED),
        ("boston", "BOS", "BOS", Safety.INFERRED),
        ("Boston, MA", "BOS", "BOS", Safety.INFERRED),
        ("Boston MA", "BOS", "BOS", Safety.INFERRED),
        ("Seattle", "SEA", "SEA", Safety.INFERRED),
        ("Vancouver", "YVR", "YVR", Safety.INFERRED),
        ("Toronto", "YYZ", "YYZ", Safety.INFERRED),  # the other one cannot be booked
        ("Los Angeles, CA", "LAX", "LAX", Safety.INFERRED),
        ("Los Angeles, California", "LAX", "LAX", Safety.INFERRED),
        ("Athens, Greece", "ATH", "ATH", Safety.INFERRED),
        ("Munich, Germany", "MUC", "MUC", Safety.INFERRED),
        ("Bogotá", "BOG", "BOG", Safety.INFERRED),
        ("Heathrow", "LHR", "LHR", Safety.INFERRED),
        ("Chicago O'Hare", "ORD", "ORD", Safety.INFERRED),
        ("Charles de Gaulle Airport", "CDG", "CDG", Safety.INFERRED),
        ("Seatle", "SEA", "SEA", Safety.INFERRED),
        ("Amsterdm", "AMS", "AMS", Safety.INFERRED),
    ],
)
def test_a_place_with_one_reading_becomes_a_code(text, hint, code, safety):
    answer = place(text, hint)
    assert isinstance(answer, Changed), answer
    (change,) = answer.changes
    assert (change.path, change.before, change.after) == ("/args/origin", text, code)
    assert change.safety is safety


@pytest.mark.parametrize(
    ("text", "hint", "options"),
    [
        ("London", "LCY, LGW, LHR, LON", {"LON", "LHR", "LGW", "LCY"}),
        ("New York", "JFK, LGA, NYC", {"NYC", "JFK", "LGA"}),
        ("Paris, France", "CDG, ORY, PAR", {"PAR", "CDG", "ORY"}),
        ("Rome", "FCO, ROM", {"ROM", "FCO"}),
        ("Birmingham", "", {"BHX", "BHM"}),
        ("Birmingham", "BHM", {"BHX", "BHM"}),  # the one that is sold is not the one that is meant
        ("Los Angeles", "LAX", {"LAX", "LSQ"}),  # Los Ángeles, Chile
        ("Cairo", "CAI", {"CAI", "CIR"}),  # Cairo, Illinois
        ("LAS VEGAS", "LAS", {"LAS", "LVS"}),  # Las Vegas, New Mexico; LAS is no code here
        ("Toronto", "YTO, YYZ", {"YTO", "YYZ"}),
        ("Manhattan", "", {"MHK"}),  # Manhattan, Kansas
        ("York", "", {"THV"}),  # York, Pennsylvania
        ("Lebanon", "", {"LEB"}),  # Lebanon, New Hampshire
        ("Boston", "", {"BOS"}),  # nobody confirms it
        ("Boston", "MUC", {"BOS", "MUC"}),  # the error speaks of another place
        ("Boston, Ontario", "BOS", {"BOS"}),  # the qualifier does not fit
        ("Vancouver, WA", "YVR", {"YVR"}),
        ("Ulm", "", {"ULM"}),  # New Ulm, Minnesota
        ("lhr", "", {"LHR"}),
        ("van", "VAN", {"VAN"}),  # Van, and Van Nuys
        ("LHX", "LAX, LHR, PHX", {"LAX", "LHR", "PHX"}),
    ],
)
def test_a_place_with_several_readings_is_a_question(text, hint, options):
    answer = place(text, hint)
    assert isinstance(answer, Ask), answer
    assert options <= set(answer.options)
    assert len(answer.options) <= 8
    assert text in answer.question


def test_the_code_of_the_whole_city_is_the_first_option():
    assert place("London", "LCY, LGW, LHR, LON").options[0] == "LON"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "France",
            "Brazil",
            "Mexico",
            "asdf",
            "XQZ",
            "JFK or LGA",
            "not LHR",
            "東京",
            "LHR",
            "NYC",
        ),
        *("", "   ", "(((", ",", "?" * 80, "x" * 81, "x" * 10**6, "\ud800", "Ş" * 40),
        *(7, None, True, ["LHR"], {"code": "LHR"}),
    ],
)
def test_no_place_no_answer(text):
    assert isinstance(place(text), GiveUp)


ENDS = ("/args/origin", "/args/destination")


@pytest.mark.parametrize(
    ("got", "paths", "mended"),
    [
        ("Seattle", ENDS, ENDS[1]),
        ("Boston", ENDS, ENDS[0]),
        ("Seattle", (), ENDS[1]),
        (None, ENDS[1:], ENDS[1]),
        ("Seattle", ENDS[:1], None),
        ("Miami", (), None),
        (None, (), None),
        (None, ENDS, None),
    ],
)
def test_of_two_places_only_the_one_is_mended_that_the_error_got(got, paths, mended):
    strategy = travel.CityToAirport(served=("BOS", "SEA"))
    call = Call("book_flight", {"origin": "Boston", "destination": "Seattle"})
    finding = Finding("", paths=paths, captures={"got": got} if got else {})
    answer = strategy(call, Diagnosis((finding,)), RepairContext())
    if mended is None:
        assert isinstance(answer, GiveUp)
    else:
        assert [change.path for change in answer.changes] == [mended]


def test_a_question_about_a_place_that_only_the_strategy_found_says_where():
    call = Call("book_flight", {"origin": "CDG", "destination": "London"})
    finding = Finding("", captures={"got": "London", "hint": "LHR, LON"})
    answer = travel.CityToAirport()(call, Diagnosis((finding,)), RepairContext())
    assert [[c.path for c in option] for option in answer.options] == [["/args/destination"]] * 2


def test_the_same_unknown_name_at_both_ends_is_left_alone():
    call = Call("book_flight", {"origin": "Boston", "destination": "Boston"})
    finding = Finding("", captures={"got": "Boston", "hint": "BOS"})
    answer = travel.CityToAirport()(call, Diagnosis((finding,)), RepairContext())
    assert isinstance(answer, GiveUp)


def test_what_is_served_counts_as_confirmed():
    assert isinstance(place("Boston"), Ask)
    assert place("Boston", served=("BOS", "LAX")).changes[0].after == "BOS"
    assert isinstance(place("Boston", served=("LAX",)), Ask)
    assert isinstance(place("London", served=("LON", "LHR")), Ask)


@pytest.mark.parametrize("path", [None, "/name", "/raw", "/args/nowhere", "/args"])
def test_a_place_is_mended_only_where_the_error_points(path):
    answer = mend(travel.CityToAirport(served=("BOS",)), {"origin": "Boston"}, path)
    assert isinstance(answer, GiveUp)


@settings(max_examples=60)
@given(
    st.text(max_size=90)
    | st.sampled_from(["London", "LHR", "New York"]).flatmap(
        lambda name: st.text(max_size=12).map(lambda more: f"{name} {more}")
    )
)
def test_whatever_is_written_the_answer_is_a_known_code_a_question_or_none(text):
    answer = place(text, "LHR, BOS, LON")
    places = travel._places()
    if isinstance(answer, Changed):
        (change,) = answer.changes
        assert change.after in places.codes
        assert change.after != text
    else:
        assert isinstance(answer, Ask | GiveUp)


def test_a_code_that_is_accepted_everywhere_is_never_changed():
    for code in list(travel._places().codes)[::400]:
        assert isinstance(place(code, code), GiveUp)


# nearest-date


def nearest(offered, got="2024-10-26", path="/args/departure_date", within_days=3, **args):
    call = {"departure_date": "2024-10-26"} | args
    captures = {"nearest": offered} | ({"got": got} if got else {})
    return mend(travel.NearestDate(within_days=within_days), call, path, **captures)


@pytest.mark.parametrize(
    ("offered", "more", "date"),
    [
        ("2024-10-28", {}, "2024-10-28"),
        ("2024-10-28, 2024-10-25", {}, "2024-10-25"),
        ("2024-10-22, 2024-10-28", {}, "2024-10-28"),
        ("2024-10-26, 2024-10-28", {}, "2024-10-28"),
        ("2024-10-28, 2024-10-23", {"return_date": "2024-10-27"}, "2024-10-23"),
        ("2024-10-28", {"return_date": "2024-10-28"}, "2024-10-28"),
        ("2024-10-28", {"return_date": None}, "2024-10-28"),
        ("2024-10-29", {"got": None}, "2024-10-29"),
    ],
)
def test_a_date_moves_to_the_nearest_that_is_offered(offered, more, date):
    answer = nearest(offered, **more)
    (change,) = answer.changes
    assert (change.before, change.after) == ("2024-10-26", date)
    assert change.safety is Safety.LOSSY


@pytest.mark.parametrize(
    ("offered", "more"),
    [
        ("", {}),
        ("tomorrow", {}),
        ("2024-10-26", {}),
        ("2024-10-30", {}),
        ("2024-10-28", {"within_days": 1}),
        ("2024-10-28", {"within_days": 0}),
        ("2024-10-28", {"return_date": "2024-10-27"}),
        ("2024-10-28", {"got": "2024-10-27"}),
        ("2024-02-30, 9999-99-99", {}),
        ("12024-10-28", {}),
        ("2024-10-28", {"departure_date": "Oct 26, 2024"}),
        ("2024-10-28", {"departure_date": 20241026}),
        ("2024-10-28", {"departure_date": None}),
        ("2024-10-28", {"path": None, "got": None}),
        ("2024-10-28", {"path": "/name"}),
    ],
)
def test_a_date_stays_where_nothing_near_fits(offered, more):
    assert isinstance(nearest(offered, **more), GiveUp)


def test_a_return_date_stays_after_the_departure():
    for offered, expected in (("2024-10-25", GiveUp), ("2024-10-27", Changed)):
        args = {"return_date": "2024-10-26", "departure_date": "2024-10-26"}
        answer = nearest(offered, path="/args/return_date", **args)
        assert isinstance(answer, expected)


def test_two_dates_equally_near_are_a_question():
    answer = nearest("2024-10-28, 2024-10-24")
    assert isinstance(answer, Ask)
    assert answer.options == ("2024-10-24", "2024-10-28")


@settings(max_examples=100)
@given(st.lists(st.dates()), st.integers(0, 400), st.dates())
def test_a_moved_date_is_one_of_those_offered_and_near_enough(offered, within, day):
    text = ", ".join(item.isoformat() for item in offered)
    answer = nearest(text, day.isoformat(), within_days=within, departure_date=day.isoformat())
    if isinstance(answer, Changed):
        after = answer.changes[0].after
        moved = [item for item in offered if item.isoformat() == after]
        assert moved
        assert 0 < abs((moved[0] - day).days) <= within
        assert all(abs(moved[0] - day) <= abs(item - day) for item in offered if item != day)


# alternative-route


def route(origin, destination, **options):
    strategy = travel.AlternativeRoute(**options)
    return mend(strategy, {"origin": origin, "destination": destination}, None)


def test_a_route_is_widened_to_the_cities_at_both_ends():
    answer = route("LTN", "ORY", widen=True)
    assert [(c.path, c.before, c.after) for c in answer.changes] == [
        ("/args/origin", "LTN", "LON"),
        ("/args/destination", "ORY", "PAR"),
    ]
    assert {change.safety for change in answer.changes} == {Safety.LOSSY}


def test_another_airport_of_the_city_is_a_question():
    answer = route("LTN", "AMS")
    after = [change.after for (change,) in answer.options]
    assert after[0] == "LON"
    assert {"LHR", "LGW"} <= set(after)
    assert all(change.safety is Safety.LOSSY for (change,) in answer.options)


@pytest.mark.parametrize(
    ("origin", "destination", "options"),
    [
        ("AMS", "VIE", {}),
        ("AMS", "VIE", {"widen": True}),
        ("LON", "PAR", {"widen": True}),
        ("LHR", "LGW", {"widen": True}),  # both would become London
        ("LON", "LHR", {"widen": True}),
        ("London", "PAR", {}),
        (None, "PAR", {}),
        (["LHR"], "PAR", {"widen": True}),
        ("LHR", "LGW", {}),
        ("LHR", None, {}),
    ],
)
def test_a_route_without_another_airport_stays(origin, destination, options):
    assert isinstance(route(origin, destination, **options), GiveUp)


def test_the_arguments_of_a_route_can_have_other_names():
    strategy = travel.AlternativeRoute(origin="from", destination="to")
    answer = mend(strategy, {"from": "LHR", "to": "AMS"}, None)
    assert {change.path for (change,) in answer.options} == {"/args/from"}


# What every strategy promises


@pytest.mark.parametrize(
    "strategy",
    [
        travel.CityToAirport(served=("BOS", "LON")),
        travel.NearestDate(),
        travel.AlternativeRoute(),
        travel.AlternativeRoute(widen=True),
    ],
    ids=lambda strategy: strategy.name,
)
def test_the_strategies_keep_the_common_promises(strategy):
    check_strategy(strategy)


# The data behind it


def test_a_code_means_an_airport_before_a_city():
    places = travel._places()
    assert "MEL" not in places.metros
    assert places.metros["LON"] == ("LCY", "LGW", "LHR", "LTN", "STN")
    assert places.city_code("LHR") == places.city_code("LON") == "LON"
    assert places.city_code("AMS") is None


def test_importing_the_strategies_reads_no_airports():
    assert load(ROOT / "strategies" / "travel_repairs.py")._places.cache_info().currsize == 0


def test_the_strategies_import_no_graph():
    source = (ROOT / "strategies" / "travel_repairs.py").read_text(encoding="utf-8")
    assert not re.search(r"\bgraphs\b|flight_booking", source)


# The maps


@pytest.fixture(scope="module")
def maps():
    names = ("default", "strict", "development", "travel")
    return {name: StrategyMap.load(name) for name in names}


FILES = sorted((ROOT / "strategies").glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_map_of_this_folder_loads_by_path_and_is_clean(path):
    faults = [fault for fault in check_map(path) if getattr(fault, "level", "error") == "error"]
    assert not [str(fault) for fault in faults]


@pytest.mark.parametrize("name", ["default", "strict", "development", "travel"])
def test_the_readme_lists_the_maps(name):
    text = (ROOT / "strategies" / "README.md").read_text(encoding="utf-8")
    assert name in text


KNOWN = {
    "LookupError: unknown airport code 'LONDON' for origin; did you mean LHR, LGW?": (
        "unknown-place"
    ),
    "LookupError: unknown airport code 'LONDON'; did you mean LHR, LGW?": "unknown-place",
    'LookupError: unknown airport code "O\'Hare"; did you mean ORD?': "unknown-place",
    "LookupError: unknown airport code 'XQZ' for destination": "unknown-place",
    "LookupError: no flight from LHR to JFK on 2024-10-26; nearest: 2024-10-28": (
        "no-flight-that-day"
    ),
    "LookupError: no return flight from LHR to JFK on 2024-10-26; nearest: 2024-10-28": (
        "no-return-flight-that-day"
    ),
    "LookupError: route unavailable": "route-not-flown",
    "ValueError: departure_date 2023-05-01 is in the past, today is 2024-01-01": (
        "day-not-bookable"
    ),
    "sqlite3.IntegrityError: CHECK constraint failed: cabin_has_seats": "sold-out",
    "sqlite3.IntegrityError: CHECK constraint failed: return_after_departure": (
        "return-before-departure"
    ),
    "LookupError: there is no booking 'BK9999'": "unknown-booking",
    "ServiceError: booking BK1001 is already cancelled": "already-cancelled",
    "InvalidArgs/pattern: argument 'origin': does not match the required pattern": "place-pattern",
    "InvalidArgs/additionalProperties: unknown argument 'class'": "unknown-argument",
    "InvalidArgs/enum: argument 'cabin': not one of the allowed values": "enum",
}


@pytest.mark.parametrize(("said", "rule"), KNOWN.items())
def test_the_travel_map_knows_the_errors_of_the_flight_booking(maps, said, rule):
    raised, _, text = said.partition(": ")
    name, _, code = raised.partition("/")
    decided = maps["travel"].decide(Finding(text, types=(name,), code=code or None), "book_flight")
    assert decided.rule == f"travel/{rule}"


def test_a_search_may_be_widened_and_a_booking_may_not(maps):
    finding = Finding("route unavailable", types=("LookupError",))
    search, book = (maps["travel"].decide(finding, f"{verb}_flight") for verb in ("search", "book"))
    widened = maps["travel"].strategy(search.rule, "alternative-route")
    asked = maps["travel"].strategy(book.rule, "alternative-route")
    assert (widened.widen, asked.widen) == (True, False)


def test_captures_and_places_of_the_travel_rules(maps):
    travel_map = maps["travel"]
    text = "unknown airport code 'LONDON' for destination; did you mean LHR, LGW?"
    decided = travel_map.decide(Finding(text, types=("LookupError",)), "book_flight")
    assert (decided.captures["got"], decided.captures["hint"]) == ("LONDON", "LHR, LGW")
    assert decided.paths == ("/args/destination",)
    text = "return_date 2023-05-01 is in the past, today is 2024-01-01"
    decided = travel_map.decide(Finding(text, types=("ValueError",)), "book_flight")
    assert decided.paths == ("/args/return_date",)


@pytest.mark.parametrize(
    "text",
    [
        "unknown airport code 'LONDON'; did you mean LHR, LGW?" + "!" * 10,
        "prefix: route unavailable",
        "no flight from LHR to JFK on someday",
    ],
)
def test_texts_that_only_resemble_a_travel_error_are_left_to_the_default_map(maps, text):
    decided = maps["travel"].decide(Finding(text, types=("LookupError",)), "book_flight")
    assert not (decided.rule or "").startswith("travel/")


def test_nothing_but_reading_is_moved_unasked_by_the_travel_map(maps):
    rules = {rule.id for rule in maps["travel"].rules if Safety.LOSSY in rule.rule.allow}
    own = {rule for rule in rules if rule.startswith("travel/")}
    assert own == {
        "travel/no-flight-that-day",
        "travel/no-return-flight-that-day",
        "travel/route-not-flown-search",
    }


def test_under_the_strict_map_only_exact_changes_can_run_unasked(maps):
    strict = maps["strict"]
    assert list(strict.policy.allow) == [Safety.EXACT]
    assert strict.limits["model_calls"] == 0
    off = {name for name, uses in strict.limits["per_strategy"].items() if uses == 0}
    for rule in strict.rules:
        for name in strict.ladder(rule.id):
            strategy = strict.strategy(rule.id, name)
            left = set(strategy.safety) & set(strict.allowed(rule.id)) - {Safety.EXACT}
            assert not left or name in off, (rule.id, name)
            assert getattr(strategy, "needs", "nothing") != "model" or name in off


def test_the_maps_agree_on_what_the_tools_do(maps):
    booking_effects = {"search_flights": "read_only", "book_flight": "mutating"}
    for tool, effect in (booking_effects | {"cancel_booking": "destructive"}).items():
        assert maps["travel"].effect_of(tool) == effect
