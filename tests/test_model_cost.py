"""What the README says of the price of a mended call is what the benchmark measures."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest


def load():
    path = Path(__file__).parent / "benchmarks" / "model_cost.py"
    spec = spec_from_file_location("model_cost", path)
    module = module_from_spec(spec)
    sys.modules["model_cost"] = module
    spec.loader.exec_module(module)
    return module


COST = load()
FOR_A_MODEL = {title for title, _ in COST.CALLS[-3:]}


@pytest.mark.parametrize(("title", "call"), COST.CALLS)
def test_one_model_call_where_rules_end_and_none_before(title, call):
    cost = COST.through_selfcorrect(call)
    assert cost.outcome == "mended"
    assert cost.calls == (title in FOR_A_MODEL)


def test_the_loop_of_tool_node_pays_for_each():
    costs = [COST.through_tool_node(call) for _, call in COST.CALLS]
    assert [cost.calls for cost in costs if cost.outcome == "mended"] == [1] * 11
    assert [cost.outcome for cost in costs].count("WRONG VALUE RAN") == 1
