"""Whom an error blames: the parameter it names, the caller or the tool's own answer, or nobody."""

from __future__ import annotations

import json

import pytest
from asked import decide, read_error, read_report

from selfcorrect.mapping.loading import load_map
from selfcorrect.model import Call, Category, ErrorKind, Finding

ORDER = {"customer": "ann", "page_size": 500, "email": "x"}
SCHEMA = {
    "type": "object",
    "properties": {"customer": {"type": "string"}, "page_size": {"type": "integer"}},
    "required": ["customer"],
}
PRINTED = """500 is greater than the maximum of 100

Failed validating 'maximum' in schema['properties']['page_size']:
    {'maximum': 100, 'type': 'integer'}

On instance['page_size']:
    500"""
UNEXPECTED = """Additional properties are not allowed ('unit' was unexpected)

Failed validating "additionalProperties" in schema

On instance:
    {"city":1,"unit":"c"}"""


def heard(
    text: str,
    arguments: object = None,
    tool: str | None = None,
    *,
    acts: bool = False,
    **given: object,
) -> list[Finding]:
    schema = given.get("schema")
    rules = load_map()
    return [
        decide(each, rules, tool, arguments, schema, acts=acts)
        for each in read_report(text, arguments=arguments, tool=tool, bodies=rules.bodies, **given)
    ]


@pytest.mark.parametrize(
    ("text", "arguments", "names"),
    [
        (PRINTED, None, ["page_size"]),
        (PRINTED, ORDER, ["page_size"]),
        (UNEXPECTED, {"city": 1, "unit": "c"}, ["unit"]),
        ("500 is greater than the maximum of 100", None, []),
        ("7 must be a string", None, []),
        ("must be at most 100 at page_size\nis required at customer", None, [*"pc"]),
        ("must be at most 100 at page_size\nis required at customer", ORDER, [*"pc"]),
        ("the shop opens at ten", ORDER, []),
        ("Operation must have a 'path' member", {"patch": [{"op": "add"}]}, ["path"]),
        (
            "Order validation failed: name: Path `name` is required.",
            {"code": "A", "size": 1},
            ["name"],
        ),
        ("month must be in 1..12", {"date": "2024-13-01", "to": "Oslo"}, ["date"]),
        ("integer modulo by zero", {"dividend": 10, "divisor": 0}, ["divisor"]),
        ("must be positive", {"count": -1, "step": 2}, ["count"]),
        ("cannot be negative", {"count": -1, "step": 2}, ["count"]),
    ],
)
def test_a_parameter_is_what_call_schema_or_form_know_as_one(text, arguments, names):
    short = {"p": "page_size", "c": "customer"}
    found = [name for each in heard(text, arguments) for name in each.params]
    assert found == [short.get(name, name) for name in names]


@pytest.mark.parametrize(
    "text",
    [
        "MCP error -32602: Invalid arguments for tool place_order: email must be a valid address",
        "place_order: email must be a valid address",
        "place_order refused: email must be a valid address",
    ],
)
@pytest.mark.parametrize("arguments", [None, ORDER])
def test_the_name_of_a_tool_is_no_parameter(text, arguments):
    (found,) = heard(text, arguments, "place_order")
    assert "place_order" not in found.params
    assert heard(text, {"place_order": 1}, "place_order", acts=True)


def test_a_prefix_names_its_tool_where_nobody_else_does():
    text = "MCP error -32602: Invalid arguments for tool place_order: email must be a valid address"
    assert heard(text)[0].params == ("email",)


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (None, ErrorKind.INTERNAL),
        ({}, ErrorKind.INTERNAL),
        ({"id": 7}, ErrorKind.INTERNAL),
        ({"url": "https://example.com/a"}, ErrorKind.INTERNAL),
        ({"body": '{"whole": true}'}, ErrorKind.INTERNAL),
        ({"body": "{'half'"}, ErrorKind.VALIDATION),
    ],
)
@pytest.mark.parametrize("name", ["json.JSONDecodeError", "simplejson.errors.JSONDecodeError"])
def test_json_is_the_callers_only_where_an_argument_can_be_what_was_parsed(arguments, kind, name):
    text = "Expecting value: line 1 column 1 (char 0)"
    (found,) = heard(text, arguments, exception=name)
    assert (found.kind, found.category) == (kind, Category.MALFORMED_JSON)


@pytest.mark.parametrize(
    ("read", "kind"),
    [("<html>", ErrorKind.INTERNAL), ("", ErrorKind.INTERNAL), ("{'a'", ErrorKind.VALIDATION)],
)
def test_a_parser_that_carries_what_it_read_shows_whose_it_was(read, kind):
    arguments = {"city": "Oslo", "body": "{'a'"}
    with pytest.raises(ValueError, match="Expecting") as caught:
        json.loads(read)
    rules = load_map()
    (found,) = read_error(caught.value, Call("post", arguments), None, bodies=rules.bodies)
    assert decide(found, rules, "post", arguments).kind is kind


@pytest.mark.parametrize("acts", [True, False])
def test_what_the_schema_finds_at_the_named_place_is_what_is_wrong(acts):
    text = json.dumps({"jsonrpc": "2.0", "error": {"code": -32602, "message": "customer is amiss"}})
    (found,) = heard(text, {"customer": 5}, schema=SCHEMA, acts=acts)
    assert (found.category, found.params) == (Category.WRONG_TYPE, ("customer",))


def test_a_demand_that_witness_and_reader_both_see_is_acted_on():
    (found,) = heard(
        "payment_method must be one of: economy, business", {"payment_method": "x"}, acts=True
    )
    assert (found.kind, found.category) == (ErrorKind.VALIDATION, Category.ENUM)
    assert found.rule == "codes/enum"


def test_what_is_not_found_by_its_code_is_a_resource():
    (found,) = heard('{"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "Sorry"}')
    assert (found.kind, found.category) == (ErrorKind.NOT_FOUND, Category.UNKNOWN_RESOURCE)


def test_a_serialization_failure_passes():
    (found,) = heard("it did not work", exception="psycopg.errors.SerializationFailure")
    assert found.kind is ErrorKind.TRANSIENT


@pytest.mark.parametrize(
    ("text", "arguments", "names"),
    [
        ("Sequence index out of range", {"page": 9}, ("page",)),
        ("Sequence index out of range", {"page": 9, "file": "a"}, ()),
        ("the server is overloaded", {"page": 9}, ()),
        ("there is no such tool", {"page": 9}, ()),
    ],
)
def test_the_only_argument_is_told_by_elimination_and_nothing_is_changed_for_it(
    text, arguments, names
):
    given = {"exception": "IndexError"} if "index" in text else {}
    assert heard(text, arguments, **given)[0].params == names
    assert heard(text, arguments, acts=True, **given)[0].params == ()


@pytest.mark.parametrize("arguments", [None, {"page_size": 500, "to": "a"}])
def test_a_bound_of_a_number_is_no_length(arguments):
    (found,) = heard("page_size must be at most 100", arguments)
    assert found.category is Category.RANGE


TWO_LINES = {"lines": [{"employee": "E1", "amount": 10}, {"employee": "E2", "amount": -150}]}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("E2: amount -150", ("lines.1.amount",)),
        ("E2: amount must be positive", ("lines.1.amount",)),
        ("E2: -150 is too little", ("lines.1.amount",)),
        ("the amount -150 is negative", ("lines.1.amount",)),
        ("amount must be at least 0", ("lines.1.amount",)),
        ("amount is odd in one line", ("lines",)),
        ("'E2' is unknown", ("lines.1.employee",)),
        ("E2: unknown employee", ("lines.1.employee",)),
    ],
)
def test_no_other_line_of_a_list_is_blamed_nor_the_label_of_the_line_that_is(text, names):
    assert heard(text, TWO_LINES)[0].params == names


@pytest.mark.parametrize(
    ("text", "arguments", "name"),
    [
        ("Phone number is invalid", {"PhoneNumber": "x", "Name": "b"}, "PhoneNumber"),
        ("The e-mail address is not valid", {"email_address": "x", "a": 1}, "email_address"),
        (
            "An error occurred (MalformedPolicyDocument) when calling the Put operation: bad",
            {"PolicyDocument": "{", "PolicyName": "b"},
            "PolicyDocument",
        ),
    ],
)
def test_the_noun_of_a_message_or_a_code_is_held_against_the_names_of_arguments(
    text, arguments, name
):
    assert heard(text, arguments)[0].params == (name,)
