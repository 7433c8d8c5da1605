"""What a worker in another process needs goes there: tools, maps, policies."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
from langchain_core.tools import tool as langchain_tool
from pydantic import BaseModel

from selfcorrect import ErrorRule, Limits, Result, StrategyMap, ToolErrorPolicy, ToolSpec
from selfcorrect.mapping.files import map_names
from selfcorrect.model import Finding

ROOT = Path(__file__).parents[1]
SCHEMA = {
    "name": "order",
    "description": "Order something.",
    "parameters": {"type": "object", "properties": {"count": {"type": "integer"}}},
}


class Guest(BaseModel):
    name: str


def order(guest: Guest, count: int = 1, size: Literal["s", "l"] = "s") -> str:
    """Order something.

    Args:
        guest: Who.
    """
    return f"{count} {size} for {guest.name}"


def count_only(count: int, idempotency_key: str = "") -> str:
    """Count."""
    return f"{count} {bool(idempotency_key)}"


async def later(count: int) -> int:
    """Count later."""
    return count


def happened(args, key):
    return Result(args)


@langchain_tool
def look(query: str) -> str:
    """Look something up."""
    return f"found {query}"


def anew(value):
    return pickle.loads(pickle.dumps(value))


TOOLS = {
    "a function": (ToolSpec.from_function(order, effect="mutating"), {"guest": {"name": "Ann"}}),
    "with a key": (
        ToolSpec.from_function(count_only, effect="mutating", verify=happened, atomic=True),
        {"count": 1},
    ),
    "another name": (ToolSpec.from_function(order, name="buy"), {"guest": {"name": "Ann"}}),
    "a schema": (ToolSpec.from_schema(SCHEMA, call=count_only, timeout=3), {"count": 2}),
    "a schema with a key": (
        ToolSpec.from_schema(SCHEMA, call=count_only, key_argument="idempotency_key"),
        {"count": 2},
    ),
    "changed": (
        ToolSpec.from_schema(SCHEMA, call=count_only).has_effect("idempotent"),
        {"count": 4},
    ),
    "hiding its key": (
        ToolSpec.from_schema(
            {
                "name": "count",
                "parameters": {
                    "type": "object",
                    "properties": {"count": {"type": "integer"}, "idempotency_key": {}},
                    "required": ["count", "idempotency_key"],
                },
            },
            call=count_only,
        ).hiding_key(),
        {"count": 1},
    ),
}


@pytest.mark.parametrize(("tool", "args"), TOOLS.values(), ids=TOOLS)
def test_a_tool_is_the_same_after_its_way(tool, args):
    found = anew(anew(tool))
    assert found is not tool
    for name in ("name", "description", "schema", "effect", "declared", "timeout", "takes_key"):
        assert getattr(found, name) == getattr(tool, name), name
    assert (found.verify, found.atomic, found.home) == (tool.verify, tool.atomic, tool.home)
    bad = {**args, "count": "many", "other": 1}
    assert found.violations(args) == tool.violations(args)
    assert found.violations(bad) == tool.violations(bad) != ()
    if not tool.violations(args):
        assert found.run(args) == tool.run(args)


def test_a_langchain_tool_goes_as_far_as_langchain_lets_it():
    """Its decorator makes a class that nobody can import: such a tool is made in the worker."""
    with pytest.raises((pickle.PicklingError, AttributeError), match="look"):
        pickle.dumps(ToolSpec.from_langchain(look))


def test_an_async_tool_is_async_after_its_way():
    assert anew(ToolSpec.from_function(later)).is_async


def test_a_tool_that_was_given_another_function_says_so():
    from dataclasses import replace

    tool = replace(ToolSpec.from_function(order), _run=lambda args, _: "other")
    with pytest.raises(pickle.PicklingError, match="make it in the worker instead"):
        pickle.dumps(tool)


@pytest.mark.parametrize("name", map_names())
def test_a_map_by_name_is_the_same_after_its_way(name):
    strategies = StrategyMap.load(name)
    found = anew(strategies)
    assert [rule.id for rule in found.rules] == [rule.id for rule in strategies.rules]
    assert found.policy == strategies.policy
    assert found.limits == strategies.limits
    for text in ("429 Too Many Requests", "'5' is not of type 'integer'", "no such column: x"):
        assert found.decide(Finding(text)) == strategies.decide(Finding(text))


def shout(call, diagnosis, context):
    """A strategy of one's own."""
    return Result(call.name.upper())


def test_a_map_made_in_python_is_the_same_after_its_way():
    strategies = StrategyMap(
        [ErrorRule(id="a", match="(?i)busy", kind="transient", repair=["wait", shout])],
        extends="default",
        effects={"get_*": "read_only", "pay": {"effect": "mutating", "atomic": True}},
        limits={"attempts": 2},
        policy={"allow": ["exact"]},
        results={"x": {"where": {"/ok": [False]}}},
    )
    found = anew(strategies)
    assert found.decide(Finding("busy")).ladder == ("wait", "shout")
    assert found.strategy("own/a", "shout") is shout
    assert (found.effect_of("get_x"), found.is_atomic("pay")) == ("read_only", True)
    assert found.limits == {"attempts": 2}
    assert found.results_of("x") == strategies.results_of("x")
    assert len(found.rules) == len(strategies.rules)


def test_a_map_of_a_file_goes_where_the_file_is_not(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'format = 1\nextends = ["default"]\n[[rule]]\nid = "a"\nmatch = "out of tea"\n'
        'kind = "conflict"\nrepair = ["give-up"]\n'
    )
    packed = pickle.dumps(StrategyMap.load(path))
    path.unlink()
    assert pickle.loads(packed).decide(Finding("out of tea")).rule == "mine/a"


def test_what_cannot_be_imported_elsewhere_is_named():
    own = StrategyMap([ErrorRule(id="a", match="x", repair=[lambda c, d, x: None])])
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(own)


def test_limits_and_policies_are_the_same_after_their_way():
    for value in (Limits(attempts=2, per_kind={"auth": 0}), ToolErrorPolicy.operator_safe()):
        assert anew(value) == value


def test_another_process_makes_the_same_of_it(tmp_path):
    """A fresh interpreter, which imports this file by its name."""
    packed = {name: pickle.dumps(tool) for name, (tool, _) in TOOLS.items()}
    (tmp_path / "tools").write_bytes(pickle.dumps(packed))
    code = (
        "import json, pickle, sys\n"
        "packed = pickle.load(open(sys.argv[1], 'rb'))\n"
        "print(json.dumps({n: pickle.loads(each).schema for n, each in packed.items()}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "tools"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {name: tool.schema for name, (tool, _) in TOOLS.items()}
