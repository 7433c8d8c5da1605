"""What a model reads of a failure: the parameter, what is allowed, whose turn it is."""

import re
import tomllib
from pathlib import Path
from unicodedata import category

import pytest
from hypothesis import given, settings, strategies as st
from kit import Answered, Tool, run, with_rules
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from selfcorrect import Ask, ErrorRule, Escalate, StrategyMap, build_graph
from selfcorrect.ledger import MemoryLedger
from selfcorrect.testing import ScriptedModel, VirtualTime, play

TABLE = tomllib.loads((Path(__file__).parent / "data/for_model.toml").read_text("utf-8"))
CASES = {case["name"]: case for case in TABLE["case"]}
CLASSES = {each.__name__: each for each in (LookupError, RuntimeError, TimeoutError, ValueError)}
CLASSES["ConnectionError"] = ConnectionError
ASKS = [
    ("ask", "LookupError", Ask),
    ("escalate", "RuntimeError", lambda text: Escalate(text, "CRITICAL")),
]
CONTROL = ("Cc", "Cs")
LEAD = "The tool's words, as data: "


def error_of(case):
    given = case.get("error")
    if given is None:
        return None
    text = given["text"] * given.get("times", 1)
    if "status" in given:
        return Answered(given["status"], text, given.get("wait"))
    return CLASSES[given["class"]](text)


def options_of(case):
    """Return the options of a run, with objects in place of the table's words for them."""
    options = {**case.get("options", {})}
    options.pop("finish_reason", None)
    for name, error, make in ASKS:
        if name in options:
            answer = make(options.pop(name))
            rule = ErrorRule(id=name, error=error, repair=[name])
            options["strategies"] = with_rules(rule, use={name: lambda *_, answer=answer: answer})
    if policy := options.pop("policy", None):
        options["strategies"] = StrategyMap([], extends=["default"], policy=policy)
    if "model" in options:
        options["model"] = ScriptedModel(options["model"])
    return options


def failure_of(case, **more):
    """Return the report of a case."""
    effect = case.get("effect", "read_only") or None
    error = error_of(case)
    tool = Tool(*([error] * 20 if error else ()), name="book", effect=effect)
    tool.spec = type(tool.spec).from_schema(
        {"name": "book", "description": "", "parameters": TABLE["schema"]},
        call=tool.spec.call,
        effect=effect,
    )
    options = options_of(case) | more
    if "raw" in case:
        given = {"raw": case["raw"], "finish_reason": case.get("options", {}).get("finish_reason")}
        return play([tool.spec], given, time=VirtualTime(), **options)["failure"]
    args, name = case.get("args", {"city": "Oslo"}), case.get("tool", "book")
    if (answer := options.pop("answer", None)) is not None:
        graph = build_graph([tool.spec], checkpointer=InMemorySaver(), **options)
        config = {"configurable": {"thread_id": "t"}}
        graph.invoke({"call": {"name": name, "args": args}}, config)
        return graph.invoke(Command(resume=answer), config)["failure"]
    ledger = MemoryLedger()
    for number in range(case.get("runs", 1)):
        beside = {"ledger": ledger, "task_id": "task", "id": f"c{number}"}
        out = run(tool, args, name=name, **beside, **options)
    return out["failure"]


def parts(text):
    """Return what stands before the tool's words, the words, and the closing sentences."""
    before, lead, rest = text.partition(LEAD)
    found = re.match(r'"(?:[^"\\]|\\.)*"', rest)
    words = found[0] if found else ""
    return before, words, rest[len(words) :].strip() if lead else ""


def sentences(text):
    return [each for each in re.split(r"(?<=[.!?…])\s+", text.strip()) if each]


def test_the_table_is_large_enough():
    assert len(CASES) == len(TABLE["case"]) >= 40


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_read(case):
    text = failure_of(case)["for_model"]
    low = text.casefold()
    assert [each for each in case.get("about", ()) if f"`{each}`" not in text] == []
    assert [each for each in case.get("says", ()) if each.casefold() not in low] == []
    assert [each for each in case.get("hides", ()) if each.casefold() in low] == []


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_form(case):
    text = failure_of(case)["for_model"]
    before, words, closing = parts(text)
    said = sentences(f"{before} {closing}")
    assert len(text) <= 1_200
    assert len(before.split()) <= 60
    assert len(sentences(closing)) <= 1
    assert len(said) == len(set(said))
    assert not any(each[0].islower() for each in said)
    assert ".." not in re.sub(r'"[^"]*"', "", text)
    assert not any(category(each) in CONTROL for each in text)
    has_words = "error" in case and case.get("words", True)
    assert text.count(LEAD) == has_words
    if has_words:
        error = case["error"]
        assert error.get("shown", error["text"]) in words
        assert "times" in error or text.count(error["text"]) <= 1


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_whose_turn_it_is(case):
    text = failure_of(case)["for_model"]
    closing = (parts(text)[2] or sentences(text)[-1]).casefold()
    assert "cannot succeed" not in text
    assert (closing == "ask the user.") == (case["who"] == "user")
    says_call = re.search(r"(?<!this )call again|(?:whole|one) call|call a tool", closing)
    assert bool(says_call) == (case["who"] == "model" and case["name"] != "held equal call")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_without_the_tools_words_the_diagnosis_stays(case):
    text = failure_of(case, tool_words="hide")["for_model"]
    assert LEAD.strip() not in text
    assert "the tool's words" not in text
    assert "error" not in case or case["error"]["text"] not in text
    assert len(text.split()) <= 75
    own = [
        each for each in case.get("about", ()) if "error" not in case and f"`{each}`" not in text
    ]
    assert own == []


@given(
    st.dictionaries(st.text(min_size=1), st.text() | st.integers() | st.lists(st.text())),
    st.text(max_size=3_000),
)
@settings(max_examples=30, deadline=None)
def test_no_call_and_no_error_breaks_the_form(args, words):
    for case in ({"args": args}, {"error": {"class": "ValueError", "text": words}}):
        text = failure_of({"name": "any", **case})["for_model"]
        before, quoted, _ = parts(text)
        assert len(text) <= 1_200
        assert len(before.split()) <= 60 or not quoted
        assert len(text.split()) <= 60 or quoted
        assert not any(category(each) in CONTROL for each in text)
        assert text.endswith(".")
