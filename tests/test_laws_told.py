"""What a law refuses is told in words: to the model, to a person, and in the trail."""

from __future__ import annotations

import json
from typing import Any, ClassVar, NamedTuple

import pytest

from selfcorrect import Change, Changed, Safety, StrategyMap, ToolSpec, repair_call
from selfcorrect.kernel.verdicts import LAWS
from selfcorrect.mapping.rules import ErrorRule
from selfcorrect.model import ABSENT
from selfcorrect.repairs.fix_json import FixJson
from selfcorrect.testing import VirtualTime, play

made: list[tuple[str, int]] = []


def pay(to: str, amount: int, note: str = "") -> str:
    """Pay somebody."""
    made.append((to, amount))
    return "paid"


class Told(NamedTuple):
    """A call, what somebody would make of it, and what a law says of that."""

    law: int
    call: dict[str, Any]
    changes: tuple[tuple[str, Any, Any], ...]
    words: str


def call(args: Any, name: str = "pay") -> dict[str, Any]:
    return {"name": name, "args": args}


TEXT = '{"to": "ann", "amount": 5} but only if bob agrees'
ROWS = [
    Told(
        0,
        call({"to": "ann", "amount": "5"}),
        (("/args/to", "ann", "bob"), ("/args/amount", "5", 5)),
        "`to` fits as it was written",
    ),
    Told(
        1,
        call({"to": "ann", "amount": "5"}),
        (("/args/amount", "5", 6),),
        "`amount` would run with another value than was written",
    ),
    Told(
        2,
        call({"to": "ann", "amount": 5, "refund": True}),
        (("/args/refund", True, ABSENT),),
        "`refund` says something that `pay` has no place for",
    ),
    Told(
        3,
        call({"amount": 5}),
        (("/args/to", ABSENT, "bob"),),
        "nobody wrote a value for `to`",
    ),
    Told(
        4,
        call(TEXT),
        (("/raw", TEXT, ABSENT), ("/args", {}, {"to": "ann", "amount": 5})),
        'the text says more than the call: "but only if bob agrees"',
    ),
    Told(
        5,
        call({"to": "ann", "amount": 5}, "!pay"),
        (("/name", "!pay", "pay"),),
        "`!pay` does not name the tool `pay`",
    ),
]
EACH = pytest.mark.parametrize("row", ROWS, ids=[f"law {row.law}" for row in ROWS])


def proposing(row: Told) -> StrategyMap:
    """A map with one strategy, which claims the best of what it proposes and answers for none."""

    class Propose:
        vouches: ClassVar[bool] = False

        def __call__(self, *_: Any) -> Changed:
            return Changed(*(Change(*each, Safety.EXACT, "as meant") for each in row.changes))

    rule = ErrorRule(id="own", match=".*", repair=["propose", "ask-human"])
    return StrategyMap(rules=[rule], extends=[], use={"propose": Propose})


@EACH
def test_model_person_and_trail_read_which_law_and_what(row):
    made.clear()
    tool = ToolSpec.from_function(pay, effect="mutating")
    out = play([tool], {"call": row.call}, strategies=proposing(row), time=VirtualTime())
    failure = out["failure"]
    assert made == []
    assert row.words in failure["for_model"]
    assert row.words in failure["question"]["question"]
    assert any(row.words in each["why"] for each in failure["question"]["refused"])
    assert any(row.words in line for line in failure["advice"])
    tried = [item for event in out["trail"] for item in event.get("tried", ())]
    (told,) = [item for item in tried if item["outcome"] == "refused"]
    assert row.words in told["reason"]
    assert told["law"] == LAWS[row.law]


@EACH
def test_a_call_that_is_mended_without_a_run_tells_it_too(row):
    tool = ToolSpec.from_function(pay, effect="mutating")
    mended = repair_call(row.call, [tool], strategies=proposing(row))
    assert mended.outcome != "repaired"
    assert not mended.ready
    assert row.words in mended.calls[0].for_model


def test_what_the_policy_refuses_is_told_as_the_policy_s():
    row = Told(3, call({"amount": 5}), (("/args/to", ABSENT, "bob"),), "")

    def guess(*_: Any) -> Changed:
        return Changed(Change("/args/to", ABSENT, "bob", Safety.MODEL, "as meant"))

    rule = ErrorRule(id="own", match=".*", repair=["guess", "ask-human"])
    own = StrategyMap(rules=[rule], extends=[], use={"guess": guess}, policy={"allow": ["exact"]})
    tool = ToolSpec.from_function(pay, effect="mutating")
    out = play([tool], {"call": row.call}, strategies=own, time=VirtualTime())
    (refused,) = out["failure"]["question"]["refused"]
    assert refused["why"] == "no model may decide here"
    assert "An automatic correction" not in out["failure"]["for_model"]


@pytest.mark.parametrize(
    ("claim", "allow", "words"),
    [
        (Safety.LOSSY, ["exact"], "the meaning would change, and the policy lets no such change"),
        (Safety.INFERRED, ["exact"], "the value would be inferred, and the policy lets no such"),
        (Safety.LOSSY, ["exact", "lossy"], "the meaning would change, which is allowed on tools"),
    ],
)
def test_no_refusal_is_told_by_the_name_of_a_class(claim, allow, words):
    def guess(*_: Any) -> Changed:
        return Changed(Change("/args/to", ABSENT, "bob", claim, "as meant"))

    rule = ErrorRule(id="own", match=".*", repair=["guess", "ask-human"])
    own = StrategyMap(rules=[rule], extends=[], use={"guess": guess}, policy={"allow": allow})
    tool = ToolSpec.from_function(pay, effect="mutating")
    out = play([tool], {"call": call({"amount": 5})}, strategies=own, time=VirtualTime())
    (refused,) = out["failure"]["question"]["refused"]
    assert refused["why"].startswith(words)
    assert f"class {claim}" not in json.dumps(out["failure"])


def test_several_calls_of_a_text_are_refused_in_the_words_of_the_law():
    """Each is judged for itself; one that may not be read so refuses all of them."""

    class Careless(FixJson):
        vouches: ClassVar[bool] = False

        def each(self, raw: str, context: Any) -> tuple[Changed, ...]:
            return tuple(Changed(one.changes) for one in super().each(raw, context))

    text = 'pay(to="ann", amount=5)\npay(to="bob", amount=5)'
    rule = ErrorRule(id="own", error="MalformedCall", repair=["careless"])
    own = StrategyMap(rules=[rule], extends=["default"], use={"careless": Careless})
    mended = repair_call(text, [ToolSpec.from_function(pay, effect="mutating")], strategies=own)
    assert not mended.ready
    assert "the text says more than the call" in str(mended.detail)


def test_a_sensitive_value_is_not_told():
    def login(user: str, pin: str) -> str:
        """Log in."""
        return "in"

    text = '{"user": "ann", "pin": "8812-4417"} and pin = 8812-4417'
    tool = ToolSpec.from_function(login, effect="mutating")
    own = StrategyMap(extends=["default"], policy={"sensitive": ["pin"]})
    given = {"call": {"name": "login", "args": text}}
    out = play([tool], given, strategies=own, time=VirtualTime())
    assert "8812-4417" not in out["failure"]["for_model"]
    assert "says more than the call" in out["failure"]["for_model"]
