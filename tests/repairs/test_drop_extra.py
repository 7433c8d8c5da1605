"""drop-extra: only what resembles nothing, and lossy where the tool acts."""

from __future__ import annotations

import pytest

from selfcorrect.model import ABSENT, Changed, Finding
from selfcorrect.repairs.drop_extra import DropExtra
from selfcorrect.testing.conformance import try_strategy

SCHEMA = {"properties": {"city": {"type": "string"}, "return_date": {}, "max_results": {}}}


def dropped(args, effect, strategy=None, finding=None):
    answer = try_strategy(strategy or DropExtra(), SCHEMA, args, finding, effect=effect)
    if not isinstance(answer, Changed):
        return None
    (change,) = answer.changes
    assert change.after is ABSENT
    return change.safety.value


@pytest.mark.parametrize(
    ("args", "reading", "acting"),
    [
        ({"verbose": True}, "inferred", "lossy"),
        ({"wave_file": "a.wav"}, "inferred", "lossy"),
        ({"city": "Oslo", "city_code": 5}, "lossy", "lossy"),
        ({"city": "Oslo", "City": "Oslo"}, "exact", "exact"),
        ({"verbose": None}, "exact", "exact"),
        ({"": ""}, "exact", "exact"),
        ({"": {}}, "exact", "exact"),
        ({"": "x"}, "inferred", "lossy"),
    ],
)
def test_drops(args, reading, acting):
    assert dropped(args, "read_only") == reading
    assert [dropped(args, e) for e in ("idempotent", "mutating", "destructive")] == [acting] * 3


@pytest.mark.parametrize(
    "args",
    [
        {"retrun_date": "x"},
        {"date": "x"},
        {"returnDate": "x"},
        {"return": "x"},
        {"return_date_": None},
        {"results": 5},
        {"max": 5},
        {"ctiy": "x"},
        {"cty": "x"},
        {"city": "Oslo", "City": "Bergen"},
    ],
)
def test_what_may_be_a_misspelt_argument_stays(args):
    assert dropped(args, "read_only") is None


def test_keep():
    assert dropped({"verbose": True}, "read_only", DropExtra(keep=("verbose",))) is None


def test_a_declared_argument_is_never_dropped():
    stale = Finding("?", ("InvalidArgs",), code="additionalProperties", paths=("/args/city",))
    assert dropped({"city": "Oslo"}, "read_only", finding=stale) is None
    assert dropped({}, "read_only", finding=stale) is None


@pytest.mark.parametrize("effect", ["read_only", "mutating"])
def test_what_stands_in_an_object_may_be_sent_on_as_it_is(effect):
    params = {"type": "object", "properties": {"lat": {"type": "number"}}}
    schema = {"properties": {"url": {"type": "string"}, "params": params}}
    args = {"url": "http://x", "params": {"lat": 1.5, "daily": "rain", "until": "2026-11-21"}}
    answer = try_strategy(DropExtra(), schema, args, effect=effect)
    assert isinstance(answer, Changed)
    assert {change.safety.value for change in answer.changes} == {"lossy"}
