"""Wordings that many systems share, beyond the examples of the maps: kind, category, names."""

import json

import pytest
from asked import decide, read_report

from selfcorrect.mapping.loading import load_map

ORDER = {"colour": "pink", "size": 99}
COMMAND = {"command": "paint --fast"}

SAID = [
    # one sentence per field
    ({"errors": {"size": "99 is greater than the maximum of 9"}}, ORDER, "range", ["size"]),
    ({"errors": {"colour": "'pink' is not a valid choice"}}, ORDER, "enum", ["colour"]),
    ("{'colour': 'Required'}", {}, "missing_param", ["colour"]),
    ("{'size': 'is required'}", {}, "missing_param", ["size"]),
    (
        {"nested": {"size": ["Invalid value: Expected <=9 but received 99"]}},
        ORDER,
        "range",
        ["size"],
    ),
    # members below a summary
    (
        {
            "status_code": 400,
            "detail": "Validation failed for POST /orders",
            "extra": [{"message": "Expected `int` <= 9", "key": "size", "source": "body"}],
        },
        ORDER,
        "range",
        ["size"],
    ),
    (
        {
            "detail": "Validation failed for POST /orders",
            "extra": [{"message": "Object missing required field `shape`", "key": "data"}],
        },
        ORDER,
        "missing_param",
        ["shape"],
    ),
    (
        [{"message": "Additional properties not allowed: size", "path": "#/"}],
        ORDER,
        "extra_param",
        None,
    ),
    # the place before the violation, or on a line below it
    ("At path: size -- Expected a number, but received: undefined", {}, None, ["size"]),
    (
        'error parsing object at path: "size" - expected type to be number',
        ORDER,
        "wrong_type",
        ["size"],
    ),
    ("Not one of the allowed values\nPath: .colour", ORDER, "enum", ["colour"]),
    # names of what is not there
    ("'shape' is a required property", {"size": 1}, "missing_param", ["shape"]),
    ("Attribute Order.shape is required", {"size": 1}, "missing_param", ["shape"]),
    ("shape can't be blank", {}, None, ["shape"]),
    ("shape: must not be null", {}, None, ["shape"]),
    (
        "City of the hotel Missing required parameter in the body",
        {"city": ""},
        "missing_param",
        ["city"],
    ),
    ("Wrong key 'size' in {'colour': 'pink', 'size': 99}", ORDER, "extra_param", ["size"]),
    # syntax, with a place in the text
    ("')' expected, line 1: near 'x'\nline 0: ')' expected", COMMAND, "syntax", ["command"]),
    ("Expected ident, found <EOF>. Line 3, Col: 4.", COMMAND, "syntax", ["command"]),
    ("Opening and ending tag mismatch: b line 1 and a", COMMAND, None, ["command"]),
    (
        "the 'size' field length must be greater than or equal to 2",
        {"size": "x"},
        "length",
        ["size"],
    ),
]


@pytest.mark.parametrize(("message", "arguments", "category", "names"), SAID)
def test_category_and_names(message, arguments, category, names):
    text = message if isinstance(message, str) else json.dumps(message)
    finding = read_report(text, arguments=arguments)[0]
    found = decide(finding, load_map(), None, arguments, acts=False)
    assert found.kind.value == "validation"
    assert category is None or found.category.value == category
    assert names is None or list(found.paths) == [f"/args/{name}" for name in names]


KINDS = [
    ("getaddrinfo ENOTFOUND api.example.org", {"user": "x"}, "transient"),
    ("getaddrinfo ENOTFOUND api.example.org", {"query": "x"}, "transient"),
    ('{"name":"NotFound","message":"No record found","className":"not-found"}', ORDER, "not_found"),
    ("The node berlin is not in the graph.", {"node": "berlin"}, "not_found"),
    ("other side closed", {"url": "http://a.example"}, "transient"),
    ("Breaker is open", {"job": "x"}, "transient"),
    ("[61 * * * *] is not acceptable, out of range", {"cron": "61 * * * *"}, "validation"),
    ("406 Not Acceptable", ORDER, "permanent"),
    ("file signature verification failed", {"job": "x"}, "auth"),
    ("SELECT command denied to user 'eve'@'localhost'", {"sql": "select 1"}, "auth"),
    ("No element found for selector #buy", {"selector": "#buy"}, "not_found"),
    ("Authentication required", ORDER, "auth"),
    ("Payment required", ORDER, "quota"),
]


@pytest.mark.parametrize(("text", "arguments", "kind"), KINDS)
def test_kind(text, arguments, kind):
    finding = read_report(text, arguments=arguments)[0]
    found = decide(finding, load_map(), None, arguments, acts=False)
    assert found.kind.value == kind


@pytest.mark.parametrize("arguments", [{"user": "x"}, {"count": 3}, {"name": "bob"}])
def test_a_host_that_no_argument_names_is_nobodys_fault(arguments):
    text = "getaddrinfo ENOTFOUND api.example.org"
    finding = read_report(text, arguments=arguments)[0]
    found = decide(finding, load_map(), None, arguments, acts=False)
    assert found.paths == ()


@pytest.mark.parametrize("name", ["NotFound", "TypeError", "BAD_INPUT", "MethodNotAllowed"])
def test_the_name_of_an_error_is_no_parameter(name):
    body = json.dumps({"name": name, "message": "No record found", "code": 404})
    found = decide(read_report(body, arguments={"id": 7})[0], load_map(), None, {"id": 7})
    assert found.paths in ((), ("/args/id",))
