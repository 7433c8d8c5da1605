"""An edge of one's own: ten lines, named in a map, in one search with the others."""

from __future__ import annotations

import pytest

from selfcorrect import Fit, GraphSetupError, Safety, StrategyMap, edge, repair_call
from selfcorrect.model import Changed, GiveUp
from selfcorrect.testing.conformance import check_strategy, try_strategy

CODE = """
from selfcorrect import Fit, Safety, edge

@edge("cost-centre", safety=["exact"])
def cost_centre(value, want):
    if want.name == "cost_centre" and isinstance(value, int):
        yield Fit(f"CC-{value:04}", 1, Safety.EXACT, "a cost centre without its letters")
"""
MAP = """
format = 1
extends = ["default"]
[use]
cost-centre = "./own.py:cost_centre"
[[rule]]
id = "cost-centre"
error = "InvalidArgs"
code = ["type", "pattern"]
kind = "validation"
category = "wrong_type"
repair = ["convert-type", "cost-centre"]
example = "argument 'x': expected string, got integer"
"""
CENTRE = {"type": "string", "pattern": "^CC-[0-9]{4}$"}


def tool(schema, name="cost_centre"):
    return {"name": "book", "parameters": {"type": "object", "properties": {name: schema}}}


@pytest.fixture
def own(tmp_path):
    (tmp_path / "own.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "map.toml").write_text(MAP, encoding="utf-8")
    return StrategyMap.load(tmp_path / "map.toml")


def mended(strategies, schema, value, name="cost_centre"):
    call = {"name": "book", "arguments": {name: value}}
    return repair_call(call, [tool(schema, name)], strategies=strategies)


def test_a_map_brings_it_along(own):
    out = mended(own, CENTRE, 42)
    assert out.ready[0].args == {"cost_centre": "CC-0042"}
    (change,) = out.changes
    assert (change.strategy, change.rule) == ("cost-centre", "map/cost-centre")
    assert change.safety is Safety.EXACT


def test_it_is_asked_together_with_the_others(own):
    """Two edges that make different values of one at the same price are a tie."""
    assert not mended(own, {"type": "string"}, 42).ready
    assert mended(own, {"type": "string"}, 42, "room").ready[0].args == {"room": "42"}


@edge("half", safety=["inferred"])
def half(value, _):
    if isinstance(value, str):
        value_ = float(value)
        yield Fit(value_ / 2, 3, Safety.INFERRED, "half of it")


def test_what_it_raises_is_a_refusal():
    schema = {"properties": {"x": {"type": "number"}}}
    assert try_strategy(half, schema, {"x": "5"}).changes[0].after == 2.5
    answer = try_strategy(half, schema, {"x": "five"})
    assert isinstance(answer, GiveUp)
    assert answer.reason.startswith("raised ValueError")
    check_strategy(half)


def test_it_sees_copies():
    @edge("greedy")
    def greedy(value, want):
        value["a"] = want.call.args["x"]["b"] = 7
        yield Fit(1, 1, Safety.EXACT, "one")

    args = {"x": {"a": 1}}
    answer = try_strategy(greedy, {"properties": {"x": {"type": "integer"}}}, args)
    assert isinstance(answer, Changed)
    assert args == {"x": {"a": 1}}


@pytest.mark.parametrize("found", [5, Fit(1, 1, Safety.LOSSY, "less"), None])
def test_only_what_it_declares_counts(found):
    @edge("odd")
    def odd(_value, _want):
        yield found

    answer = try_strategy(odd, {"properties": {"x": {"type": "integer"}}}, {"x": "y"})
    assert answer == GiveUp("it is no Fit of a class that the edge declares")


def test_ten_is_off():
    @edge("dear")
    def dear(_value, _want):
        yield Fit(1, 10, Safety.EXACT, "one")

    schema = {"properties": {"x": {"type": "integer"}}}
    assert isinstance(try_strategy(dear, schema, {"x": "y"}), GiveUp)


@pytest.mark.parametrize("name", ["Cost", "", "a_b", "-a", "a--b"])
def test_a_name_in_kebab_case(name):
    with pytest.raises(GraphSetupError, match="kebab-case"):
        edge(name)


def test_a_class_that_there_is():
    with pytest.raises(GraphSetupError, match="sure"):
        edge("a", safety=["sure"])


def test_prices_are_options_of_the_names_that_maps_use():
    rule = {"id": "own-type", "error": "InvalidArgs", "code": "type", "kind": "validation"}
    rule |= {"category": "wrong_type", "repair": ["convert-type"]}
    rule |= {"example": "argument 'x': expected integer, got string"}
    off = {"convert-type": {"costs": {"number-words": 10}}}
    number = {"type": "integer"}
    strategies = StrategyMap([{**rule, "options": off}], extends="default")
    assert not mended(strategies, number, "five", "x").ready
    assert mended(strategies, number, "5", "x").ready[0].args == {"x": 5}
    assert mended(None, number, "five", "x").ready[0].args == {"x": 5}


def test_a_price_of_nothing_is_refused_at_load():
    from selfcorrect.errors import MapError
    from selfcorrect.mapping.registry import bind, resolve

    with pytest.raises(MapError, match="number-words"):
        bind(resolve("convert-type"), {"costs": {"number-word": 10}})
