"""No schema and no arguments make a check take more than it may: not of time, not of memory.

jsonschema-rs alone would: it goes wherever a `$ref` leads as often as it leads there.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from selfcorrect import Mender, ToolSpec, build_graph
from selfcorrect.batch import repair
from selfcorrect.schema import Checker
from selfcorrect.schema.effort import Effort, depth_of
from selfcorrect.schema.patterns import compiled

ROOT = Path(__file__).parents[1]
MOST_MEMORY = 1_200_000_000
MOST_SECONDS = 120

CHILD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
if {alone}:
    sys.modules["jsonschema_rs"] = None
from selfcorrect.schema import Checker
sys.path.insert(0, {here!r})
from test_schema_bounds import CASES
for name, case in CASES.items():
    print(name, flush=True)
    schema, args, text = case()
    check = Checker(schema, "tool")
    assert not check.is_valid(args)
    found = check.violations(args)
    assert 0 < len(found) <= 1_000, len(found)
    assert found[0].text.startswith(text), found[0].text
"""


def nested(depth, leaf):
    for _ in range(depth):
        leaf = {"a": leaf}
    return leaf


def links(count, keyword, last):
    """A chain of schemas, each of which leads to the next twice."""

    def to(number):
        return {"properties": {"a": {"$ref": f"#/$defs/L{number + 1}"}}}

    chain = {f"L{n}": {keyword: [to(n), to(n)]} for n in range(count)}
    return {"$defs": {**chain, f"L{count}": last}, "$ref": "#/$defs/L0"}


def of(**schema):
    return {"properties": {"a": schema}}


INTEGER = {"type": "integer"}
LOOP = {
    "allOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}],
    "properties": {"z": INTEGER},
}
FORK = {
    "properties": {"a": {"$ref": "#/$defs/N"}},
    "$defs": {
        "N": {
            "properties": {"a": {"anyOf": [{"$ref": "#/$defs/N"}, {"$ref": "#/$defs/M"}]}},
            "type": "object",
        },
        "M": {"anyOf": [INTEGER, {"$ref": "#/$defs/N"}]},
    },
}
KEYS = {f"k{number}": number for number in range(30_000)}
A = "argument 'a"
CASES = {
    "a million wrong items": lambda: (of(items=INTEGER), {"a": ["x"] * 1_000_000}, A),
    "wrong items of an alternative": lambda: (
        of(anyOf=[{"type": "array", "items": INTEGER}, {"type": "null"}]),
        {"a": ["x"] * 300_000},
        A,
    ),
    "a thousand names and a megabyte": lambda: (
        {"properties": {"x": {}}, "required": [f"r{n}" for n in range(1_000)]},
        {"x": "y" * 1_000_000},
        "missing required argument 'r0'",
    ),
    "names of keys": lambda: (of(propertyNames={"maxLength": 1}), {"a": KEYS}, A),
    "keys of no alternative": lambda: (
        of(type="object", allOf=[{"properties": {"z": {}}}], unevaluatedProperties=False),
        {"a": KEYS},
        "unknown argument 'a.k0'",
    ),
    "items of no alternative": lambda: (
        of(contains={"const": 1}, unevaluatedItems=False),
        {"a": [*range(30_000)]},
        A,
    ),
    "equal items": lambda: (
        of(uniqueItems=True),
        {"a": [*({"k": n} for n in range(30_000)), {"k": 1}]},
        A,
    ),
    "many allowed values": lambda: (
        of(items={"enum": [f"e{n}" for n in range(5_000)]}),
        {"a": ["e4999"] * 50_000 + ["x"]},
        A,
    ),
    "key patterns that backtrack": lambda: (
        {"patternProperties": {"^(a+)+$": INTEGER}, "additionalProperties": False},
        {"a" * 5_000 + "!": 1, **KEYS},
        "unknown argument",
    ),
    "links of allOf": lambda: (links(40, "allOf", INTEGER), nested(40, "x"), A),
    "links of anyOf": lambda: (links(40, "anyOf", INTEGER), nested(40, "x"), A),
    "links of oneOf": lambda: (links(40, "oneOf", INTEGER), nested(40, "x"), A),
    "a loop of allOf": lambda: (LOOP, nested(60, {"z": "1"}), A),
    "a fault beside a deep loop": lambda: (LOOP, {"z": "1", **nested(60, {})}, "argument 'z'"),
    "a fork": lambda: (FORK, nested(60, "x"), A),
}


@pytest.mark.parametrize("alone", [False, True], ids=["with jsonschema-rs", "jsonschema alone"])
def test_nothing_takes_more_than_it_may(alone):
    if alone:
        pytest.importorskip("re2")  # without it, too, a key pattern is refused
    child = CHILD.format(memory=MOST_MEMORY, alone=alone, here=str(ROOT / "tests"))
    done = subprocess.run(
        [sys.executable, "-c", child],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=MOST_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2_000:]
    assert done.stdout.splitlines() == [*CASES]


@pytest.mark.parametrize("depth", [1, 3, 60, 90])
def test_a_deep_call_of_a_schema_that_forks_is_valid(depth):
    assert Checker(FORK, "tool").is_valid(nested(depth, {"a": 1}))
    assert Checker(LOOP, "tool").is_valid(nested(depth, {"z": 1}))
    assert Checker(links(40, "allOf", INTEGER), "tool").is_valid(nested(40, 1))


def test_a_long_chain_of_references_is_followed_or_refused():
    chain = {f"L{n}": {"properties": {"a": {"$ref": f"#/$defs/L{n + 1}"}}} for n in range(1_000)}
    check = Checker({"$defs": {**chain, "L1000": INTEGER}, "$ref": "#/$defs/L0"}, "tool")
    assert check.is_valid(nested(5, {}))
    assert not check.is_valid(nested(5, {"b": 1}))


def test_a_loop_that_ends_the_process_of_jsonschema_rs_is_not_read_by_it():
    check = Checker(LOOP, "tool")
    assert not Effort(check._schema).can_compile()
    (finding,) = check.violations({"a": {"z": "1"}})
    assert finding.text == "argument 'a.z': expected integer, got string"
    (finding,) = check.violations({"a": {"b": {}}})
    assert finding.text == "unknown argument 'a.b'"


def test_the_effort_grows_with_the_depth_and_stays_bounded():
    effort = Effort(FORK)
    visits = [effort.visits(FORK, depth) for depth in (1, 2, 10, 128)]
    assert visits == sorted(visits)
    assert not effort.is_tame
    assert effort.can_compile()
    assert effort.can_answer({"a": {"a": 1}})
    assert not effort.can_answer(nested(40, 1))
    assert not Effort(links(40, "allOf", INTEGER)).can_compile()


def test_a_measure_counts_levels():
    assert depth_of({}) == 0
    assert depth_of({"ab": 1}) == 1
    assert depth_of([[["x" * 100]]]) == 3
    assert depth_of({"a": {"b": [1]}, "c": 2**3_000}) == 3


NESTED = (
    "^((a{1,50}){1,50}){1,20}$",
    "^(([ab]{1,30}){1,30}){1,30}$",
    "^((a{1,50}){1,50}){1,60}$",
    "^([a-z]{1,100}){1,100}$",
    "^(.{1,99}){1,99}$",
    "^((a{0,90}){0,90}){0,90}$",
    "^(([a-z]{1,20}){1,20}){1,10}$",
    r"^(\w{1,60}){1,60}$",
    "^(a+)+$",
    r"^(?=.*\d)(a+)+$",
)


@pytest.mark.parametrize("alone", [False, True], ids=["with jsonschema-rs", "without"])
@pytest.mark.parametrize("pattern", NESTED)
def test_repeats_in_one_another_are_answered_in_bounded_time_or_not_at_all(
    pattern, alone, monkeypatch
):
    if alone:
        monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    compiled.cache_clear()
    search = compiled(pattern).search
    for text in (
        "a" * 99 + "!",
        "a" * 199 + "!",
        "a" * 1_999 + "!",
        "ab" * 1_000,
        "a" * 300_000 + "!",
        "ab" * 100_000,
        "é" * 5_000,
    ):
        started = time.process_time()
        search(text)
        assert time.process_time() - started < 3, len(text)
    compiled.cache_clear()


@pytest.mark.parametrize("pattern", NESTED)
def test_no_host_takes_long_over_a_pattern(pattern):
    """A call is checked several times on its way; all of it together is bounded."""
    tool = {"name": "act", "parameters": of(type="string", pattern=pattern)}
    mender, graph = Mender([tool]), build_graph([ToolSpec.from_schema(tool, call=dict)])
    for text in ("a" * 99 + "!", "a" * 199 + "!", "a" * 999 + "!", "a" * 100_000 + "!"):
        call = {"name": "act", "args": {"a": text}}
        line = {"id": 1, "tools": [tool], "call": call}
        for ask in (mender.call, lambda each: graph.invoke({"call": each})):
            started = time.process_time()
            ask(call)
            assert time.process_time() - started < 3, len(text)
        started = time.process_time()
        assert [*repair([line])]
        assert time.process_time() - started < 3, len(text)


def test_a_large_pattern_is_checked_on_texts_of_the_usual_size():
    checker = Checker(of(type="string", pattern="^([a-z]{1,100}){1,100}$"), "act")
    assert checker.is_valid({"a": "abc"})
    assert not checker.is_valid({"a": "ABC"})
    assert checker.violations({"a": "ABC"})[0].paths == ("/args/a",)
    assert checker.is_valid({"a": "A" * 10_000}), "left to the host, which the log says"
