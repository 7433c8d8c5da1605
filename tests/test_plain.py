"""Plain JSON: refused on the way in, made on the way out."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from typing import Any

import pytest

from selfcorrect.plain import DEPTH, canonical, digest, plain, problem


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value", [None, True, 1, 10**400, 1.5, "é🛫", [], {}, {"a": [{"b": None}]}, nested(DEPTH)]
)
def test_json_passes(value: object) -> None:
    assert problem(value) is None
    assert plain(value) is value


@pytest.mark.parametrize(
    ("value", "where", "what"),
    [
        ({"a": [float("nan")]}, "/a/0", "not a JSON number"),
        (float("-inf"), "", "not a JSON number"),
        ({"a": 10**5000}, "/a", "too long"),
        ({"a": "\ud800"}, "/a", "surrogate"),
        ({"\ud800": 1}, "", "surrogate"),
        ({1: 2}, "", "key of type int"),
        ({"a": (1,)}, "/a", "type tuple"),
        ({"a": {1, 2}}, "/a", "type set"),
        (nested(1000), "/0/0/0/0", "nested deeper"),
    ],
)
def test_what_is_not_json_is_named_with_its_place(value: object, where: str, what: str) -> None:
    found = problem(value)
    assert found is not None
    assert found[0] == where
    assert what in found[1]


@dataclasses.dataclass
class Booking:
    id: int
    day: dt.date


class Hostile:
    def __str__(self) -> str:
        raise RuntimeError("no")


def cycle() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (Booking(1, dt.date(2026, 10, 26)), {"id": 1, "day": "2026-10-26"}),
        ((1, 2), [1, 2]),
        ({1: "a"}, {"1": "a"}),
        (float("nan"), "NaN"),
        ("a\ud800b", "a\\ud800b"),
        (Hostile(), "<Hostile>"),
    ],
)
def test_the_nearest_plain_form(value: object, form: object) -> None:
    assert plain(value) == form


@pytest.mark.parametrize("value", [cycle(), nested(1000), b"\xff\xfe", Hostile, object()])
def test_every_result_has_a_plain_form(value: object) -> None:
    form = plain(value)
    assert problem(form) is None
    json.dumps(form)


def test_equal_values_have_one_canonical_text() -> None:
    assert canonical({"b": 1, "a": "é"}) == canonical({"a": "é", "b": 1})
    assert digest({"a": 1}) != digest({"a": "1"})
