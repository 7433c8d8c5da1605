"""A call that could not be read, asked for as a whole: the loop, its feedback, what comes after."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import StructuredTool

from selfcorrect import ErrorRule, SelfCorrection, StrategyMap, ToolSpec, build_graph
from selfcorrect.errors import BudgetSpent, GraphSetupError, MapError, ModelFailed
from selfcorrect.limits import Limits
from selfcorrect.model import ABSENT, Call, Changed, Diagnosis, Finding
from selfcorrect.models.port import CountingModel
from selfcorrect.models.whole_call import Prompts
from selfcorrect.protocols import RepairContext
from selfcorrect.repairs.ask_model import AskModel
from selfcorrect.testing import ScriptedModel

ARGS = {"a": 1, "b": 2}
GOOD = {"call_is_meant": True, "name": "add", "arguments": ARGS}
BROKEN = "add(1, 2"
UNREAD = Diagnosis((Finding("malformed", paths=("/raw",)),))


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def spec(effect: str = "mutating") -> ToolSpec:
    return ToolSpec.from_function(add, effect=effect)


def port(model, limits=None):
    async def invoke(asked, messages, seconds=None):
        return await asked.ainvoke(messages)

    return CountingModel(model, {}, limits or Limits(model_calls=99), invoke)


def asked(script, *, name="", effect="mutating", limits=None, **options):
    """The arguments, or why there are none; and the model."""
    model = ScriptedModel(script)
    context = RepairContext(tools={"add": spec(effect)}, ask_model=port(model, limits))
    strategy = AskModel(**options)
    repair = asyncio.run(strategy(Call(name, {}, raw=BROKEN), UNREAD, context))
    if not isinstance(repair, Changed):
        return repair.reason, model
    assert {change.safety.value for change in repair.changes} == {"model"}
    made = {change.path: change.after for change in repair.changes}
    assert made.pop("/raw") is ABSENT
    assert made.pop("/name", name) == "add"
    return {path.removeprefix("/args/"): value for path, value in made.items()}, model


def test_the_call():
    args, model = asked([GOOD])
    assert args == ARGS
    assert len(model.prompts) == 1


def test_no_call_is_meant():
    why, model = asked([{"call_is_meant": False}])
    assert "no call is meant" in why
    assert len(model.prompts) == 1


@pytest.mark.parametrize("said", ["eyes", "yes", 1, None, ["x"], {}])
def test_only_a_plain_true_is_a_yes(said):
    args, model = asked([GOOD | {"call_is_meant": said}, GOOD])
    assert args == ARGS
    assert Prompts().no_name in model.prompts[1][-1].content


def test_a_call_that_was_made_as_one_is_meant():
    args, model = asked([{"name": "add", "arguments": ARGS}], name="add")
    assert args == ARGS
    assert "call_is_meant" not in model.prompts[0][-1].content


@pytest.mark.parametrize(
    ("bad", "feedback"),
    [
        ("prose", "no_name"),
        ({"arguments": {}}, "no_name"),
        ({"name": 5}, "no_name"),
        ("", "no_name"),
        ({"name": "fly", "arguments": [], "more": 1}, "no_name"),
        ({"name": "fly", "arguments": []}, "unknown_name"),
        ({"name": "add", "arguments": [1, 2]}, "wrong_arguments"),
        ({"name": "add", "arguments": {"a": "x", "b": 2}}, "wrong_arguments"),
        ({"name": "add"}, "wrong_arguments"),
    ],
)
def test_the_feedback_says_what_comes_first(bad, feedback):
    words = {name: f"[{name}]" for name in ("no_name", "unknown_name", "wrong_arguments")}
    args, model = asked([bad, GOOD], prompts=Prompts(**words))
    assert args == ARGS
    told = model.prompts[1][-1].content
    assert [word for word in words.values() if word in told] == [f"[{feedback}]"]


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_the_last_answer_is_checked(rounds):
    args, model = asked([*["prose"] * (rounds - 1), GOOD], rounds=rounds)
    assert args == ARGS
    assert len(model.prompts) == rounds


@pytest.mark.parametrize(("rounds", "times"), [(1, 1), (3, 3), (99, 10)])
def test_it_ends(rounds, times):
    why, model = asked(["prose"] * 99, rounds=rounds)
    assert "no call that can be made" in why
    assert len(model.prompts) == times


@pytest.mark.parametrize("options", [{"rounds": 0}, {"rounds": True}, {"model": "gpt"}])
def test_what_can_never_be_meant_is_refused(options):
    with pytest.raises(GraphSetupError, match="ask-model"):
        AskModel(**options)


def test_the_conversation_is_kept_and_bounded():
    _, model = asked(
        ["prose " * 10_000, {"name": "fly", "arguments": {}}, *["prose"] * 8], rounds=10
    )
    assert "fly" in model.prompts[2][-1].content
    assert max(len(prompt[-1].content) for prompt in model.prompts) < 8_000


def test_a_model_that_is_down_is_not_asked_again():
    why, model = asked([ValueError("no such model"), GOOD])
    assert "ValueError" in why
    assert len(model.prompts) == 1


def test_a_budget_ends_it():
    why, model = asked(["prose"] * 9, limits=Limits(model_calls=2))
    assert "model calls" in why
    assert len(model.prompts) == 2


def test_the_port_tells_an_unusable_answer_from_none():
    model = ScriptedModel(["prose", ValueError("x")])
    for said in ("prose", None):
        with pytest.raises(ModelFailed) as failed:
            asyncio.run(port(model)("?", {"type": "object"}))
        assert failed.value.said == said
    with pytest.raises(BudgetSpent):
        asyncio.run(port(model, Limits(model_calls=0))("?", {}))


# --- in the graph --------------------------------------------------------------------------------


def through_graph(raw, script, effect="mutating", **options):
    done: list[dict[str, Any]] = []

    def add(a: int, b: int) -> int:
        """Add."""
        done.append({"a": a, "b": b})
        return a + b

    model = ScriptedModel(script)
    graph = build_graph([ToolSpec.from_function(add, effect=effect)], model=model, **options)
    return graph.invoke({"call": {"name": "add", "args": raw}}), done, model


UNREADABLE = '{"a": 1 "b" 2 ]}'
CALL = {"name": "add", "arguments": ARGS}


def test_a_graph_tells_the_model_what_was_wrong_and_counts_every_round():
    out, done, model = through_graph(UNREADABLE, ["prose", {"name": "add", "arguments": {}}, CALL])
    assert out["result"] == 3
    assert done == [ARGS]
    assert [event["model_calls"] for event in out["trail"] if "model_calls" in event] == [3]
    assert "missing required argument 'b'" in model.prompts[2][-1].content


def test_the_limits_bound_the_rounds():
    out, done, model = through_graph(UNREADABLE, ["prose"] * 9, limits={"model_calls": 2})
    assert (len(model.prompts), done) == (2, [])
    assert "2 of at most 2 model calls" in json.dumps(out)


@pytest.mark.parametrize("options", [{"strategies": "strict"}, {"effect": "destructive"}])
def test_where_no_model_may_decide_none_is_asked_and_nothing_runs(options):
    out, done, model = through_graph(UNREADABLE, [CALL] * 9, **options)
    assert (model.prompts, done) == ([], [])
    assert "failure" in out


def laddered(*rungs: str, better: Any = None, **options: Any) -> StrategyMap:
    """The default map, where these stand on the ladder of a call that could not be read."""
    use = {"ask-better": AskModel(model=better)} if better is not None else None
    rule = ErrorRule(
        id="unread",
        replaces="default/malformed-json",
        error="MalformedCall",
        code=["malformed_json", "wrapped_text"],
        kind="validation",
        category="malformed_json",
        repair=["fix-json", *rungs],
        options=options,
    )
    return StrategyMap([rule], extends="default", use=use)


def test_the_map_says_how_often():
    strategies = laddered("ask-model", **{"ask-model": {"rounds": 1}})
    _, done, model = through_graph(UNREADABLE, ["prose"] * 9, strategies=strategies)
    assert (len(model.prompts), done) == (1, [])
    with pytest.raises(MapError, match="rounds"):
        laddered("ask-model", **{"ask-model": {"rounds": 0}})


def test_the_next_rung_gets_the_original_and_counts_too():
    better = ScriptedModel([CALL])
    strategies = laddered("ask-model", "ask-better", better=better)
    out, done, model = through_graph(
        UNREADABLE, ["prose"] * 9, strategies=strategies, limits={"model_calls": 4}
    )
    assert (out["result"], done) == (3, [ARGS])
    assert (len(model.prompts), len(better.prompts)) == (3, 1)
    (prompt,) = (messages[-1].content for messages in better.prompts)
    assert json.dumps(UNREADABLE)[1:-1] in prompt
    assert "prose" not in prompt
    again, done, model = through_graph(
        UNREADABLE, ["prose"] * 9, strategies=strategies, limits={"model_calls": 3}
    )
    assert (len(model.prompts), len(better.prompts), done) == (3, 1, [])
    assert "failure" in again


def test_a_call_that_nobody_could_write_is_reported_as_it_was():
    better = ScriptedModel(["prose"] * 3)
    strategies = laddered("ask-model", "ask-better", better=better)
    out, done, _ = through_graph(
        UNREADABLE, ["prose"] * 9, strategies=strategies, limits={"model_calls": 9}
    )
    assert out["failure"]["call"]["raw"] == UNREADABLE
    assert done == []


@pytest.mark.parametrize(("said", "ends"), [(GOOD, [ARGS]), ({"call_is_meant": False}, [])])
def test_of_a_text_the_model_says_first_whether_a_call_is_meant(said, ends):
    done: list[dict[str, Any]] = []

    def add(a: int, b: int) -> int:
        """Add."""
        done.append({"a": a, "b": b})
        return a + b

    model = ScriptedModel([said])
    graph = build_graph([ToolSpec.from_function(add, effect="mutating")], model=model)
    out = graph.invoke({"raw": f'{{"name": "add", "arguments": {UNREADABLE}}}'})
    assert done == ends
    assert len(model.prompts) == 1
    assert ("failure" in out) == (not ends)


def test_the_map_of_the_documentation(tmp_path):
    page = Path(__file__).parents[1] / "docs" / "pages" / "agents.md"
    (shown,) = re.findall(r"^```toml\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "agent.toml").write_text(shown, "utf-8")
    (tmp_path / "models.py").write_text(
        "from selfcorrect.repairs.ask_model import AskModel\n"
        "from selfcorrect.testing import ScriptedModel\n"
        f"ask_better = AskModel(model=ScriptedModel([{CALL!r}]))\n",
        "utf-8",
    )
    out, done, model = through_graph(
        UNREADABLE, ["prose"] * 9, strategies=str(tmp_path / "agent.toml")
    )
    assert (out["result"], done, len(model.prompts)) == (3, [ARGS], 2)


# --- in an agent ---------------------------------------------------------------------------------


def through_agent(script, mender, effect="mutating", **options):
    done: list[dict[str, Any]] = []

    def add(a: int, b: int) -> int:
        """Add."""
        done.append({"a": a, "b": b})
        return a + b

    own = ScriptedModel(script)
    tool = StructuredTool.from_function(add, metadata={"effect": effect})
    middleware = SelfCorrection(model=mender, **options)
    agent = create_agent(own, [tool], middleware=[middleware])
    out = agent.invoke({"messages": [HumanMessage("add one and two")]})
    return out["messages"], done, own


def unread_call() -> AIMessage:
    call = {"name": "add", "args": UNREADABLE, "id": "1", "error": "not JSON"}
    return AIMessage("", invalid_tool_calls=[{**call, "type": "invalid_tool_call"}])


def test_an_agents_call_is_written_anew_before_anybody_sees_it():
    mender = ScriptedModel([{"name": "add", "arguments": {"a": 1}}, CALL])
    messages, done, own = through_agent([unread_call(), "done"], mender)
    assert done == [ARGS]
    assert (len(mender.prompts), len(own.prompts)) == (2, 2)
    assert messages[1].tool_calls[0]["args"] == ARGS
    noted = messages[1].response_metadata["selfcorrect"]["calls"]["1"]["changes"]
    assert {change["safety"] for change in noted} == {"model"}


def test_what_no_mender_can_write_goes_back_to_the_agents_own_model():
    mender = ScriptedModel(["prose"] * 9)
    messages, done, own = through_agent([unread_call(), "I cannot."], mender)
    assert (done, len(mender.prompts), len(own.prompts)) == ([], 3, 2)
    assert messages[2].status == "error"


@pytest.mark.parametrize("options", [{"strategies": "strict"}, {"effect": "destructive"}])
def test_nor_is_an_agents_call_written_by_a_model_that_may_not(options):
    mender = ScriptedModel([CALL] * 9)
    _, done, own = through_agent([unread_call(), "I cannot."], mender, **options)
    assert (done, mender.prompts, len(own.prompts)) == ([], [], 2)
