"""What was once let through, each in its smallest form: it is lossy."""

from __future__ import annotations

from typing import Any

import pytest
from asking import RUNS_UNASKED, ask
from random_calls import made

TEXT: dict[str, Any] = {"type": "string"}
COUNT: dict[str, Any] = {"type": "integer"}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT}
COUNTS: dict[str, Any] = {"type": "array", "items": COUNT}
PAY = {"to": TEXT, "amount": COUNT}
INNER = {"type": "object", "properties": PAY}
ARGS = {"to": "ann", "amount": 5}
DAY = {"type": "string", "format": "date"}
MOMENT = {"type": "string", "format": "date-time"}
CLOCK = {"type": "string", "format": "time"}
NUMBER: dict[str, Any] = {"type": "number"}


def told(description: str) -> dict[str, Any]:
    return {**NUMBER, "description": description}


Rows = tuple[tuple[dict[str, Any], Any, dict[str, Any]], ...]
OF_ANY_TOOL: Rows = (
    # a word around all, around some, around what an object holds, and in place of its key
    (PAY, {"cancelled": ARGS}, ARGS),
    (PAY, {"do_not": ARGS}, ARGS),
    (PAY, {"to": "ann", "refund": {"amount": 5}}, ARGS),
    (PAY, {"to": "ann", "取消": {"amount": "5"}}, ARGS),
    (PAY, {"arguments": {"cancelled": ARGS}}, ARGS),
    ({"order": INNER}, {"order": {"void": ARGS}}, {"order": ARGS}),
    ({"order": INNER}, {"refund": ARGS}, {"order": ARGS}),
    ({"order": INNER, "old": INNER}, {"refund": ARGS}, {"order": ARGS}),
    ({"lines": {"type": "array", "items": INNER}}, {"refund": [ARGS]}, {"lines": [ARGS]}),
    # a list in a text: items lost, split, alternatives
    ({"tags": TEXTS}, {"tags": "['a', 'b']"}, {"tags": ["a"]}),
    ({"tags": TEXTS}, {"tags": '["x, y"]'}, {"tags": ["x", "y"]}),
    ({"order": {"type": "object", "properties": {"tags": TEXTS}}},
     {"order": '{"tags": ["a b", "c"]}'}, {"order": {"tags": ["a", "b", "c"]}}),
    ({"sizes": COUNTS}, {"sizes": "5 or 1"}, {"sizes": [5, 1]}),
    ({"order": INNER}, {"order": "['a', 'b']"}, {"order": {"to": "a"}}),
    ({"order": INNER}, {"order": "05"}, {"order": {"amount": 5}}),
    ({"tags": TEXTS}, {"tags": '["o", "a;b"]'}, {"tags": ["o", "a;"]}),
    ({"flags": {"type": "array", "items": {"type": "boolean"}}}, {"flags": "[true, true]"},
     {"flags": [True]}),
    ({"lines": {"type": "array", "items": INNER}}, {"lines": "[{}]"}, {"lines": [{}, {}]}),
    # a slip that is nearer to a key that was written, too
    ({"amount": {"type": "boolean"}, "amounts": TEXT}, {"amout": "5", "amount": True},
     {"amounts": "5", "amount": True}),
    ({"tags": TEXTS}, {"tags": [{"type": "string", "value": "12 High St, Leeds"}]},
     {"tags": ["12", "High St, Leeds"]}),
    ({"order": INNER}, {"order": "[a"}, {"order": {"to": "a"}}),
    # what fits is not nothing
    ({"to": TEXT, "city": TEXT}, {"to": "a", "city": "null"}, {"to": "a"}),
    ({"to": TEXT, "n": COUNT, "city": TEXT}, {"to": "a", "n": "5", "city": "none"},
     {"to": "a", "n": 5}),
    # a number is written in its own digits, where a text is asked for
    ({"code": TEXT}, {"code": 451}, {"code": "00451"}),
    # a day and a month that may be exchanged
    ({"day": DAY}, {"day": "10/02/2026"}, {"day": "2026-10-02"}),
    ({"day": DAY}, {"day": "02.10.2026"}, {"day": "2026-02-10"}),
    # a doubt, another weekday, a number that is no day, two times
    ({"day": DAY}, {"day": "2026-10-02?"}, {"day": "2026-10-02"}),
    ({"day": DAY}, {"day": "Monday, 2026-10-02"}, {"day": "2026-10-02"}),
    ({"day": DAY}, {"day": "12101112"}, {"day": "1210-11-12"}),
    ({"day": DAY}, {"day": "-2026-10-02"}, {"day": "2026-10-02"}),
    ({"at": CLOCK}, {"at": "09:00-10:00"}, {"at": "09:00:00-10:00"}),
    ({"at": CLOCK}, {"at": "09:00\u201310:00"}, {"at": "09:00:00-10:00"}),
    ({"at": MOMENT}, {"at": "2026-10-02 14:00Z"}, {"at": "2026-10-02T15:00:00Z"}),
    ({"at": MOMENT}, {"at": "2026-10-02 14:00Z"}, {"at": "2026-10-02T14:00:00+02:00"}),
    # another unit, another currency, an amount that may be counted or grouped otherwise
    ({"size": told("Size in MB")}, {"size": "5 Mb"}, {"size": 5}),
    ({"far": told("in nautical miles")}, {"far": "5 miles"}, {"far": 5}),
    ({"price": told("In Canadian dollars")}, {"price": "5 AUD"}, {"price": 5}),
    ({"price": told("In EUR")}, {"price": "1,250 EUR"}, {"price": 1250}),
    ({"tax": told("Tax, e.g. 0.05 means 5%")}, {"tax": "5%"}, {"tax": 5}),
    ({"tax": told("Percent") | {"maximum": 1}}, {"tax": "0.5%"}, {"tax": 0.5}),
    ({"sales_millions": NUMBER}, {"sales_millions": "1.2 million"}, {"sales_millions": 1200000}),
    ({"amount_cents": COUNT}, {"amount_cents": "12.00"}, {"amount_cents": 12}),
    ({"amount": NUMBER}, {"amount": "1.234"}, {"amount": 1.234}),
    ({"x": COUNT}, {"x": "50.000"}, {"x": 50}),
    ({"x": NUMBER}, {"x": "1,234"}, {"x": 1234}),
    ({"x": COUNT}, {"x": "+5"}, {"x": 5}),
    # a list that says that it goes on, and one with two kinds of items
    ({"tags": TEXTS}, {"tags": "a, b, ..."}, {"tags": ["a", "b"]}),
    ({"tags": TEXTS}, {"tags": "- a\nb"}, {"tags": ["a", "b"]}),
    # what is left out, cut off or holds the place of an item is none
    ({"tags": TEXTS}, {"tags": "a; not b"}, {"tags": ["a", "not b"]}),
    ({"tags": TEXTS}, {"tags": "all but Bob"}, {"tags": ["all but Bob"]}),
    ({"tags": TEXTS}, {"tags": "a, etc."}, {"tags": ["a", "etc."]}),
    ({"tags": TEXTS}, {"tags": "[a, ...]"}, {"tags": ["a", "..."]}),
    ({"tags": TEXTS}, {"tags": "nobody"}, {"tags": ["nobody"]}),
    ({"color": {"enum": ["red", "blue"]}}, {"color": "red..."}, {"color": "red"}),
    # a separator in quotes or brackets, items under others
    ({"tags": TEXTS}, {"tags": "a; 'b; c'"}, {"tags": ["a", "b", "c"]}),
    ({"tags": TEXTS}, {"tags": "f(a; b)"}, {"tags": ["f(a", "b)"]}),
    ({"tags": TEXTS}, {"tags": "- a\n  - b\n- c"}, {"tags": ["a", "b", "c"]}),
    # capital and small letters that tell listed values apart
    ({"age": {"enum": ["5m", "1M"]}}, {"age": "5M"}, {"age": "5m"}),
    # separators in what is no code
    ({"name": {**TEXT, "pattern": "^[a-z0-9]+$"}}, {"name": "my file-1"}, {"name": "myfile1"}),
    # a name and a word for nothing are no codes
    ({"code": {**TEXT, "pattern": "^[A-Z0-9]{3}$"}}, {"code": "A?B1"}, {"code": "AB1"}),
    ({"code": {**TEXT, "pattern": r"^\d{3}$"}}, {"code": "10.5"}, {"code": "105"}),
    ({"code": {**TEXT, "pattern": "^[A-Z]{1,5}$"}}, {"code": "Ford"}, {"code": "FORD"}),
    ({"code": {**TEXT, "pattern": "^[A-Z]{3}$"}}, {"code": "any"}, {"code": "ANY"}),
    ({"code": {**TEXT, "pattern": "^[A-Z]{4,12}$"}}, {"code": "NEW YORK"}, {"code": "NEWYORK"}),
    ({"code": {**TEXT, "pattern": "^[a-z]{2,9}$"}}, {"code": "a  ny"}, {"code": "any"}),
    ({"code": {**TEXT, "pattern": r"^\d{8}$"}}, {"code": "1234; 5678"}, {"code": "12345678"}),
    ({"code": {**TEXT, "pattern": r"^\d{4}$"}}, {"code": "14:00"}, {"code": "1400"}),
    ({"code": {**TEXT, "pattern": r"^\d{2}$"}}, {"code": "1/2"}, {"code": "12"}),
    ({"to": {**TEXT, "pattern": r"^\+?\d{5,12}$"}}, {"to": "555 1234"}, {"to": "+5551234"}),
    ({"to": {**TEXT, "pattern": r"^\+[1-9]\d{1,14}$"}}, {"to": "+1 555 1234, +1 555"},
     {"to": "+155512341555"}),
    ({"code": {**TEXT, "pattern": r"^\d{3}-\d{3}$"}}, {"code": "12-3456"}, {"code": "123-456"}),
    ({"to": {**TEXT, "pattern": r"^\+[1-9]\d{1,14}$"}}, {"to": "+44 (0)20 7946 0958"},
     {"to": "+4402079460958"}),
    ({"sizes": COUNTS}, {"sizes": "1, 2 and"}, {"sizes": [1, 2]}),
    ({"sizes": COUNTS}, {"sizes": "1 000 2"}, {"sizes": [1, 0, 2]}),
    # a date that was cut off, whose year stands between, or with a zone that does not run
    ({"day": DAY}, {"day": "2026-10-26-"}, {"day": "2026-10-26"}),
    ({"day": DAY}, {"day": "2026-10-26T"}, {"day": "2026-10-26"}),
    ({"day": DAY}, {"day": "26 October 2026 at"}, {"day": "2026-10-26"}),
    ({"day": DAY}, {"day": "2026-10-26Z"}, {"day": "2026-10-26"}),
    ({"day": DAY}, {"day": "26 October 2026 UTC"}, {"day": "2026-10-26"}),
    ({"day": DAY}, {"day": "6 2026 March"}, {"day": "2026-03-06"}),
    ({"day": DAY}, {"day": "March 2026 6"}, {"day": "2026-03-06"}),
    # a weekday that no day says, a day whose digits say another one
    ({"at": CLOCK}, {"at": "Mon 14:00Z"}, {"at": "14:00:00Z"}),
    ({"day": {**TEXT, "pattern": r"^\d\d/\d\d/\d{4}$"}}, {"day": "20261011"},
     {"day": "20/26/1011"}),
    ({"n": told("Number of dozens")}, {"n": "a dozen"}, {"n": 12}),
    # a sign that says something, alone around all or before a key
    (PAY, {"!": ARGS}, ARGS),
    (PAY, {"\U0001f6ab": ARGS}, ARGS),
    (PAY, {"to": "ann", "//amount": 5}, ARGS),
    (PAY, {"to": "ann", "#amount": 5}, ARGS),
    ({"force": {"type": "boolean"}}, {"!force": True}, {"force": True}),
    ({"force": {"type": "boolean"}}, {"force?": True}, {"force": True}),
    ({"order": INNER}, {"order": {"type": "refund", "properties": ARGS}}, {"order": ARGS}),
    # two days, two times, a duration, a minute and an offset that no clock shows
    ({"day": DAY}, {"day": "2026-10-26 2027-01-01"}, {"day": "2026-10-26"}),
    ({"at": MOMENT}, {"at": "2026-10-26T14:00\u201310:00"}, {"at": "2026-10-26T14:00-10:00"}),
    ({"at": CLOCK}, {"at": "25h"}, {"at": "25:00"}),
    ({"at": CLOCK}, {"at": "14h75"}, {"at": "14:75"}),
    ({"at": CLOCK}, {"at": "14:30:75Z"}, {"at": "14:30:75+00:00"}),
    ({"at": CLOCK}, {"at": "14:00:00+0975"}, {"at": "14:00:00+09:75"}),
    # what holds the place of an item, the keys of an object
    ({"tags": TEXTS}, {"tags": "[TAGS]"}, {"tags": ["TAGS"]}),
    ({"order": INNER}, {"order": "to, amount"}, {"order": {"to": "eve", "amount": 9}}),
    # what stands beside a list goes into none of its items; a declared key is no other
    ({"lines": {"type": "array", "items": INNER}},
     {"to": "a", "lines": [{"amount": 1}, {"amount": 2}]},
     {"lines": [{"to": "a", "amount": 1}, {"amount": 2}]}),
    ({"date": TEXT, "departure_date": TEXT}, {"date": "x"}, {"departure_date": "x"}),
    # a key that says in what is counted, one of two other words, of no word, or with an English one
    ({"price_cents": COUNT}, {"price": 5}, {"price_cents": 5}),
    ({"start_date": TEXT}, {"strat_time": "x"}, {"start_date": "x"}),
    ({"a": TEXT}, {"the": "x"}, {"a": "x"}),
    ({"data_source": TEXT}, {"data": "x"}, {"data_source": "x"}),
    ({" ": TEXT}, {"_": "x"}, {" ": "x"}),
    ({"to": TEXT}, {"too": "x"}, {"to": "x"}),
    # a word pulled apart, one that may be null, a currency that nobody knows, pounds of money
    ({"state": {"enum": ["inactive", "off"]}}, {"state": "in active"}, {"state": "inactive"}),
    ({"how": {"enum": ["none", "x", None]}}, {"how": "None"}, {"how": "none"}),
    ({"price": told("In USD or NT$")}, {"price": "5 USD"}, {"price": 5}),
    ({"amount": told("In pounds")}, {"amount": "5 pounds"}, {"amount": 5}),
    # a parameter that is called like an envelope or a wrapper
    ({"to": TEXT, "name": TEXT}, {"args": {"to": "a"}, "name": "pay"}, {"to": "a"}),
    ({"to": TEXT, "data": {"type": "object"}}, {"data": {"to": "a"}}, {"to": "a"}),
)  # fmt: skip
OF_TOOLS_THAT_ACT: Rows = (
    # a key that says more
    ({"dry_run": {"type": "boolean"}}, {"run": True}, {"dry_run": True}),
    ({"soft_delete": TEXT}, {"delete": "a"}, {"soft_delete": "a"}),
    ({"to_account": TEXT}, {"to": "a"}, {"to_account": "a"}),
    ({"source_id": TEXT, "source": COUNT}, {"id": "a"}, {"source_id": "a"}),
    ({"exclude_tags": TEXTS}, {"tags": ["a"]}, {"exclude_tags": ["a"]}),
    ({"no_copy": TEXT, "to": TEXT}, {"copy": "a", "to": "b"}, {"no_copy": "a", "to": "b"}),
)  # fmt: skip
TEXTS_READ: tuple[tuple[dict[str, Any], str, dict[str, Any]], ...] = (
    ({"to": TEXT, "tags": TEXTS}, '{"to": "ann"}', {"to": "ann", "tags": []}),
    ({"to": TEXT, "order": INNER}, '{"to": "ann"}', {"to": "ann", "order": {}}),
    ({"tags": TEXTS}, '{"tags": ["a b", "c"]}', {"tags": ["a", "b", "c"]}),
    ({"tags": TEXTS}, '{"tags": ["x, y"]}', {"tags": ["x", "y"]}),
    ({"lines": {"type": "array", "items": INNER}}, '{"lines": [{"to": "a"}, {}]}',
     {"lines": [{}, {"to": "a"}]}),
    ({"lines": {"type": "array", "items": INNER}}, '{"lines": [{"to": "a"}]}',
     {"lines": [{"to": "a"}, {}]}),
    ({"lines": {"type": "array", "items": INNER}}, '{"lines": [{"to": "a"}, {}]}',
     {"lines": [{"to": "a"}]}),
    ({"lines": {"type": "array", "items": INNER}}, '{"lines": [{"to": "a"}, {"amount": 5}]}',
     {"lines": [{"to": "a", "amount": 5}, {}]}),
    ({"to": TEXT, "amount": COUNT, "order": INNER}, '{"to": "a", "order": {"amount": 5}}',
     {"to": "a", "order": {}, "amount": 5}),
    ({"to": TEXT, "order": INNER}, '{"to": "a", "order": {"to": "a"}}', {"to": "a", "order": {}}),
    ({"to": TEXT, "old_body": TEXT}, '{"to": "a", "body": "b"}', {"to": "a", "old_body": "b"}),
    ({"a": COUNT, "exclude_b": COUNT}, '{"a": 1, "b": 2}', {"a": 1, "exclude_b": 2}),
    # a text that goes on, what strict JSON says otherwise, a value in another object or no list
    ({"to": TEXT}, "{'to': 'ann:'}", {"to": "ann"}),
    ({"to": {"type": ["string", "null"]}}, '{"to": "null"}', {"to": None}),
    ({"order": INNER, "amount": COUNT}, "{'order': {'to': 'a'}, 'amount': 5}",
     {"order": {"to": "a", "amount": 5}}),
    ({"tags": TEXT}, "{'tags': ['a']}", {"tags": "a"}),
    # a comment that leaves something open, or out
    ({"tags": TEXTS}, '{"tags": ["a", // ...\n"b"]}', {"tags": ["a", "b"]}),
    (PAY, '{"to": "ann" /* or bob? */, "amount": 5}', ARGS),
    (PAY, '{"to": "ann", # "amount": 7\n "amount": 5}', ARGS),
)  # fmt: skip
"""A text, and what a reader says that it read."""


@pytest.mark.parametrize("is_required", [True, False])
@pytest.mark.parametrize("effect", ["read_only", "idempotent", "mutating", "destructive", None])
@pytest.mark.parametrize(("known", "written", "runs"), [*OF_ANY_TOOL, *OF_TOOLS_THAT_ACT])
def test_not_what_was_written(known, written, runs, effect, is_required):
    if effect == "read_only" and (known, written, runs) in OF_TOOLS_THAT_ACT:
        return
    required = [*runs] if is_required else []
    tool = made("pay", {"type": "object", "properties": known, "required": required}, effect)
    level, reasons = ask(("pay", written), ("pay", runs), tool, (tool,))
    assert level not in RUNS_UNASKED, (level, reasons)


@pytest.mark.parametrize("effect", ["read_only", None])
@pytest.mark.parametrize(("known", "written", "runs"), TEXTS_READ)
def test_not_what_the_text_says(known, written, runs, effect):
    tool = made("pay", {"type": "object", "properties": known}, effect)
    level, reasons = ask(("pay", written), ("pay", runs), tool, (tool,), at_once=True)
    assert level not in RUNS_UNASKED, (level, reasons)


OTHER_TOOLS = (
    ("order", "delete.order", None, {}),
    ("send_mail", "api_2_post_note", None, {}),
    ("convert", "bank.convert", None, {"declared": True}),
    ("delete_usr", "delete_user", "destructive", {}),
    ("", "delete_user", "destructive", {"takes": lambda: ["delete_user"]}),
    ("", "pay", None, {"takes": lambda: ["pay", "order"]}),
)


@pytest.mark.parametrize(("written", "runs", "effect", "facts"), OTHER_TOOLS)
def test_not_the_tool_that_was_named(written, runs, effect, facts):
    tool = made(runs, {"type": "object", "properties": PAY}, effect)
    level, reasons = ask((written, ARGS), (runs, ARGS), tool, (tool,), **facts)
    assert level not in RUNS_UNASKED, (level, reasons)


@pytest.mark.parametrize(
    ("required", "beside", "is_let"),
    [
        (["to", "unit"], {}, True),
        (["unit"], {}, False),
        (["to", "unit"], {"untis": "imperial"}, False),
    ],
)
def test_a_default_runs_where_everything_has_to_be_said(required, beside, is_let):
    known = {"to": TEXT, "unit": {**TEXT, "default": "metric"}}
    tool = made("pay", {"type": "object", "properties": known, "required": required}, None)
    written = {"to": "ann", **beside}
    level, _ = ask(("pay", written), ("pay", {**written, "unit": "metric"}), tool, (tool,))
    assert (level in RUNS_UNASKED) is is_let


def test_a_namespace_is_left_out_of_no_tool_that_takes_other_arguments():
    for key, is_let in (("to", True), ("expression", False)):
        tool = made("interval.pay", {"type": "object", "properties": PAY}, "read_only")
        level, _ = ask(("pay", {key: "ann"}), ("interval.pay", {key: "ann"}), tool, (tool,))
        assert (level in RUNS_UNASKED) is is_let


NO_VERDICT: tuple[tuple[Any, Any], ...] = (
    ({}, []),
    ("2026-10-02T00:00:00", "2.10.26"),
)


@pytest.mark.parametrize(("written", "runs"), NO_VERDICT)
def test_a_verdict_and_no_error(written, runs):
    tool = made("pay", {"type": "object", "properties": {"x": COUNT}}, None)
    level, _ = ask(("pay", {"x": written}), ("pay", {"x": runs}), tool, (tool,))
    assert level not in RUNS_UNASKED


def test_an_empty_text_may_not_go_where_more_would_be_destroyed() -> None:
    for effect, runs in (("mutating", True), ("destructive", False)):
        tool = made("purge", {"type": "object", "properties": {"days": COUNT}}, effect)
        level, _ = ask(("purge", {"days": ""}), ("purge", {}), tool, (tool,))
        assert (level in RUNS_UNASKED) is runs
