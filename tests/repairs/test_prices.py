"""The price of each edit, over all strategies that search together."""

from __future__ import annotations

import pytest

from selfcorrect.mending.cost import COSTS, OFF
from selfcorrect.model import Changed
from selfcorrect.repairs.convert_type import ConvertType
from selfcorrect.repairs.correct_enum import CorrectEnum
from selfcorrect.repairs.correct_format import CorrectFormat
from selfcorrect.repairs.drop_extra import DropExtra
from selfcorrect.repairs.format_date import FormatDate
from selfcorrect.repairs.format_time import FormatTime
from selfcorrect.repairs.parse_nested import ParseNested
from selfcorrect.repairs.rename_argument import RenameArgument
from selfcorrect.repairs.split_list import SplitList
from selfcorrect.repairs.unwrap_arguments import UnwrapArguments
from selfcorrect.testing.conformance import try_strategy

TEXT, INT = {"type": "string"}, {"type": "integer"}
SETS = (ConvertType, CorrectEnum, CorrectFormat, DropExtra, FormatDate, FormatTime, ParseNested)
SETS += (RenameArgument, SplitList, UnwrapArguments)


def changed(args, schema, costs):
    """Whether any of them mends the call at these prices."""
    known = {"properties": {"x": schema}}
    found = [try_strategy(one(costs=costs), known, args) for one in SETS]
    return any(isinstance(one, Changed) for one in found)


@pytest.mark.parametrize(
    ("args", "schema", "price"),
    [
        ({"x": "5"}, INT, "number-text"),
        ({"x": "five"}, INT, "number-words"),
        ({"x": "yes"}, {"type": "boolean"}, "boolean-word"),
        ({"x": 5}, TEXT, "text"),
        ({"x": [5]}, INT, "only-item"),
        ({"x": "a"}, {"type": "array", "items": TEXT}, "one-item"),
        ({"x": "a; b"}, {"type": "array", "items": TEXT}, "split"),
        ({"x": '{"a": 1}'}, {"type": "object"}, "encoded"),
        ({"x": "true"}, {"type": "boolean"}, "boolean-text"),
        ({"x": "Red"}, {"anyOf": [{"enum": ["red"]}, INT]}, "same-text"),
        ({"x": "RED"}, {"enum": ["red"]}, "spelling"),
        ({"x": "red colour type"}, {"enum": ["red colour"]}, "same-words"),
        ({"x": "buisness"}, {"enum": ["business"]}, "slip"),
        ({"x": None}, INT, "nothing"),
        ({"x": ""}, INT, "empty"),
        ({"x": "2026/10/26"}, {"type": "string", "format": "date"}, "iso-date"),
        ({"x": "26 October 2026"}, {"type": "string", "format": "date"}, "spoken-date"),
        ({"x": "<a@b.org>"}, {"type": "string", "format": "email"}, "normal-form"),
        ({"x": {"value": "a"}}, TEXT, "value-wrapper"),
        ({"X": 5}, INT, "key-spelling"),
        ({"arguments": {"x": 5}}, INT, "wrapper"),
        ({"x": 5, "y": None}, INT, "says-nothing"),
        ({"x": 5, "X": 5}, INT, "twice"),
    ],
)
def test_a_price_of_ten_switches_an_edit_off(args, schema, price):
    assert price in COSTS
    assert changed(args, schema, {"extra": OFF})
    assert not changed(args, schema, {"extra": OFF, price: OFF})
