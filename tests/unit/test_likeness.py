"""Names that are alike, and names that only look it: `names`, `repairs.keys`, `repairs.tools`."""

# ruff: noqa: T201 -- shares are printed, so that a change of them is seen
import string
import sys
import time
import zlib
from pathlib import Path

import pytest
from hypothesis import assume, given, settings, strategies as st
from kit import output_of, sections, table

from selfcorrect import Safety, ToolSpec
from selfcorrect.names.arguments import match_keys
from selfcorrect.names.letters import LONGEST, is_plain, letters, words
from selfcorrect.names.likeness import OTHER, SAME, difference
from selfcorrect.repairs.rename_tool import match_tool
from selfcorrect.schema.place import Place

QUICK = settings(max_examples=800, deadline=None, derandomize=True)


def pairs(file, section):
    """Return the pairs of one section of a data file."""
    return [tuple(pair.split("/")) for row in sections(file)[section] for pair in row.split()]


def tool(name, effect=None, description="", *arguments):
    properties = {each: {"type": "string"} for each in arguments or ("subject",)}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    about = {"name": name, "description": description, "parameters": schema}
    return ToolSpec.from_schema(about, effect=effect)


def meant_tool(name, *offered, args=None):
    by_name = {each.name: each for each in offered}
    return match_tool(name, {"subject": "x"} if args is None else args, by_name)


def meant_keys(strangers, holes, acts=True, required=(), said=(), synonyms=()):
    schema = {"properties": {name: {} for name in holes}, "required": list(required)}
    given_ = dict.fromkeys(strangers, "x")
    places = Place.of(schema).properties
    return match_keys(
        given_,
        places,
        acts=acts,
        terms=frozenset(said),
        reads=lambda value, place: True,
        synonyms=dict(synonyms),
    )


@pytest.mark.parametrize("effect", [None, "mutating", "destructive"])
def test_no_action_becomes_another_one(effect):
    both = [each for a, b in pairs("opposites.txt", "tools") for each in ((a, b), (b, a))]
    wrong = [(a, b) for a, b in both if meant_tool(a, tool(b, effect), tool("finish"))]
    assert (wrong, len(both) > 400) == ([], True)


def test_no_argument_of_a_tool_that_acts_becomes_another_one():
    both = [each for a, b in pairs("opposites.txt", "arguments") for each in ((a, b), (b, a))]
    wrong = [(a, b) for a, b in both if meant_keys([a], [b], required=[b]).names]
    wrong += [(a, b) for a, b in both if meant_keys([a], [b, "note"]).names]
    assert (wrong, len(both) > 400) == ([], True)


def test_few_opposites_are_mistaken_where_nothing_changes():
    tools, keys = (
        [each for a, b in pairs("opposites.txt", section) for each in ((a, b), (b, a))]
        for section in ("tools", "arguments")
    )
    wrong = [(a, b) for a, b in tools if meant_tool(a, tool(b, "read_only"), tool("finish"))]
    wrong += [(a, b) for a, b in keys if meant_keys([a], [b], acts=False, required=[b]).names]
    total = len(tools) + len(keys)
    print(f"\nof {total} opposites {len(wrong)} are mistaken on tools that read: {wrong}")
    assert len(wrong) <= 0.03 * total


def test_slips_are_found():
    tools, keys, reads = (pairs("slips.txt", each) for each in ("tools", "arguments", "reading"))
    missed = [(a, b) for a, b in tools if meant_tool(a, tool(b), tool("finish")) is None]
    missed += [(a, b) for a, b in keys if not meant_keys([a], [b, "note"]).names]
    missed += [(a, b) for a, b in reads if meant_tool(a, tool(b, "read_only")) is None]
    total = len(tools) + len(keys) + len(reads)
    print(f"\nof {total} slips {1 - len(missed) / total:.1%} are found; not {missed}")
    assert len(missed) <= 0.1 * total
    assert total >= 150


TOOLS = [*table("names.txt", "tools"), ("x" * 1_000_000, ["x" * 999_999], None, None)]


@pytest.mark.parametrize(("written", "offered", "name", "safety"), TOOLS)
def test_a_tool_that_acts_is_meant_by_its_own_words(written, offered, name, safety):
    expected = name and (name, Safety(safety))
    assert meant_tool(written, *(tool(each) for each in offered)) == expected


def test_a_placeholder_means_the_one_tool_that_takes_the_arguments_and_reads():
    reads = tool("find_book", "read_only", "", "title")
    others = [tool("find_author", "read_only", "", "surname"), tool("lend", None, "", "reader")]
    args = {"title": "Emma"}
    assert meant_tool("func1", reads, *others, args=args) == ("find_book", Safety.INFERRED)
    assert meant_tool("func1", reads, tool("drop_book", None, "", "title"), args=args) is None
    assert meant_tool("func1", reads, args={}) is None


def test_signs_in_place_of_a_name_mean_the_one_tool_with_exactly_these_arguments():
    acts, other = tool("lend_book", None, "", "title"), tool("find_author", None, "", "surname")
    args = {"title": "Emma"}
    assert meant_tool("[{", acts, other, args=args) == ("lend_book", Safety.INFERRED)
    assert meant_tool("[{", acts, tool("sell_book", None, "", "title"), args=args) is None
    assert meant_tool("[{", acts, args={"Title": "Emma"}) is None
    assert meant_tool("func1", acts, args=args) is None
    assert meant_tool("[{", tool("drop_book", "destructive", "", "title"), args=args) is None


def test_a_name_between_two_others_means_none_of_them():
    offered = [tool("get_user", "read_only"), tool("get_usar", "read_only")]
    assert meant_tool("get_usr", offered[0]) == ("get_user", Safety.INFERRED)
    assert meant_tool("get_usr", *offered) is None


def test_a_tool_that_destroys_is_meant_by_no_likeness_and_stays_a_rival():
    destroys = tool("delete_orders", "destructive")
    assert meant_tool("delete_odrers", destroys) is None
    reads, other = tool("get_homes", "read_only"), tool("get_hotels", "destructive")
    assert meant_tool("get_hotes", reads) == ("get_homes", Safety.INFERRED)
    assert meant_tool("get_hotes", reads, other) is None


def test_noise_needs_arguments_that_fit():
    noisy = tool("searcAh_zituJnes", "read_only", "", "term")
    assert meant_tool("search_itunes", noisy, args={"term": "x"}) == (noisy.name, Safety.INFERRED)
    assert meant_tool("search_itunes", noisy, args={"name": "x"}) is None


@pytest.mark.parametrize(
    ("written", "free", "acts", "required", "names"), table("names.txt", "keys")
)
def test_keys_mean_arguments(written, free, acts, required, names):
    assert meant_keys(written, free, acts, required).names == names


def test_a_tie_names_both_arguments():
    found = meant_keys(["flihgt"], ["flight", "Flight"])
    assert found.ties == {"flihgt": ("flight", "Flight")}
    assert found.names == {}


def test_a_synonym_comes_before_any_likeness():
    found = meant_keys(["when"], ["when_", "date"], synonyms={"when": "date"})
    assert (found.names, found.safety) == ({"when": "date"}, {"when": Safety.INFERRED})


def test_a_value_that_does_not_fit_names_nothing():
    places = Place.of({"properties": {"seats": {"type": "integer"}}}).properties
    found = match_keys(
        {"Seats": "window"},
        places,
        acts=False,
        terms=frozenset(),
        reads=lambda value, place: place.accepts(value),
        synonyms={},
    )
    assert found.names == {}


def test_words_of_a_description_are_no_slips():
    assert meant_keys(["recipeint"], ["recipient"]).names
    assert not meant_keys(["recipeint"], ["recipient"], said=["recipeint", "recipient"]).names


def test_words_of_a_name():
    assert words("getHTTPStatus_v2") == ("get", "http", "status", "v", "2")
    assert words("gr\u00f6\u00dfeInCm") == ("gr\u00f6\u00dfe", "in", "cm")
    assert letters("\uff41\uff42_C") == "abc"


names = st.text(string.ascii_letters + "_-.:!\u00df\u00e9 19", max_size=12) | st.sampled_from(
    [
        *("search", "serach", "min_price", "maxPrice", "departure_date", "depature_date", "trial"),
        *("search_itunes", "searcAh_zituJnes", "searchc_ituns", "itunes", "umount", "mount"),
        *("yahoo_search", "yao_earch", "hahoobseOrch", "run_zapier", "runzapir", "rn_zapierx"),
    ]
)


@QUICK
@given(names, names, st.booleans())
def test_difference_is_symmetric_and_bounded(one, other, strict):
    found = difference(one, other, strict=strict)
    assert found == difference(other, one, strict=strict)
    assert SAME <= found <= OTHER
    assert found <= difference(one, other, strict=True)


@QUICK
@given(names, names)
def test_the_same_letters_and_nothing_else_are_exact(one, other):
    assume(is_plain(one) and is_plain(other))
    assert (difference(one, other) == SAME) == (letters(one) == letters(other))


near = st.sampled_from(
    [
        *("flight", "Flight", "FLIGHT", "flihgt", "fligth", "fli_ght", "flights", "flighht"),
        *("flight_date", "date", "Date", "dates", "searcAh_zituJnes", "search_itunes", "itunes"),
    ]
)


@QUICK
@given(
    st.sets(near, min_size=1, max_size=2),
    st.sets(near, min_size=1, max_size=2),
    near,
    st.booleans(),
    st.booleans(),
)
def test_a_rival_never_makes_an_assignment_surer(keys, free, more, is_key, acts):
    before = meant_keys(sorted(keys - free), sorted(free), acts)
    grown = (keys | {more}, free) if is_key else (keys, free | {more})
    assume(more not in keys | free)
    after = meant_keys(sorted(grown[0] - free), sorted(grown[1]), acts)
    fresh = {(k, n) for k, n in after.names.items() if more not in {k, n}}
    assert fresh <= set(before.names.items())
    assert len(set(after.names.values())) == len(after.names)


def test_many_keys_and_tools_are_compared_in_little_time():
    holes = ["departure_date", "destination", "passengers", "cabin", "return_date", "origin"]
    keys = [f"{'destinatoin'[n % 7 :]}_{n}" for n in range(200)]
    tools = {f"read_{word}_{n}": tool(f"read_{word}_{n}") for n in range(80) for word in holes}
    difference("serach", "search")
    started = time.perf_counter()
    meant_keys(keys, holes)
    between = time.perf_counter()
    match_tool("raed_destinatoin", {}, tools)
    print(f"\n200 keys {1e3 * (between - started):.2f} ms", end=", ")
    print(f"{len(tools)} tools {1e3 * (time.perf_counter() - between):.2f} ms")
    assert between - started < 1


def test_a_long_name_costs_little():
    started = time.perf_counter()
    assert meant_keys(["a" * 10_000_000], ["a" * LONGEST], acts=False).names == {}
    assert difference("ab" * 60, "ba" * 60) > SAME
    assert time.perf_counter() - started < 10


def test_the_dictionary_is_small_and_loaded_for_renames_alone():
    home = Path(sys.modules["selfcorrect.names.dictionary"].__file__)
    packed = [home.with_name(file).read_bytes() for file in ("words.bin", "rare.bin")]
    assert sum(map(len, packed)) <= 250_000
    common, rare = (zlib.decompress(each).decode().split() for each in packed)
    assert (common, rare) == (sorted(set(common)), sorted(set(rare) - set(common)))
    code = """
from selfcorrect import ToolSpec, build_graph
from selfcorrect.names import dictionary
def find(seats: int) -> str:
    "Find."
    return "ok"
graph = build_graph([ToolSpec.from_function(find, effect="read_only")])
for args in ({"seats": 2}, {"seats": "2"}):
    assert "result" in graph.invoke({"call": {"name": "find", "args": args}})
print(dictionary._load.cache_info().currsize)
"""
    assert output_of(code) == "0"
