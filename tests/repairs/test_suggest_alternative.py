"""suggest-alternative: exactly one proposal, and a likeness where nobody vouches for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from selfcorrect.model import Change, Changed, Finding, GiveUp, Result, Safety
from selfcorrect.repairs.suggest_alternative import SuggestAlternative
from selfcorrect.testing.conformance import try_rename, try_strategy

SCHEMA = {"properties": {"city": {"type": "string"}, "code": {"type": "string", "maxLength": 3}}}


def tried(value, *suggestions, hook=None, key="city"):
    told = Finding("no such thing", paths=(f"/args/{key}",), suggestions=suggestions)
    return try_strategy(SuggestAlternative(hook=hook), SCHEMA, {key: value}, told)


@pytest.mark.parametrize(
    ("value", "suggestion", "safety"),
    [
        ("berlin", "Berlin", "exact"),
        ("Berln", "Berlin", "lossy"),
        ("York New", "New York", "lossy"),
    ],
)
def test_one_suggestion_that_resembles(value, suggestion, safety):
    (change,) = tried(value, suggestion).changes
    assert (change.before, change.after, change.safety.value) == (value, suggestion, safety)


@pytest.mark.parametrize(
    ("value", "suggestions"),
    [
        ("Berlin", ()),
        ("berlin", ("Berlin", "Bern")),
        ("Berlin", ("Hamburg",)),
        ("Iran", ("Iraq",)),
        ("berlin", (5,)),
        ("berlin", ({"name": "Berlin"},)),
        (5, ("5",)),
    ],
)
def test_refuses(value, suggestions):
    assert isinstance(tried(value, *suggestions), GiveUp)


def test_the_schema_has_the_last_word():
    assert isinstance(tried("abcd", "ABCD", key="code"), GiveUp)


def test_a_hook_vouches_for_its_value():
    assert tried("Paris", hook=lambda *_: ["LYS"]).changes[0].safety is Safety.LOSSY
    assert tried("paris", hook=lambda *_: "Paris").changes[0].safety is Safety.LOSSY
    assert isinstance(tried("Paris", hook=lambda *_: ["CDG", "ORY"]), GiveUp)
    assert isinstance(tried("Paris", hook=lambda *_: []), GiveUp)
    assert isinstance(tried("Paris", hook=lambda *_: None), GiveUp)


def test_a_hook_may_answer_with_a_repair():
    other = Change("/name", "tool", "other_tool", Safety.INFERRED, "a sibling")
    lossy = replace(other, safety=Safety.LOSSY)
    assert tried("Paris", hook=lambda *_: other) == Changed(lossy)
    assert tried("Paris", hook=lambda *_: [other]) == Changed(lossy)
    assert tried("Paris", hook=lambda *_: Result(1)) == Result(1)


def test_an_async_hook():
    async def hook(call, diagnosis, context):
        return call.args["city"].upper()

    assert tried("Paris", hook=hook).changes[0].after == "PARIS"


def test_a_suggested_tool_has_to_be_on_offer():
    class Told(SuggestAlternative):
        def __call__(self, call, diagnosis, context):
            (finding,) = diagnosis.findings
            told = Finding(finding.text, paths=finding.paths, suggestions=("get_weather",))
            return super().__call__(call, type(diagnosis)((told,)), context)

    assert isinstance(try_rename(Told(), "get_wether", ["get_weather"]), Changed)
    assert isinstance(try_rename(Told(), "get_wether", ["get_forecast"]), GiveUp)
    assert isinstance(try_rename(Told(), "delete_all", ["get_weather"]), GiveUp)
