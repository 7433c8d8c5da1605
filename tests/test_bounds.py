"""Whatever its size and shape, a call ends soon and with a clear refusal; growth is counted."""

import json
import sys

import pytest
from kit import table

from selfcorrect import GraphSetupError, Mender, ToolSpec, build_graph
from selfcorrect.testing import play

EFFECTS = ("read_only", "mutating")


def nest(depth, inner="x"):
    for _ in range(depth):
        inner = {"a": inner}
    return inner


def circle():
    args = {"item": "x"}
    args["count"] = args
    return args


def tool(parameters, **options):
    schema = {"name": "act", "parameters": {"type": "object", "properties": parameters}}
    return ToolSpec.from_schema(schema, **options)


def keys(name, count):
    return {"item": "x", **{f"{name}{at}": at for at in range(count)}}


TOO_LARGE = {
    "a circle": circle(),
    "5,000 levels": {"item": nest(5_000)},
    "5,000 digits": {"item": "x", "count": 10**5_000},
    "10 MB in one text": {"item": "x" * 10_000_000},
    "10 MB of keys": {"item": "x", "k" * 10_000_000: 1},
    "lists of lists": {"item": [[0] * 1_000] * 1_000},
    "200,000 near keys": keys("coun", 200_000),
    "20,000 near keys": keys("coun", 20_000),
    "20,000 other keys": keys("zq", 20_000),
    "20,000 wrong items": {"item": "x", "list": ["x"] * 20_000},
}


@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("args", TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_call_that_is_too_large_is_refused_and_its_report_can_be_written(args, effect):
    ran = []
    count = {"type": "integer"}
    of = {"item": {"type": "string"}, "count": count, "list": {"items": count}}
    act = tool(of, call=lambda **args: ran.append(args), effect=effect)
    failure = play([act], {"call": {"name": "act", "args": args}})["failure"]
    assert ran == []
    assert failure["reason"] in ("invalid_input", "no_strategy")
    assert "more than" in failure["detail"]
    assert "more than" in failure["for_model"]
    assert failure["changes"] == []
    assert len(json.dumps(failure["findings"])) < 1_000
    json.dumps(failure)


@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("text", ["x", "{", '{"name": "act", "args": {"item": "', "\ud800"])
def test_a_text_of_10_mb_is_refused(text, effect):
    act = tool({"item": {}}, effect=effect)
    found = Mender([act]).call(text * (10_000_000 // len(text)))
    assert (found.reason, found.ready) == ("invalid_input", ())
    assert "longer than" in found.detail


@pytest.mark.parametrize(
    "args",
    [
        {"item": "x" * 5_000_000},
        {"item": list(range(90_000))},
        {"item": {f"k{at}": at for at in range(90_000)}},
        {"item": nest(60)},
        {"item": 10**3_900},
    ],
    ids=["text", "list", "keys", "levels", "digits"],
)
def test_a_large_call_that_fits_runs_as_it_came(args):
    act = tool({"item": {}}, call=lambda item: item == args["item"], effect="read_only")
    assert play([act], {"call": {"name": "act", "args": args}})["result"] is True


def test_more_calls_in_a_text_than_anybody_means_are_refused():
    act = tool({"item": {}}, effect="read_only")
    assert len(Mender([act]).call("act(item=1)\n" * 20).ready) == 20
    found = Mender([act]).call("act(item=1)\n" * 200)
    assert (found.ready, found.outcome) == ((), "ask")


# Growth: the steps of Python for twice the size, counted.


def count_steps(work):
    steps = 0

    def count(*_):
        nonlocal steps
        steps += 1

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return steps


def listed(size):
    return {"x": {"enum": [f"value_{at:05}" for at in range(size)]}}


def named(size):
    return {f"param_{at}": {"type": "string"} for at in range(size)}


GROWTH = {
    "near keys": (lambda n: ({"count": {}}, keys("coun", n)), 2_000),
    "other keys": (lambda n: ({"count": {}}, keys("zq", n)), 2_000),
    "a slip in a list of values": (lambda n: (listed(n), {"x": "valeu_00007"}), 500),
    "far from a list of values": (lambda n: (listed(n), {"x": "zzz"}), 500),
    "misspelt keys": (lambda n: (named(10), {f"parm_{at}": "x" for at in range(n)}), 200),
    "wrong items": (lambda n: ({"x": {"items": {"type": "integer"}}}, {"x": ["z"] * n}), 200),
}


@pytest.mark.parametrize(("make", "size"), GROWTH.values(), ids=GROWTH)
def test_a_call_of_twice_the_size_takes_about_twice_the_steps(make, size):
    def steps(size):
        parameters, args = make(size)
        mender = Mender([tool(parameters, effect="mutating")])
        mender.call({"name": "act", "args": args})  # what is loaded once is loaded
        return count_steps(lambda: mender.call({"name": "act", "args": args}))

    assert steps(2 * size) < 3 * steps(size)


PIECES = table("bounds.txt", "pieces")


@pytest.mark.parametrize("piece", PIECES)
def test_a_text_of_twice_the_length_takes_about_twice_the_steps(piece):
    mender = Mender([tool({"item": {}}, effect="read_only")])

    def steps(length):
        return count_steps(lambda: mender.call(piece * (length // len(piece))))

    steps(100)
    assert steps(8_000) < 3 * steps(4_000) + 2_000


# Patterns of a schema.

USUAL = [
    (r"^\p{L}{1,50}$", "Müller"),
    (r"^.{1,2000}$", "x" * 1_900),
    (r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==)?$", "QUJD" * 50_000),
    (r"^(?!test)[a-z]{1,63}(\.[a-z]{2,63}){1,8}$", "example.com"),
    (r"^(a+)+$", "a" * 100_000),
]


@pytest.mark.parametrize(("pattern", "value"), USUAL)
def test_a_usual_pattern_takes_its_texts(pattern, value):
    act = tool({"x": {"type": "string", "pattern": pattern}})
    assert Mender([act]).call({"name": "act", "args": {"x": value}}).outcome == "valid"


@pytest.mark.parametrize("pattern", ["^((a{1,30}){1,30}){1,30}$", "^(a{1,1000}){1,1000}$"])
@pytest.mark.parametrize("place", [{"pattern": "?"}, {"patternProperties": {"?": {}}}])
def test_a_pattern_of_nested_repeats_names_its_tool_and_the_remedy(pattern, place):
    parameters = {"x": json.loads(json.dumps(place).replace("?", pattern))}
    with pytest.raises(GraphSetupError, match=r"tool 'act'.*use maxLength"):
        build_graph([tool(parameters)])


def test_a_large_pattern_takes_short_texts_only():
    act = tool({"x": {"type": "string", "pattern": "^(a{1,30}){1,30}$"}})
    failure = Mender([act]).call({"name": "act", "args": {"x": "a" * 20_000 + "!"}}).failure
    assert "too many for the patterns" in failure["detail"]


# What foreign code raises and returns.


class Hostile:
    def __init__(self, error):
        self.error = error

    def __str__(self):
        raise self.error

    __repr__ = __str__


ERRORS = [ValueError("x"), KeyboardInterrupt(), SystemExit(3), RecursionError()]


@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_a_result_that_cannot_be_shown_is_a_result(error, effect):
    ran = []
    act = tool({}, call=lambda: ran.append(1) or Hostile(error), effect=effect)
    out = play([act], {"call": {"name": "act", "args": {}}})
    assert (out["result"], ran) == ("<Hostile>", [1])


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_an_error_that_cannot_be_shown_is_reported(error):
    class Odd(Exception):
        def __str__(self):
            raise error

        @property
        def retry_after(self):
            raise error

        status_code = response = retry_after

    def act():
        raise Odd

    out = play([ToolSpec.from_function(act, effect="mutating")], {"call": {"name": "act"}})
    assert "Odd" in json.dumps(out["failure"]["findings"])


HEADERS = [[("retry-after", "1")], "x", 7, Hostile(ValueError("x"))]
WAITS = [10**400, [1], Hostile(ValueError("x")), "Fri, 31 Dec 9999 23:59:59 -2359"]


@pytest.mark.parametrize("headers", HEADERS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("wait", WAITS, ids=lambda each: type(each).__name__)
def test_an_error_with_unreadable_fields_is_reported(headers, wait):
    class Odd(Exception):
        retry_after = wait

        @property
        def __cause__(self):
            raise ValueError("x")

    error = Odd("x")
    error.response = type("Response", (), {"headers": headers})
    for each in (error, type("Other", (Exception,), {"response": error.response})("x")):
        act = tool({}, call=Raise(each), effect="mutating")
        out = play([act], {"call": {"name": "act", "args": {}}})
        assert out["failure"]["attempts"][0]["outcome"] == "refused"


class Raise:
    def __init__(self, error):
        self.error = error

    def __call__(self, *args, **options):
        raise self.error


def test_a_result_that_holds_itself_again_and_again_is_cut():
    point = {"x": 1}
    many = [point] * 20_000
    large = ["x"]
    for _ in range(40):
        large = [large, large]
    results = [
        play([tool({}, call=lambda value=value: value)], {"call": {"name": "act", "args": {}}})
        for value in (many, large)
    ]
    assert results[0]["result"] == many
    assert len(json.dumps(results[1]["result"])) < 20_000_000
