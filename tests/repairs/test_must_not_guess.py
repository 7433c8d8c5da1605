"""What has no certain repair is refused, through the whole of `repair_call`, never guessed."""

from __future__ import annotations

from typing import Any

import pytest

from selfcorrect import repair_call
from selfcorrect.model import Safety
from selfcorrect.tools import ToolSpec


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
    assert out.outcome in ("ask", "failed"), out.calls
    assert not out.calls
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
    assert not out.calls


@pytest.mark.parametrize("name", ["Drop_Table", "drop_tabel", "functions.drop_table"])
def test_no_destructive_tool_is_called_under_another_name(name):
    out = repair_call(
        call(name, {"id": "7"}), [tool("drop_table", {"id": TEXT}, effect="destructive")]
    )
    assert not out.calls


@pytest.mark.parametrize(
    ("key", "name"),
    [("retrun_date", "return_date"), ("returnDate", "return_date"), ("cabbin", "cabin")],
)
def test_a_misspelt_optional_key_is_mended_and_never_dropped(key, name):
    value = "business" if name == "cabin" else "2026-11-01"
    out = repair_call(call("book_flight", {**GOOD, key: value}), [FLIGHT])
    assert out.calls[0].args == {**GOOD, name: value}
    reader = tool("book_flight", dict(FLIGHT.schema["properties"]), effect="read_only")
    out = repair_call(call("book_flight", {**GOOD, key: value}), [reader])
    assert out.calls[0].args == {**GOOD, name: value}


def test_an_unknown_key_is_dropped_on_tools_that_only_read():
    search = {"q": TEXT}
    extra = call("find", {"q": "x", "verbose": True})
    assert not repair_call(extra, [tool("find", search, ("q",))]).calls
    out = repair_call(extra, [tool("find", search, ("q",), effect="read_only")])
    assert out.calls[0].args == {"q": "x"}
    assert {change.safety for change in out.changes} == {Safety.INFERRED}
