"""`[ladders]`: what is tried for a category or kind; and what a stated constraint says."""

import pytest
from asked import decide, read_error, read_report

from selfcorrect import ErrorRule, StrategyMap
from selfcorrect.errors import MapError
from selfcorrect.model import Call, Category, ErrorKind, Finding

K, C = ErrorKind, Category


def ladder(strategies, finding):
    return strategies.decide(finding).ladder


def test_one_line_swaps_the_repair_of_a_category_in_the_maps_below():
    own = StrategyMap(extends="default", ladders={"missing_param": ["ask-human"]})
    missing = Finding("x", code="MISSING_FIELD")
    assert ladder(StrategyMap.load("default"), missing)[0] == "rename-argument"
    assert ladder(own, missing) == ("ask-human",)
    assert ladder(own, Finding("x", code="ThrottlingException")) == ("wait", "give-up")


def test_a_rule_has_its_own_ladder_or_that_of_its_category_or_kind_in_its_own_map():
    rules = [
        ErrorRule(id="own", match="own", category="enum", repair="give-up"),
        ErrorRule(id="nothing", match="nothing", category="enum", repair=[]),
        ErrorRule(id="category", match="category", category="enum", kind="conflict"),
        ErrorRule(id="kind", match="kind", category="range", kind="conflict"),
    ]
    said = {"enum": ["correct-enum"], "conflict": ["ask-human"]}
    made = StrategyMap(rules, ladders=said)
    assert [made.ladder(f"own/{rule.id}") for rule in rules] == [
        *(("give-up",), (), ("correct-enum",), ("ask-human",)),
    ]
    below = StrategyMap(rules, extends="default")  # whose ladders are for its own rules
    assert [below.ladder(f"own/{rule.id}") for rule in rules] == [("give-up",), (), (), ()]


def test_as_diagnosed_is_what_the_error_turns_out_to_be():
    rule = ErrorRule(id="any", tool="book", repair="as-diagnosed")
    made = StrategyMap([rule], ladders={"enum": ["correct-enum"], "timeout": ["wait"]})
    for finding, tried in (
        (Finding("x", kind=K.TIMEOUT), ("wait",)),
        (Finding("x", kind=K.VALIDATION, category=C.ENUM), ("correct-enum",)),
        (Finding("x", kind=K.AUTH), ()),
    ):
        assert made.decide(finding, "book").ladder == tried


@pytest.mark.parametrize(
    ("ladders", "told"),
    [
        (
            {"enum": ["ask-humn"]},
            "'ladders.enum': there is no repair strategy named 'ask-humn'",
        ),
        ({"enm": ["ask-human"]}, "key 'ladders.enm': a ladder is for a category or a kind"),
    ],
)
def test_what_ladders_may_not_say(ladders, told):
    with pytest.raises(MapError) as wrong:
        StrategyMap([ErrorRule(id="x", category="enum")], ladders=ladders)
    assert told in str(wrong.value)


def read(error, arguments):
    if isinstance(error, str):
        (found,) = read_report(error, arguments=arguments)
    else:
        (found,) = read_error(error, Call("f", arguments), None)
    return decide(found, StrategyMap.load("default"), None, arguments)


def test_a_stated_constraint_is_kept_and_its_category_acted_on_where_it_is_likely():
    text = "cabin shall be one of: 'economy', 'business'"
    found = read(text, {"cabin": "coach"})
    assert (found.category, found.params) == (C.ENUM, ("cabin",))
    assert found.constraint == {"enum": ["economy", "business"]}
    assert found.confidence >= 0.7


def test_the_words_of_a_class_say_what_no_rule_knows():
    limited = type("RateLimited", (Exception,), {"__module__": "shop.errors"})
    assert read(limited("at most 5 calls"), {"n": 9}).kind is K.RATE_LIMIT
