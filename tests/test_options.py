"""One set of options, whatever is built of them."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import pytest

from selfcorrect import SelfCorrection, build_graph, repair_call
from selfcorrect.errors import GraphSetupError
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.loop.options import OptionKeywords, Options
from selfcorrect.testing import play

OURS = {"is_dry", "time", "memory"}
"""What no caller chooses but a test, and a drop-in for all its loops."""


def look(place: str) -> str:
    """Look at a place."""
    return place


def test_there_is_one_list_of_options():
    names = {each.name for each in fields(Options)}
    assert set(OptionKeywords.__annotations__) == names - OURS
    keywords = {
        name: each
        for name, each in inspect.signature(build_graph).parameters.items()
        if each.kind is each.KEYWORD_ONLY
    }
    assert set(keywords) - {"checkpointer"} == names - OURS
    for each in fields(Options):
        if each.name not in OURS:
            assert keywords[each.name].default == each.default
            assert keywords[each.name].annotation.replace("CorrectionState", "Any") == each.type


@pytest.mark.parametrize(
    "build",
    [
        SelfCorrection,
        lambda **more: SelfCorrectingToolNode([look], **more),
        lambda **more: repair_call({"name": "look", "args": {}}, [look], **more),
        lambda **more: play([look], {"call": {"name": "look", "args": {}}}, **more),
    ],
)
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"stratgies": "strict"}, "no option 'stratgies'; did you mean 'strategies'"),
        ({"limits": {"attemps": 3}}, "limits are unusable: there is no 'attemps'; did you mean"),
        ({"limits": {"executions": 3}}, "no 'executions'; there are attempts, rounds, "),
        ({"limits": {"attempts": 0}}, "attempts: Input should be greater than 0, not 0$"),
        ({"nodes": {"planner": 3}}, "planner must be callable"),
        ({"on_model_error": 3}, "on_model_error must be callable"),
    ],
)
def test_whatever_is_built_of_them_refuses_the_same(build: Any, wrong: Any, words: str):
    with pytest.raises(GraphSetupError, match=words):
        build(**wrong)


@pytest.mark.parametrize("name", ["ask_person", "read_text"])
def test_a_word_is_no_switch(name: str):
    with pytest.raises(GraphSetupError, match=f"SelfCorrection: {name} is True or False, not 'no'"):
        SelfCorrection(**{name: "no"})
    if name == "ask_person":
        with pytest.raises(GraphSetupError, match="SelfCorrectingToolNode: ask_person is True or"):
            SelfCorrectingToolNode([look], ask_person="no")  # type: ignore[arg-type]
