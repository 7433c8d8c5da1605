"""Tools and keys that were renamed: spelling and structure together, and never another action."""

from __future__ import annotations

from pathlib import Path

import pytest

from selfcorrect import repair_call
from selfcorrect.kernel.changes import judge
from selfcorrect.kernel.joint import Names, assigned, is_garbled
from selfcorrect.kernel.spellings import Words
from selfcorrect.kernel.verdicts import Step
from selfcorrect.model import Call, Safety
from selfcorrect.schema.slots import slots_of
from selfcorrect.tools import ToolSpec

FILE = Path(__file__).parents[1] / "data" / "other_actions.txt"
PAIRS = [tuple(line.split()) for line in FILE.read_text("utf-8").splitlines() if line[0] != "#"]
ORDERED = [*PAIRS, *((other, one) for one, other in PAIRS)]

ORDER = {"order_id": {"type": "string"}, "note": {"type": "string"}}
FIND = {"query": {"type": "string"}, "limit": {"type": "integer"}}


def schema(properties, *required):
    return {"type": "object", "properties": properties, "required": list(required)}


TOOLS = {
    "conferm_ordr": schema(ORDER, "order_id"),
    "confirm_invoice": schema(ORDER, "order_id"),
    "find": schema(FIND, "query"),
}


def verdict(written, runs, tools, effect="mutating", **facts):
    """The class of a change onto the tool that would run, whoever proposes it."""
    step = Step(
        written,
        runs,
        slots_of(tools[runs.name]),
        offered=tools,
        effect=effect,
        offers=lambda name: slots_of(tools[name]),
        **facts,
    )
    return judge(step).safety


def renamed(name, new, args, tools, effect="mutating", **facts):
    return verdict(Call(name, args), Call(new, args), tools, effect, **facts)


def offered(name, params, effect="mutating"):
    return ToolSpec.from_schema({"name": name, "parameters": params}, effect=effect)


def test_there_are_enough_pairs():
    assert len(set(ORDERED)) >= 400


@pytest.mark.parametrize("effect", ["mutating", "idempotent", "destructive"])
def test_no_action_is_called_for_another(effect):
    args = {"order_id": "o-1"}
    let_through = [
        (one, other)
        for one, other in ORDERED
        if renamed(one, other, args, {other: TOOLS["conferm_ordr"]}, effect) is not Safety.LOSSY
    ]
    assert let_through == []


@pytest.mark.parametrize("name", ["confirm_order", "confirmOrder", "confirm-order"])
def test_a_tool_that_was_renamed(name):
    tools = {one: TOOLS[one] for one in ("conferm_ordr", "find")}
    assert renamed(name, "conferm_ordr", {"order_id": "x"}, tools) is Safety.INFERRED


@pytest.mark.parametrize(
    ("name", "args", "tools", "effect"),
    [
        # another tool takes the arguments as well
        ("confirm_order", {"order_id": "x"}, TOOLS, "mutating"),
        # it does not take them
        ("confirm_order", {"query": "x"}, {"conferm_ordr": TOOLS["conferm_ordr"]}, "mutating"),
        ("confirm_order", {}, {"conferm_ordr": TOOLS["conferm_ordr"]}, "read_only"),
        # two are as near
        (
            "confirm_order",
            {"order_id": "x"},
            dict.fromkeys(("conferm_ordr", "confrm_oredr"), TOOLS["conferm_ordr"]),
            "read_only",
        ),
        # it destroys something
        (
            "confirm_order",
            {"order_id": "x"},
            {"conferm_ordr": TOOLS["conferm_ordr"]},
            "destructive",
        ),
        # a sign of its own, a number, a namespace
        ("!confirm_order", {"order_id": "x"}, {"conferm_ordr": TOOLS["conferm_ordr"]}, "mutating"),
        ("confirm_order2", {"order_id": "x"}, {"conferm_ordr": TOOLS["conferm_ordr"]}, "mutating"),
    ],
)
def test_spelling_or_structure_is_against_it(name, args, tools, effect):
    assert renamed(name, "conferm_ordr", args, tools, effect) is Safety.LOSSY


@pytest.mark.parametrize("new", ["evil.conferm_ordr", "zorp__conferm_ordr"])
def test_never_into_another_namespace(new):
    tools = {new: TOOLS["conferm_ordr"]}
    assert renamed("confirm_order", new, {"order_id": "x"}, tools) is Safety.LOSSY


def test_never_where_several_servers_are_offered():
    tools = {"conferm_ordr": TOOLS["conferm_ordr"]}
    args = {"order_id": "x"}
    assert renamed("confirm_order", "conferm_ordr", args, tools, foreign=True) is Safety.LOSSY


def test_a_tool_that_reads_may_have_a_neighbour_that_is_farther():
    tools = {"conferm_ordr": TOOLS["conferm_ordr"], "history": TOOLS["conferm_ordr"]}
    args = {"order_id": "x"}
    assert renamed("confirm_order", "conferm_ordr", args, tools, "read_only") is Safety.INFERRED
    assert renamed("confirm_order", "conferm_ordr", args, tools) is Safety.LOSSY


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ({"query": "x"}, {"query": "quwry"}),
        ({"query": "x", "limit": 5}, {"query": "quwry", "limit": "limjit"}),
        # not all have a place, what must be there is missing, or the value is of no shape for it
        ({"query": "x", "colour": 5}, None),
        ({"limit": 5}, None),
        ({"query": {"a": 1}}, None),
        # another word, a sign of its own
        ({"answer": "x"}, None),
        ({"//query": "x"}, None),
    ],
)
def test_one_assignment_of_keys(args, found):
    names = {"quwry": {"type": "string"}, "limjit": {"type": "integer"}}
    made = assigned(args, Names(slots_of(schema(names, "quwry"))))
    assert (made.names if made.is_whole else None) == found


def test_two_keys_that_are_as_near_have_no_assignment():
    names = {"destinatoin": {"type": "string"}, "destinatiom": {"type": "string"}}
    assert assigned({"destination": "x"}, Names(slots_of(schema(names)))).names == {}


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("minprice", "maxprice"),
        ("srciban", "dstiban"),
        ("debtor_iban", "credtor_iban"),
        ("payerid", "payeeid"),
        ("radius", "radius_m"),
        ("approved", "disapproved"),
        ("from_date", "to_date"),
        ("dep", "des"),
        ("line1", "line2"),
    ],
)
def test_no_key_is_another_one(key, name):
    assert not is_garbled(key, name)


def test_what_a_key_is_declared_to_mean_stands_there_already():
    names = {"location": {"type": "string"}, "towns": {"type": "string"}}
    known = Names(slots_of(schema(names)), words=Words({"town": "location"}))
    assert assigned({"town": "x"}, known).names == {"town": "location"}
    assert assigned({"location": "x", "town": "x"}, known).names == {}
    assert assigned({"location": "x", "town": "x"}, Names(known.slot)).names == {"town": "towns"}


@pytest.mark.parametrize(
    "box",
    [
        {"return_dae": "x", "seat_nmbers": 2},
        '{"return_dae": "x", "seat_nmbers": 2}',
        [{"return_dae": "x", "seat_nmbers": 2}],
    ],
    ids=["as it is", "in a text", "in a list"],
)
def test_keys_of_an_object_are_compared_however_it_was_written(box):
    inner = {"return_date": {"type": "string"}, "seat_numbers": {"type": "integer"}}
    tools = {"book": schema({"box": schema(inner, "return_date")}, "box")}
    right = {"box": {"return_date": "x", "seat_numbers": 2}}
    assert renamed_keys({"box": box}, right, tools) is Safety.INFERRED
    swapped = {"box": {"return_date": 2, "seat_numbers": "x"}}
    assert renamed_keys({"box": box}, swapped, tools) is Safety.LOSSY


def renamed_keys(written, runs, tools):
    return verdict(Call("book", written), Call("book", runs), tools)


@pytest.mark.parametrize("effect", ["mutating", "read_only"])
def test_name_and_keys_are_mended_together(effect):
    tools = [
        offered("conferm_ordr", schema({"ordr_id": {"type": "string"}}, "ordr_id"), effect),
        offered("find", TOOLS["find"], effect),
    ]
    found = repair_call({"name": "confirm_order", "args": {"order_id": "x"}}, tools)
    assert found.calls[0].name == "conferm_ordr"
    assert found.calls[0].args == {"ordr_id": "x"}


def test_many_unknown_keys_are_refused_at_once():
    tool = offered("find", TOOLS["find"])
    many = {f"key{n}": n for n in range(20_000)}
    assert assigned(many, Names(slots_of(tool.schema))).names == {}


def test_spelling_alone_renames_nothing():
    step = Step(Call("confirm_order", {}), Call("conferm_ordr", {}), slots_of({}), ["conferm_ordr"])
    assert judge(step).safety is Safety.LOSSY
