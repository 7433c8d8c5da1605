"""A number that becomes text keeps the spelling that the model gave it, or is asked about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfcorrect import build_graph, repair_call
from selfcorrect.text import Unclear
from selfcorrect.values.spelled import as_spelled

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
DEPLOY = {
    "name": "deploy",
    "parameters": {
        "properties": {
            "version": TEXT,
            "tags": {"type": "array", "items": TEXT},
            "size": NUMBER,
            "owner": {"type": "object", "properties": {"phone": TEXT}},
        }
    },
}


def mended(raw):
    return [dict(call.args) for call in repair_call(raw, [DEPLOY]).ready]


@pytest.mark.parametrize(
    ("raw", "after"),
    [
        ("deploy(version=1.10)", {"version": "1.10"}),
        ('{"name": "deploy", "arguments": {"version": 1.10}}', {"version": "1.10"}),
        ({"name": "deploy", "arguments": '{"version": 1.10}'}, {"version": "1.10"}),
        ({"name": "deploy", "arguments": {"version": 1.1}}, {"version": "1.1"}),
        ("deploy(version=2.0)", {"version": "2.0"}),
        ("deploy(tags=1.10)", {"tags": ["1.10"]}),
        ("deploy(tags=[1.10, 2.30])", {"tags": ["1.10", "2.30"]}),
        ("deploy(owner={'phone': +15550100})", {"owner": {"phone": "+15550100"}}),
        ("deploy(version=1.10, size=7)", {"version": "1.10", "size": 7}),
        ("deploy(version=1234567890123456.70)", {"version": "1234567890123456.70"}),
    ],
)
def test_keeps(raw, after):
    assert mended(raw) == [after]


def test_keeps_in_each_of_several_calls():
    assert mended("[deploy(version=1.10), deploy(version=2.50)]") == [
        {"version": "1.10"},
        {"version": "2.50"},
    ]


@pytest.mark.parametrize(
    "raw",
    [
        "deploy(version=0o644)",
        "deploy(version=0x1F)",
        "deploy(version=1_000)",
        'deploy {"version": 1e3}',
        '{"name": "deploy", "arguments": {"version": 1e3}}',
        "deploy(version=1.10, size=1.1)",
    ],
)
def test_refuses(raw):
    assert mended(raw) == []


def test_in_the_graph_as_well():
    def deploy(version: str) -> str:
        return version

    graph = build_graph([deploy])
    out = graph.invoke({"raw": '{"name": "deploy", "arguments": {"version": 1.10}}'})
    assert out["result"] == "1.10"


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-1e6, max_value=1e6))
def test_the_spelling_is_that_of_the_text(number):
    assert as_spelled(float(number), f'{{"a": {number}}}') == str(number)


@pytest.mark.parametrize(
    ("number", "text", "spelling"),
    [
        (5, "f(a=5)", "5"),
        (5, "f(a='five')", None),
        (5, "f5(a=x5, b=5x)", None),
        (-3, "f(a=-3)", "-3"),
        (10**400, "f(a=1)", None),
        (1, "9" * 5_000, None),
    ],
)
def test_finds_numbers_only(number, text, spelling):
    assert as_spelled(number, text) == spelling


def test_says_which_spellings_there_are():
    with pytest.raises(Unclear, match=r"1\.1, 1\.10"):
        as_spelled(1.1, "[1.1, 1.10]")
