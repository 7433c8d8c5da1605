"""`check_strategy` finds each broken promise, and lets an honest strategy pass."""

from __future__ import annotations

import itertools

import pytest

from selfcorrect.model import ABSENT, Change, Changed, GiveUp, Safety, Wait
from selfcorrect.pointer import look
from selfcorrect.testing import check_strategy
from selfcorrect.testing.conformance import Case, try_strategy

SCHEMA = {"properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}}


def case():
    return Case(SCHEMA, {"x": "5", "y": 1})


def at_x(call, after, path="/args/x", before=..., safety=Safety.EXACT, reason="why"):
    before = look(call, path) if before is ... else before
    return Changed(Change(path, before, after, safety, reason))


def only_for_five(answer):
    """A strategy that gives up but for the one call above."""

    def strategy(call, diagnosis, context):
        mine = call.args.get("x") == "5" and call.args.get("y") == 1
        return answer(call) if mine else GiveUp("not mine")

    return strategy


def test_an_honest_strategy():
    strategy = only_for_five(lambda call: at_x(call, 5))
    check_strategy(strategy, [case()])

    async def later(call, diagnosis, context):
        return strategy(call, diagnosis, context)

    check_strategy(later, [case()])
    check_strategy(lambda *_: Wait(1.0), [case()])


counter = itertools.count()


def in_place(call):
    call.args["y"] = next(counter)
    return GiveUp("changed it anyway")


def boom(call):
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("answer", "promise"),
    [
        (lambda call: None, "is no Repair"),
        (lambda call: "5", "is no Repair"),
        (boom, "it raised ZeroDivisionError"),
        (in_place, "it changed the call in place"),
        (lambda call: GiveUp(str(next(counter))), "differently the second time"),
        (lambda call: Changed(), "with no changes"),
        (lambda call: at_x(call, {1, 2}), "not plain JSON"),
        (lambda call: at_x(call, float("nan")), "not plain JSON"),
        (lambda call: at_x(call, 5, before="6"), "does not say what was at /args/x"),
        (lambda call: at_x(call, 5, before=ABSENT), "does not say what was at /args/x"),
        (lambda call: at_x(call, 5, path="/args/z/0"), "a place that cannot exist"),
        (lambda call: at_x(call, 5, path="/nowhere", before=ABSENT), "a place that cannot exist"),
        (lambda call: at_x(call, 5, reason=""), "has no reason"),
    ],
)
def test_broken_promises(answer, promise):
    with pytest.raises(AssertionError, match=promise):
        check_strategy(only_for_five(answer), [case()])


def test_a_class_that_was_not_declared():
    class Sly:
        name, safety, needs = "sly", (Safety.EXACT,), "nothing"

        def __call__(self, call, diagnosis, context):
            return only_for_five(lambda c: at_x(c, 5, safety=Safety.LOSSY))(
                call, diagnosis, context
            )

    with pytest.raises(AssertionError, match="did not declare"):
        check_strategy(Sly(), [case()])


@pytest.mark.parametrize(
    ("name", "safety", "needs"),
    [("Sly", (), "nothing"), ("sly", ["exact"], "nothing"), ("sly", (), "money"), (5, (), "model")],
)
def test_attributes(name, safety, needs):
    strategy = type("S", (), {"__call__": lambda *_: GiveUp("no")})()
    strategy.name, strategy.safety, strategy.needs = name, safety, needs
    with pytest.raises(AssertionError, match="its "):
        check_strategy(strategy)


def test_a_valid_call_is_left_alone():
    valid = Case(SCHEMA, {"x": 5})
    with pytest.raises(AssertionError, match="changed a valid call"):
        check_strategy(lambda call, *_: at_x(call, 6), [valid])


def test_trying_a_valid_call_needs_a_finding():
    with pytest.raises(ValueError, match="finding="):
        try_strategy(lambda *_: GiveUp("no"), SCHEMA, {"x": 5})
