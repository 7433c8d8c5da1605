"""What a model reads of a failure: the parameter, what is allowed, whose turn it is."""

import re
import sys
import tomllib
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Literal
from unicodedata import category

import pytest
from hypothesis import given, settings, strategies as st
from kit import Answered, Tool, run, with_rules
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel, Field

from selfcorrect import Ask, ErrorRule, Escalate, StrategyMap, ToolSpec, build_graph
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


# --- the obedient reader --------------------------------------------------------------------


@dataclass
class World:
    """A small task: a tool, what its caller knows, and how the task should end.

    Attributes:
        args: The first call.
        knows: What the caller or its user knows: right values by parameter.
        ends: `done`, `told` (the user), or `checked` (nothing is done twice).
        raises: What the tool raises while its arguments, or the time, are wrong.
        busy: Until when the tool is busy.
        wants: Arguments with which it is content.
    """

    args: dict
    knows: dict = field(default_factory=dict)
    ends: str = "done"
    raises: Exception | None = None
    busy: float = 0.0
    wants: dict = field(default_factory=dict)
    effect: str = "read_only"
    name: str = "book"
    now: float = 0.0
    acted: int = 0

    def book(self, **args):
        wrong = any(args.get(key) != value for key, value in self.wants.items())
        self.acted += self.effect == "mutating" and isinstance(self.raises, TimeoutError)
        if self.raises and (self.now < self.busy or wrong or not (self.busy or self.wants)):
            raise self.raises
        self.acted += 1
        return "booked"


class Person(BaseModel):
    model_config = {"extra": "forbid"}
    name: str
    age: int | None = None


class Booking(BaseModel):
    """The schema of `book`, as an author of a tool without this library writes it."""

    model_config = {"extra": "forbid"}
    city: str
    seats: Annotated[int, Field(ge=1, le=9)] = 1
    cabin: Literal["economy", "business"] = "economy"
    day: date | None = None
    code: Annotated[str, Field(pattern=r"^PZN-\d{8}$")] = "PZN-00000000"
    note: Annotated[str, Field(max_length=4)] = ""
    tags: Annotated[list[str], Field(min_length=1)] = ["a"]
    people: list[Person] = []


def task_of(row):
    """Return a task of the table, with an error in place of the table's words for it."""
    return World(**{key: row[key] for key in row if key != "error"}, raises=error_of(row))


TASKS = {key: [task_of(row) for row in TABLE[key]] for key in ("task", "later")}


def read(text, call, world):
    """Do what a text says; return the next call, or how the task ends."""
    text = re.sub(r"\[type=.*", "", text)
    low = text.casefold()
    if "find out" in low:
        return "checked"
    if near := re.search(r"did you mean '(\w+)'|valid tool, try one of \[(\w+)\]", text):
        return {**call, "name": near[1] or near[2]}
    if wait := re.search(r"(?:again|retry) in (\d+)", low):
        world.now += float(wait[1])
        return call
    args = corrected(text, call["args"], world)
    if args is None:
        return "told"
    if args != call["args"]:
        return {**call, "args": args}
    if re.search(r"(?:try|call) again later|try again|unavailable|too many requests", low):
        world.now += 60
        return call
    return "told" if re.search("(tell|ask) the user|unauthorized|forbidden", low) else "stuck"


def corrected(text, args, world):
    """Return arguments in which what the text names has a right value; None: only a user knows."""
    made = {**args}
    # What is listed as known is not at fault.
    text = re.sub(r"\(known: .*?\)", "", text)
    for key in [*Booking.model_fields, "flavour"]:
        found = re.search(rf"\b{key}\b", text)
        about = text[found.start() :] if found else ""
        if found and key not in Booking.model_fields:
            del made[key]
        elif found and key in world.knows:
            made[key] = world.knows[key]
        elif listed := re.search(r"one of:? \[?(['\"])(\w+)\1|should be '(\w+)' or", about):
            made[key] = listed[2] or listed[3]
        elif limit := re.search(r"(?:at most|at least|or equal to) (-?\d+)", about):
            made[key] = int(limit[1])
        elif found:
            return None
    return made


def with_our_text(world):
    """Return what a call comes to, and what the model reads of it."""
    schema = Booking.model_json_schema()
    tool = {"name": "book", "description": "", "parameters": schema}
    spec = ToolSpec.from_schema(tool, call=world.book, effect=world.effect)
    ledger = MemoryLedger()

    def make(call):
        given = {"call": call, "task_id": "task"}
        # The text is compared, not what the runtime repairs and repeats by itself.
        options = {"limits": {"attempts": 1}, "ledger": ledger}
        out = play([spec], given, time=VirtualTime(), **options)
        return ("done", "") if "result" in out else ("failed", out["failure"]["for_model"])

    return make


def with_plain_words(world):
    """The same, without this library: the model reads the exception's words."""

    def make(call):
        if call["name"] != "book":
            return "failed", f"{call['name']} is not a valid tool, try one of [book]."
        try:
            checked = Booking.model_validate(call["args"])
            world.book(**checked.model_dump(exclude_unset=True, mode="json"))
        except Exception as error:
            return "failed", str(error)
        return "done", ""

    return make


def end_of(world, make):
    """Return how a task ends that is left to the reader; what is done twice ends badly."""
    call = {"name": world.name, "args": world.args}
    for _ in range(4):
        outcome, text = make(call)
        if outcome == "done":
            return "done" if world.acted == 1 else "twice"
        after = read(text, call, world)
        if isinstance(after, str):
            return after
        call = after
    return "stuck"


@pytest.mark.parametrize("tasks", TASKS.values(), ids=TASKS)
def test_an_obedient_reader_ends_every_task_and_no_fewer_than_with_the_plain_words(tasks):
    ours, plain = (
        [task for task in tasks if end_of(world := replace(task), how(world)) != task.ends]
        for how in (with_our_text, with_plain_words)
    )
    sys.stdout.write(f"not ended with our text: {len(ours)}, with the plain words: {len(plain)}\n")
    assert len(tasks) == 30
    assert ours == []
    assert len(plain) >= len(ours)
