"""A message is masked once, and a finding's kind decided once, however many rooms want to know."""

import itertools
from collections import Counter

import pytest

from selfcorrect.evidence import masking, messages, parts
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.testing import VirtualTime, play

NUMBER = itertools.count(1000)


@pytest.fixture
def calls(monkeypatch):
    """The texts that were masked, and those that a map was asked about."""
    masked, decided = Counter(), Counter()
    work, decide = masking.mask, StrategyMap.decide

    def counted_mask(text, *given):
        masked[text] += 1
        return work(text, *given)

    def counted_decide(self, finding, tool=None):
        decided[finding.text] += 1
        return decide(self, finding, tool)

    for room in (masking, messages, parts):
        monkeypatch.setattr(room, "mask", counted_mask)
    monkeypatch.setattr(StrategyMap, "decide", counted_decide)
    return masked, decided


def run(text: str) -> None:
    def reserve(city: str) -> str:
        """Reserve a room."""
        raise ValueError(text)

    play([reserve], {"call": {"name": "reserve", "args": {"city": "Oslo"}}}, time=VirtualTime())


def test_a_message_is_masked_once_and_decided_once(calls):
    masked, decided = calls
    number = next(NUMBER)
    text = f"no room for {number} in Oslo"
    run(text)
    assert masked == {text: 1}
    assert decided[f"no room for {number} in Xxxx"] == 1


def test_a_message_about_other_arguments_is_masked_anew():
    text = "Oslo or Rome"
    assert masking.mask(text, {"city": "Oslo"}) != masking.mask(text, {"city": "Rome"})
    assert masking.mask("1 of 'true'", [True]) == masking.mask("1 of 'true'", [1])
    assert (
        masking.mask("'1.0' or '1'", ["1"]).echoes != masking.mask("'1.0' or '1'", ["1.0"]).echoes
    )


def test_arguments_that_are_no_json_are_masked_all_the_same():
    found = masking.mask("no city 'Oslo'", {"city": "Oslo", "odd": {1, 2}})
    assert found.masked(found.text) == "no city 'Xxxx'"
