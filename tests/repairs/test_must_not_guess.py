"""What has no certain repair is refused, through the whole of `repair_call`, never guessed."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect import StrategyMap, repair_call
from selfcorrect.model import Safety
from selfcorrect.tools import ToolSpec

ROOT = Path(__file__).parents[2]


def tool(name: str, properties: dict[str, Any], required: tuple[str, ...] = (), **more: Any) -> Any:
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return ToolSpec.from_schema({"name": name, "parameters": parameters}, **more)


TEXT, INT, NUM = {"type": "string"}, {"type": "integer"}, {"type": "number"}
DAY = {"type": "string", "format": "date"}
MAIL = tool("send_email", {"to": TEXT, "subject": TEXT, "body": TEXT}, ("to", "body"))
FLIGHT = tool(
    "book_flight",
    {
        "origin": TEXT,
        "departure_date": DAY,
        "passengers": INT,
        "cabin": {"enum": ["economy", "business", "first"]},
        "return_date": DAY,
    },
    ("origin", "departure_date", "passengers"),
)
PAY = tool(
    "transfer",
    {"account": TEXT, "amount": {**NUM, "maximum": 1000}, "recipient": TEXT},
    ("account", "amount", "recipient"),
)
GOOD = {"origin": "OSL", "departure_date": "2026-10-26", "passengers": 2}
PAID = {"account": "NO93", "amount": 10, "recipient": "Ann"}


def call(name: str, args: Any) -> dict[str, Any]:
    return {"name": name, "arguments": args}


@pytest.mark.parametrize(
    ("written", "tools"),
    [
        # text that ends inside a string
        ('{"name": "send_email", "arguments": {"to": "ann@example.org", "body": "Dear', [MAIL]),
        (call("send_email", '{"to": "ann@example.org", "body": "Dear An'), [MAIL]),
        ('send_email(to="ann@example.org", body="Dear An', [MAIL]),
        # a number at the very end may have gone on
        (call("transfer", '{"account": "NO93", "recipient": "Ann", "amount": 10'), [PAY]),
        # a day or a month
        (call("book_flight", {**GOOD, "departure_date": "03/04/2026"}), [FLIGHT]),
        (call("book_flight", {**GOOD, "departure_date": "04.03.26"}), [FLIGHT]),
        # half a passenger
        (call("book_flight", {**GOOD, "passengers": 2.5}), [FLIGHT]),
        (call("book_flight", {**GOOD, "passengers": "2.5"}), [FLIGHT]),
        (call("book_flight", {**GOOD, "passengers": "two or three"}), [FLIGHT]),
        (call("book_flight", {**GOOD, "passengers": True}), [FLIGHT]),
        # more than may be transferred
        (call("transfer", {**PAID, "amount": 5000}), [PAY]),
        (call("transfer", {**PAID, "amount": "5,000.00"}), [PAY]),
        (call("transfer", {**PAID, "amount": "1.234,56"}), [PAY]),
        # nothing says who, how much, or when
        (call("transfer", {"account": "NO93", "recipient": "Ann"}), [PAY]),
        (call("transfer", {"account": "NO93", "amount": 10, "note": "Ann"}), [PAY]),
        (call("book_flight", {"origin": "OSL", "passengers": 2}), [FLIGHT]),
        (call("transfer", {}), [PAY]),
        # null where a value is required
        (call("transfer", {**PAID, "recipient": None}), [PAY]),
        (
            call("transfer", {**PAID, "recipient": ""}),
            [tool("transfer", {"recipient": {"enum": ["a"]}})],
        ),
        # a value between two members, or qualified
        (call("book_flight", {**GOOD, "cabin": "premium economy"}), [FLIGHT]),
        (call("book_flight", {**GOOD, "cabin": "economy or business"}), [FLIGHT]),
        (call("book_flight", {**GOOD, "cabin": "not first"}), [FLIGHT]),
        (call("book_flight", {**GOOD, "cabin": "second"}), [FLIGHT]),
        # another account, amount or recipient
        (call("transfer", {**PAID, "to_account": "SE55"}), [PAY]),
        (call("transfer", {**PAID, "Amount": 20}), [PAY]),
        (call("transfer", {**PAID, "recipient": ["Ann", "Bob"]}), [PAY]),
        (call("transfer", {"account": "NO93", "amount": 10, "sender": "Ann"}), [PAY]),
        # two keys for one argument, two arguments for one key
        (
            call("transfer", {"account": "NO93", "amount": 10, "recipent": "A", "recipiant": "B"}),
            [PAY],
        ),
        (
            call("book_flight", {"origin": "OSL", "passengers": 1, "arrival_date": "2026-10-26"}),
            [FLIGHT],
        ),
        # arguments that could not be read are not an empty object
        (call("transfer", "oops"), [PAY]),
        (call("ping", "{oops"), [tool("ping", {"host": TEXT})]),
        (call("ping", '{"host": '), [tool("ping", {"host": TEXT})]),
    ],
)
def test_no_certain_repair(written, tools):
    out = repair_call(written, tools)
    assert out.outcome in ("ask", "failed"), out.ready
    assert not out.ready
    assert out.reason


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        ("delete_order", ["create_order"]),
        ("create_order", ["delete_order", "update_order"]),
        ("get_orders", ["get_order_items", "get_order_status"]),
        ("serch", ["search", "serve"]),
        ("carx", ["card", "cart"]),
        ("unlock_door", ["lock_door"]),
        ("lookup_weather", ["book_flight"]),
        ("func1", ["book_flight"]),
        ("transfer_all", ["transfer"]),
        ("", ["transfer", "refund"]),
    ],
)
def test_no_other_tool_is_called(name, offered):
    tools = [tool(each, {"id": TEXT}, ("id",)) for each in offered]
    out = repair_call({"name": name or " ", "arguments": {"id": "7"}}, tools)
    assert out.outcome in ("ask", "failed")
    assert not out.ready


@pytest.mark.parametrize("name", ["Drop_Table", "drop_tabel", "functions.drop_table"])
def test_no_destructive_tool_is_called_under_another_name(name):
    out = repair_call(
        call(name, {"id": "7"}), [tool("drop_table", {"id": TEXT}, effect="destructive")]
    )
    assert not out.ready


@pytest.mark.parametrize(
    ("key", "name"),
    [("retrun_date", "return_date"), ("returnDate", "return_date"), ("cabbin", "cabin")],
)
def test_a_misspelt_optional_key_is_mended_and_never_dropped(key, name):
    value = "business" if name == "cabin" else "2026-11-01"
    out = repair_call(call("book_flight", {**GOOD, key: value}), [FLIGHT])
    assert out.ready[0].args == {**GOOD, name: value}
    reader = tool("book_flight", dict(FLIGHT.schema["properties"]), effect="read_only")
    out = repair_call(call("book_flight", {**GOOD, key: value}), [reader])
    assert out.ready[0].args == {**GOOD, name: value}


SHIPPED = sorted((*ROOT.glob("selfcorrect/maps/*.toml"), *ROOT.glob("strategies/*.toml")))
WORDS = ("amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "harbor", "iris", "jade")
CONTENT = st.one_of(
    st.sampled_from(WORDS), st.integers(), st.booleans(), st.lists(st.integers(), min_size=1)
)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_no_shipped_map_lets_content_go(path):
    written = tomllib.loads(path.read_text(encoding="utf-8"))
    assert "lossy" not in written.get("policy", {}).get("allow", ())
    strategies = StrategyMap.load(path)
    for placed in strategies.rules:
        ladder = strategies.ladder(placed.id)
        assert "drop-extra" not in ladder or Safety.LOSSY not in placed.rule.allow, placed.id


loaded = cache(StrategyMap.load)


@settings(max_examples=60)
@given(
    key=st.sampled_from(("path", "filter", "reason", "verbose", "x", "status", "", *WORDS)),
    value=CONTENT,
    effect=st.sampled_from(["read_only", "idempotent", "mutating", "destructive"]),
    properties=st.sampled_from([{}, {"a": {"type": "boolean"}}, {"city": TEXT}]),
    name=st.sampled_from(["default", "local_model", "development", "rest_api"]),
)
def test_an_argument_with_content_is_never_left_out(key, value, effect, properties, name):
    out = repair_call(
        call("ls", {key: value}), [tool("ls", properties, effect=effect)], strategies=loaded(name)
    )
    assert all(value in made.args.values() for made in out.ready), out.ready


@settings(max_examples=60)
@given(data=st.data())
def test_a_key_one_slip_away_is_mended_or_refused_and_never_dropped(data):
    names = data.draw(
        st.lists(
            st.sampled_from(("location", "category", "language", "quantity", "temperature")),
            min_size=1,
            max_size=3,
            unique=True,
        )
    )
    meant = data.draw(st.sampled_from(names))
    at = data.draw(st.integers(1, len(meant) - 2))
    key = data.draw(
        st.sampled_from(
            [
                meant[:at] + meant[at + 1 :],
                meant[:at] + meant[at + 1] + meant[at] + meant[at + 2 :],
                meant[:at] + meant[at] + meant[at:],
            ]
        )
    )
    find = tool("find", dict.fromkeys(names, TEXT), effect="read_only")
    out = repair_call(call("find", {key: "amber"}), [find])
    assert all(made.args == {meant: "amber"} for made in out.ready), out.ready


@pytest.mark.parametrize("effect", ["read_only", "mutating"])
@pytest.mark.parametrize("value", [None, "", " ", [], {}])
def test_what_says_nothing_may_go(value, effect):
    find = tool("find", {"q": TEXT}, ("q",), effect=effect)
    out = repair_call(call("find", {"q": "x", "verbose": value}), [find])
    assert out.ready[0].args == {"q": "x"}
    assert {change.safety for change in out.changes} == {Safety.EXACT}


@pytest.mark.parametrize(
    "beside",
    [
        {"description": "only if the invoice was checked"},
        {"title": "a draft"},
        {"required": "an approval"},
        {"type": "example"},
        {"unit": "miles"},
        {"scale": 1000},
    ],
)
def test_what_stands_beside_a_wrapped_value_is_not_lost(beside):
    wrapped = call("transfer", {"properties": PAID, **beside})
    assert not repair_call(wrapped, [PAY]).ready
    one = call("transfer", {**PAID, "amount": {"value": 5, **beside}})
    assert not repair_call(one, [PAY]).ready


NAMESPACES = (
    *("dont", "testnet", "schedule", "draft", "maybe", "not_yet", "example", "server", "v2"),
    *("mcp__bank", "mcp__testnet", "multi_tool_use", "later", "ask", "bank", "cancel", *WORDS),
)


@settings(max_examples=60)
@given(
    space=st.sampled_from(NAMESPACES) | st.from_regex("[a-z]{3,9}", fullmatch=True),
    border=st.sampled_from([".", ":", "/", "__", "_", "-", " "]),
    others=st.lists(st.sampled_from(["create", "remove", "book_flight"]), unique=True),
    effect=st.sampled_from([None, "read_only", "mutating"]),
)
def test_a_namespace_that_nobody_allows_makes_another_tool(space, border, others, effect):
    if space in ("functions", "tools", "transfer"):
        return
    shared = [tool(f"{space}{border}{other}", {}) for other in others]
    pay = tool("transfer", dict(PAY.schema["properties"]), ("account",), effect=effect)
    out = repair_call(call(f"{space}{border}transfer", PAID), [pay, *shared])
    assert not out.ready


@pytest.mark.parametrize("name", ["functions.transfer", "tools:transfer", "default_api/transfer"])
def test_the_namespaces_of_model_servers_are_taken_off(name):
    assert repair_call(call(name, PAID), [PAY]).ready[0].name == "transfer"


def test_a_prefix_that_the_tools_share_is_taken_off_once():
    tools = [tool("bank_transfer", {"id": TEXT}), tool("bank_refund", {"id": TEXT})]
    out = repair_call(call("bank.bank_transfer", {"id": "7"}), tools)
    assert out.ready[0].name == "bank_transfer"
