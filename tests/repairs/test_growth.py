"""Time grows with the size of the call and of the schema, not with its square."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from selfcorrect.batch.checking import repair_loop
from selfcorrect.batch.mending import mend
from selfcorrect.tools import ToolSpec

TEXT, INT = {"type": "string"}, {"type": "integer"}
Case = tuple[list[ToolSpec], dict[str, Any]]


def one(properties: dict[str, Any], args: dict[str, Any], *required: str) -> Case:
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return [ToolSpec.from_schema({"name": "t", "parameters": parameters})], {"args": args}


def wrong_types(n: int) -> Case:
    return one({f"p{i}": INT for i in range(n)}, {f"p{i}": str(i) for i in range(n)})


def renamed_keys(n: int) -> Case:
    names = [f"first_part{i}" for i in range(n)]
    return one(dict.fromkeys(names, INT), {f"firstPart{i}": i for i in range(n)}, *names)


def misspelt_keys(n: int) -> Case:
    return one({f"first_part{i}": INT for i in range(n)}, {f"frist_part{i}": i for i in range(n)})


def objects(n: int) -> Case:
    item = {"type": "object", "properties": {"a": INT, "b": TEXT}, "required": ["a"]}
    given = {"rows": [{"a": str(i), "b": "x"} for i in range(n)]}
    return one({"rows": {"type": "array", "items": item}}, given)


def items_of_a_wrong_type(n: int) -> Case:
    return one({"x": {"type": "array", "items": TEXT}}, {"x": [*range(n * 5)]})


def long_text(n: int) -> Case:
    return one({"x": TEXT, "y": INT}, {"x": "a" * n * 5_000, "y": "5"})


def long_list_in_a_text(n: int) -> Case:
    return one({"x": {"type": "array", "items": INT}}, {"x": json.dumps([1] * n * 200)})


def flat_keys(n: int) -> Case:
    inner = {f"part{i}_x": TEXT for i in range(n)}
    whole = {"whole": {"type": "object", "properties": inner}}
    return one(whole, dict.fromkeys(inner, "a"))


def items_of_one_key(n: int) -> Case:
    return one({"labels": {"type": "array", "items": TEXT}}, {"labels": [{"label": "x"}] * n * 5})


def many_tools(n: int) -> Case:
    tools = [
        ToolSpec.from_schema({"name": f"{verb}_thing_{i}", "parameters": {"type": "object"}})
        for i in range(n)
        for verb in ("get", "find", "list")
    ]
    return tools, {"name": "get_thnig_7", "args": {}}


def steps(make: Callable[[int], Case], n: int) -> int:
    """Python functions called to mend a call; the same on a busy machine."""
    tools, call = make(n)
    loop = repair_loop(tools)
    given = {"name": "t", **call}
    mend(loop, given, {})
    counted = 0

    def count(_frame: FrameType, event: str, _arg: Any) -> None:
        nonlocal counted
        counted += event == "call"

    sys.setprofile(count)
    try:
        mend(loop, given, {})
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.parametrize(
    "make",
    [
        *(wrong_types, items_of_a_wrong_type, renamed_keys, misspelt_keys, objects),
        *(long_text, long_list_in_a_text, many_tools),
        *(flat_keys, items_of_one_key),
    ],
)
def test_four_times_as_much_takes_no_sixteen_times_as_long(make):
    assert steps(make, 80) < 9 * steps(make, 20)


def test_eight_levels():
    schema: dict[str, Any] = INT
    value: Any = "5"
    for _ in range(8):
        schema = {"type": "object", "properties": {"a": schema, "b": TEXT}, "required": ["a"]}
        value = {"a": value, "b": "x"}
    tools, call = one({"top": schema}, {"top": value})
    out = mend(repair_loop(tools), {"name": "t", **call}, {})
    inner: Any = out.ready[0].args["top"]
    for _ in range(8):
        inner = inner["a"]
    assert inner == 5
