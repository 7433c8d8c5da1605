"""`SelfCorrection` in LangChain agents: one answer for each call, whatever becomes of it."""

import asyncio
import threading
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from kit import Answered, answers_in as answers, table
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware, hook_config
from langchain.tools import InjectedState, ToolRuntime
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from pydantic import AfterValidator, BaseModel

from selfcorrect import (
    GraphSetupError,
    Result,
    SelfCorrection,
    ToolErrorPolicy,
    on_error,
)
from selfcorrect.errors import ToolErrorTerminal, ToolExecutionError
from selfcorrect.ledger import MemoryLedger
from selfcorrect.testing import ScriptedModel, tool_call


@dataclass
class Words:
    message: str
    suggestions: tuple = ()


@dataclass
class Raises:
    error: Exception


class NoSuchTool(Exception):
    pass


@dataclass
class Misses:
    """A policy for unknown names that raises at one miss in a row too many."""

    most: int = 3
    seen: list = field(default_factory=list)
    count: int = 0

    def fresh(self):
        return Misses(self.most, self.seen)

    def handle(self, requested, available):
        self.count += 1
        self.seen.append(requested)
        if self.count > self.most:
            return Raises(NoSuchTool(requested))
        return Words(f"no {requested}, but {', '.join(available)}")

    def on_tool_found(self):
        self.count = 0
        self.seen.append("found")


class TooEmpty(Exception):
    pass


@dataclass
class Blanks:
    """A policy for blank turns that asks once, and then raises."""

    words: str | None = "Say something."
    count: int = 0

    def fresh(self):
        return Blanks(self.words)

    def handle(self):
        self.count += 1
        if self.words is not None and self.count > 1:
            raise TooEmpty
        return self.words

    def on_answer(self):
        self.count = 0


def reads(function):
    function.metadata = {"effect": "read_only"}
    return function


@reads
def search(q: int) -> str:
    """Search."""
    return f"got {q}"


@tool
def say(call_id: Annotated[str, InjectedToolCallId]) -> Command:
    """Say."""
    said = ToolMessage("said", tool_call_id=call_id)
    return Command(update={"messages": [said, HumanMessage("beside")]})


def failing(error, name="fail", effect="read_only"):
    ran = []

    def fail(q: int = 0) -> str:
        """Fail."""
        ran.append(q)
        raise error

    fail.__name__ = name
    fail.metadata = {"effect": effect}
    return fail, ran


def calls(*items, **more):
    """Return a message with calls `(name, args)`; an argument that is a text is malformed."""
    parts = [{"name": n, "args": a, "id": f"c{i}"} for i, (n, a) in enumerate(items)]
    valid = [each for each in parts if isinstance(each["args"], dict)]
    invalid = [
        {**each, "error": "", "type": "invalid_tool_call"} for each in parts if each not in valid
    ]
    return AIMessage("", tool_calls=valid, invalid_tool_calls=invalid, **more)


def make(
    script, tools, before=(), behind=(), again=False, checkpointer=None, agent=None, **options
):
    model = script if isinstance(script, ScriptedModel) else ScriptedModel(script, again)
    middleware = [*before, SelfCorrection(**options), *behind]
    return create_agent(
        model, tools, middleware=middleware, checkpointer=checkpointer, **(agent or {})
    )


def play(agent, is_async=False, text="do it", **configurable):
    given = {"messages": [HumanMessage(text)]}
    config = {"configurable": configurable, "recursion_limit": 80}
    if is_async:
        return asyncio.run(agent.ainvoke(given, config))["messages"]
    return agent.invoke(given, config)["messages"]


def texts(messages):
    return [each.text for each in answers(messages)]


both = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


# --- one answer for each call -------------------------------------------------------------


@both
def test_each_call_gets_one_answer_in_order(is_async):
    fail, _ = failing(ValueError("broken"))
    asked = calls(
        ("search", {"q": "1"}), ("nope", {}), ("fail", {}), ("search", '{"q": 2'), ("search", "?")
    )
    out = play(make([asked, "done"], [search, fail]), is_async)
    turn = next(each for each in out if isinstance(each, AIMessage))
    ids = [each.tool_call_id for each in answers(out)]
    assert ids == [each["id"] for each in turn.tool_calls] == ["c0", "c1", "c2", "c3", "c4"]
    assert turn.invalid_tool_calls == []
    assert [each.status for each in answers(out)][:3] == ["success", "error", "error"]
    assert texts(out)[0] == "got 1"
    assert out[-1].text == "done"


@both
def test_a_repaired_call_reaches_the_tool_under_its_right_name(is_async):
    out = play(
        make([tool_call("serach", q="7"), tool_call("Search", Q="8"), "done"], [search]), is_async
    )
    assert [(each.name, each.text) for each in answers(out)] == [
        ("search", "got 7"),
        ("search", "got 8"),
    ]


def test_a_malformed_call_is_repaired_from_its_text():
    model = ScriptedModel([calls(("search", '{"q": "3"}'), ("search", "?")), "done"])
    out = play(make(model, [search]))
    assert texts(out)[0] == "got 3"
    # The model reads what ran, and nothing where nothing could be read.
    for thread in (out, model.prompts[-1]):
        turn = next(each for each in thread if isinstance(each, AIMessage))
        assert [each["args"] for each in turn.tool_calls] == [{"q": 3}, {}]


def test_a_malformed_structured_answer_is_asked_for_again():
    class Weather(BaseModel):
        degrees: int

    model = ScriptedModel([calls(("Weather", '{"degrees": 2')), tool_call("Weather", degrees=3)])
    policy = Misses(most=0)
    agent = make(model, [search], agent={"response_format": Weather}, tool_not_found=policy)
    out = agent.invoke({"messages": [HumanMessage("x")]})
    assert out["structured_response"].degrees == 3
    assert "not a JSON object" in texts(out["messages"])[0]


class Edits(AgentMiddleware):
    """A policy that changes the arguments of every call of a turn."""

    def after_model(self, state, runtime):
        turn = state["messages"][-1]
        edited = [{**each, "args": {"q": 9}} for each in turn.tool_calls]
        return {"messages": [turn.model_copy(update={"tool_calls": edited})]}


@pytest.mark.parametrize("written", [calls(("search", '{"q": 3}x')), "search(q=3)"], ids=repr)
def test_a_call_that_is_malformed_or_a_text_runs_as_somebody_behind_it_has_edited_it(written):
    assert texts(play(make([written, "done"], [search], before=[Edits()]))) == ["got 9"]


@both
def test_calls_side_by_side_get_their_own_answers(is_async):
    together = threading.Barrier(3)

    @reads
    def meet(q: int) -> str:
        """Meet."""
        together.wait(timeout=10)
        return f"met {q}"

    meet.metadata = {"effect": "read_only", "timeout": 20}
    turn = calls(*(("meet", {"q": str(n)}) for n in range(3)))
    assert texts(play(make([turn, "done"], [meet]), is_async)) == ["met 0", "met 1", "met 2"]


@both
def test_a_tool_has_the_time_that_its_function_declares(is_async):
    never = threading.Event()

    def wait(q: int = 0) -> str:
        """Wait."""
        never.wait(1)
        return "late"

    wait.metadata = {"effect": "mutating", "timeout": 0.05}
    (answer,) = answers(play(make([tool_call("wait"), "done"], [wait]), is_async))
    never.set()
    assert answer.artifact["reason"] == "unknown_outcome"


def test_calls_that_share_an_id_get_ids_of_their_own():
    twice = AIMessage(
        "", tool_calls=[{"name": "search", "args": {"q": n}, "id": "a"} for n in (1, 2)]
    )
    out = play(make([twice, "done"], [search]))
    assert texts(out) == ["got 1", "got 2"]
    assert len({each.tool_call_id for each in answers(out)}) == 2


def test_a_call_that_has_its_answer_is_not_executed_again():
    ran = []

    @reads
    def count(q: int = 0) -> str:
        """Count."""
        ran.append(q)
        return "counted"

    class ToolsAgain(AgentMiddleware):
        jumps = 0

        @hook_config(can_jump_to=["tools"])
        def before_model(self, state, runtime):
            self.jumps += 1
            return {"jump_to": "tools"} if self.jumps == 1 else None

    given = [HumanMessage("x"), calls(("count", {})), ToolMessage("before", tool_call_id="c0")]
    agent = make(["done"], [count], behind=[ToolsAgain()])
    out = agent.invoke({"messages": given})["messages"]
    assert (texts(out), ran, out[-1].text) == (["before"], [], "done")


# --- unknown names ------------------------------------------------------------------------


@both
def test_the_policy_is_asked_once_for_each_miss_and_told_of_a_find_before_the_tool_runs(is_async):
    policy = Misses()

    @reads
    def works(q: int = 0) -> str:
        """Work."""
        policy.seen.append("ran")
        return "ok"

    script = [tool_call("bad_one"), tool_call("zzz"), tool_call("works"), "done"]
    out = play(make(script, [works], tool_not_found=policy), is_async)
    assert policy.seen == ["bad_one", "zzz", "found", "ran"]
    assert texts(out)[0] == "no bad_one, but works"
    assert answers(out)[0].artifact["findings"][0]["code"] == "unknown_tool"


def test_too_many_misses_raise():
    model = ScriptedModel([tool_call("qqqq")], again=True)
    with pytest.raises(NoSuchTool):
        play(make(model, [search], tool_not_found=Misses()))
    assert len(model.prompts) == 4


def test_several_misses_in_one_message_count_once():
    many = [calls(("q0q", {}), ("q1q", {}), ("q2q", {})) for _ in range(3)]
    assert len(texts(play(make([*many, "done"], [search], tool_not_found=Misses())))) == 9


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_message_in_which_a_name_is_found_is_no_miss(order):
    items = [("search", {"q": 1}), ("qqqq", {})]
    script = [calls(*(items[i] for i in order)) for _ in range(6)]
    out = play(make([*script, "done"], [search], tool_not_found=Misses()))
    assert out[-1].text == "done"


def test_a_near_name_is_found():
    policy = Misses()
    play(make([tool_call("serach", q=1), "done"], [search], tool_not_found=policy))
    assert policy.seen == ["found"]


def test_the_policy_has_its_words_where_failures_raise():
    out = play(
        make([tool_call("zzz"), "done"], [search], tool_not_found=Misses(), on_failure="raise")
    )
    assert texts(out) == ["no zzz, but search"]
    out = play(make([tool_call("zzz"), "done"], [search], on_failure="raise"))
    assert "Available tools" in texts(out)[0]


def test_concurrent_async_runs_on_one_middleware_do_not_mix():
    middleware = SelfCorrection(tool_not_found=Misses())

    @reads
    async def slow(q: int) -> str:
        """Wait for the others."""
        await asyncio.sleep(0.01)
        return f"slow {q}"

    async def one(number):
        turn = calls(("slow", {"q": str(number)}), ("slow", {"q": number + 10}))
        script = ScriptedModel([tool_call("qqqq")] * 3 + [turn, "done"])
        agent = create_agent(script, [slow], middleware=[middleware])
        out = await agent.ainvoke({"messages": [HumanMessage("x")]})
        return texts(out["messages"])[3:]

    async def all_of_them():
        return await asyncio.gather(*map(one, range(4)))

    expected = [[f"slow {n}", f"slow {n + 10}"] for n in range(4)]
    assert asyncio.run(all_of_them()) == expected


def test_counters_belong_to_one_run_of_a_thread():
    agent = make(
        [tool_call("qqqq"), "a", tool_call("qqqq"), "b"],
        [search],
        tool_not_found=Misses(most=1),
        checkpointer=InMemorySaver(),
    )
    assert [play(agent, thread_id="1")[-1].text for _ in range(2)] == ["a", "b"]


# --- blank turns --------------------------------------------------------------------------


@both
def test_a_blank_turn_is_asked_about_with_a_placeholder_in_its_place(is_async):
    model = ScriptedModel([AIMessage(""), "here"])
    out = play(make(model, [search], on_empty=Blanks()), is_async)
    assert [each.text for each in model.prompts[-1]][1:] == ["(empty)", "Say something."]
    assert (out[-1].text, isinstance(out[-2], HumanMessage)) == ("here", True)


def test_the_policy_for_blank_turns_raises_and_is_reset_by_an_answer():
    with pytest.raises(TooEmpty):
        play(make([AIMessage(""), AIMessage("")], [search], on_empty=Blanks()))
    script = [AIMessage(""), tool_call("search", q=1), AIMessage(""), "done"]
    assert play(make(script, [search], on_empty=Blanks()))[-1].text == "done"


def test_a_policy_may_leave_the_blank_turn():
    out = play(make([AIMessage("")], [search], on_empty=Blanks(words=None)))
    assert [each.text for each in out] == ["do it", ""]


def test_without_a_policy_the_model_is_asked_once_more_and_then_it_is_said():
    model = ScriptedModel([AIMessage(""), AIMessage("  ")])
    out = play(make(model, []))
    assert (len(model.prompts), out[-1].text) == (2, "The model gave no answer.")
    thinks = AIMessage([{"type": "thinking", "thinking": "hm"}])
    assert play(make([thinks, "here"], []))[-1].text == "here"


# --- what the model is asked, and whether the run may end ---------------------------------

CALL = '{"name": "search", "arguments": {"q": "7"}}'
TAG = f"<tool_call>{CALL}</tool_call>"
PAYS = TAG.replace("search", "pay")


def payer():
    ran = []

    def pay(q: int) -> str:
        """Pay."""
        ran.append(q)
        return "paid"

    return pay, ran


@both
def test_the_model_is_asked_with_a_valid_thread_and_the_stored_one_stays(is_async):
    model = ScriptedModel([calls(("search", {"q": 1})), calls(("search", {"q": 2})), "done"])
    out = play(make(model, [search]), is_async)
    assert [each.tool_call_id for each in answers(model.prompts[-1])] == ["c0", "c0_2"]
    assert [each.tool_call_id for each in answers(out)] == ["c0", "c0"]
    given = [calls(("search", {"q": 1})), HumanMessage("half \ud83d of a character")]
    model = ScriptedModel(["done"])
    make(model, [search]).invoke({"messages": given})
    assert [each.type for each in model.prompts[0]] == ["ai", "tool", "human"]
    assert model.prompts[0][-1].text.encode()


@both
@pytest.mark.parametrize(("name", "text", "rest"), table("written.txt", "read"))
def test_a_call_that_is_written_as_text_is_made(is_async, name, text, rest):
    out = play(make([text, "done"], [search]), is_async)
    assert (texts(out), out[-1].text, out[1].text) == (["got 7"], "done", rest)
    assert out[1].tool_calls[0]["args"] == {"q": 7}


def test_a_text_holds_several_calls_and_thoughts_of_the_model_stay():
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": TAG + TAG}]
    out = play(make([AIMessage(blocks), "done"], [search]))
    assert texts(out) == ["got 7", "got 7"]
    assert out[1].content == blocks[:1]


@both
@pytest.mark.parametrize(("name", "text"), table("written.txt", "twice"))
def test_two_equal_calls_in_one_text_are_two_calls(is_async, name, text):
    pay, ran = payer()
    out = play(make([text, "done"], [pay]), is_async)
    assert (len(ran), len(answers(out))) == (2, 2)


@pytest.mark.parametrize(("name", "text"), table("written.txt", "not read"))
def test_a_call_that_was_not_read_is_told_once(name, text):
    pay, ran = payer()
    model = ScriptedModel([text, text, "never"])
    out = play(make(model, [pay]))
    assert (len(model.prompts), ran) == (2, [])
    assert "`pay`" in model.prompts[1][-1].text or '"pay"' in model.prompts[1][-1].text
    assert out[-1].text == text


@pytest.mark.parametrize(("name", "before", "text"), table("written.txt", "ends"))
def test_a_text_that_is_no_call_ends_the_run(name, before, text):
    pay, ran = payer()
    model = ScriptedModel([*(tool_call("pay", **each) for each in before), text, "never"])
    assert play(make(model, [pay]))[-1].text == text
    assert len(ran) == len(before)


class Choose(AgentMiddleware):
    """Asks every turn with one tool choice."""

    def __init__(self, choice):
        self.choice = choice

    def wrap_model_call(self, request, handler):
        return handler(request.override(tool_choice=self.choice))

    async def awrap_model_call(self, request, handler):
        return await handler(request.override(tool_choice=self.choice))


CHOICES = {
    "a call": (calls(("pay", {"q": 7})), "none", [False]),
    "a malformed call": (calls(("pay", "{'q': 7}")), "none", [False]),
    "an object": (calls(("pay", {"q": 7})), {"type": "none"}, [False]),
    "a text": (PAYS, "none", []),
    "any": (calls(("pay", {"q": 7})), "any", [True]),
}


@both
@pytest.mark.parametrize("name", CHOICES)
def test_under_tool_choice_none_nothing_is_a_call(is_async, name):
    turn, choice, runs = CHOICES[name]
    pay, ran = payer()
    out = play(make([turn, "done"], [pay], before=[Choose(choice)]), is_async)
    assert [each.status == "success" for each in answers(out)] == runs
    assert len(ran) == sum(runs)


def test_tool_choice_none_outlasts_the_question_of_another_middleware():
    pay, ran = payer()
    person = HumanInTheLoopMiddleware({"pay": True})
    agent = make(
        [calls(("pay", {"q": 7})), "done"],
        [pay],
        before=[Choose("none")],
        behind=[person],
        checkpointer=InMemorySaver(),
    )
    config = {"configurable": {"thread_id": "t"}}
    agent.invoke({"messages": [HumanMessage("pay")]}, config)
    agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), config)
    assert ran == []


@both
@pytest.mark.parametrize("said", [{"finish_reason": "tool_calls"}, {"stop_reason": "tool_use"}])
def test_a_stop_reason_that_promises_a_call_is_asked_about_once(is_async, said):
    turn = AIMessage("I look it up.", response_metadata=said)
    model = ScriptedModel([turn, tool_call("search", q=1), turn, "never"])
    out = play(make(model, [search]), is_async)
    assert (texts(out), len(model.prompts)) == (["got 1"], 3)


def test_a_structured_answer_that_is_missing_is_asked_for_once():
    class Weather(BaseModel):
        degrees: int

    def run(*script):
        model = ScriptedModel(script)
        agent = make(model, [search], agent={"response_format": Weather})
        out = agent.invoke({"messages": [HumanMessage("x")]})
        return out.get("structured_response"), len(model.prompts)

    assert run("Two degrees.", tool_call("Weather", degrees=2)) == (Weather(degrees=2), 2)
    assert run("Two.", "Two!", "never") == (None, 2)
    assert run(CALL, tool_call("Weather", degrees=2))[0] == Weather(degrees=2)


def test_a_native_structured_answer_is_no_call_and_not_asked_for_again():
    class Action(BaseModel):
        name: str
        arguments: dict

    model = ScriptedModel([CALL, "never"], profile={"structured_output": True})
    agent = make(model, [search], agent={"response_format": Action})
    out = agent.invoke({"messages": [HumanMessage("x")]})
    assert out["structured_response"].arguments == {"q": "7"}
    assert (len(model.prompts), texts(out["messages"])) == (1, [])


@both
def test_a_tool_that_answers_directly_ends_the_agent_only_with_an_answer(is_async):
    @tool(return_direct=True)
    def direct(q: int) -> str:
        """Answer."""
        return f"direct {q}"

    model = ScriptedModel([tool_call("direct"), tool_call("direct", q="1"), "never"])
    out = play(make(model, [direct]), is_async)
    assert (out[-1].text, len(model.prompts)) == ("direct 1", 2)
    assert out[-2].tool_calls[0]["args"] == {"q": 1}
    model = ScriptedModel([tool_call("direct")], again=True)
    assert play(make(model, [direct]))[-1].status == "error"
    assert len(model.prompts) == 2


@both
def test_the_same_calls_with_the_same_answers_are_told_and_then_ended(is_async):
    ran = []

    @reads
    def empty(q: int) -> list:
        """List."""
        ran.append(q)
        return []

    model = ScriptedModel([lambda _: tool_call("empty", q=1)], again=True)
    out = play(make(model, [empty]), is_async)
    assert (len(ran), len(model.prompts)) == (8, 8)
    assert "8 times" in out[-1].text
    told = [each[-1].text for each in model.prompts if isinstance(each[-1], HumanMessage)]
    assert len(told) == 2
    assert "5 times" in told[1]
    assert [each.text for each in out if isinstance(each, HumanMessage)] == ["do it"]


@pytest.mark.parametrize("length", [2, 3, 4])
def test_turns_that_follow_each_other_again_and_again_are_ended(length):
    script = [tool_call("search", q=n % length) for n in range(60)]
    model = ScriptedModel([*script, "done"])
    given = {"messages": [HumanMessage("do it")]}
    out = make(model, [search]).invoke(given, {"recursion_limit": 300})["messages"]
    assert "8 times" in out[-1].text
    assert len(model.prompts) == 8 * length


def test_calls_whose_answers_change_go_on():
    ran = []

    @reads
    def poll(q: int) -> str:
        """Poll."""
        ran.append(q)
        return f"{len(ran)} of 12"

    script = [tool_call("poll", q=1) for _ in range(12)]
    assert play(make([*script, "done"], [poll]))[-1].text == "done"
    assert len(ran) == 12


# --- ends, raises, escalations ------------------------------------------------------------


@both
@pytest.mark.parametrize(
    "options", [{"strategies": "operator_safe"}, {"policy": ToolErrorPolicy.operator_safe()}]
)
def test_a_terminal_kind_ends_the_agent_without_asking_its_model(is_async, options):
    fail, ran = failing(Answered(401))
    model = ScriptedModel([calls(("fail", {}), ("search", {"q": 1}))], again=True)
    out = play(make(model, [fail, search], **options), is_async)
    assert (len(model.prompts), len(ran)) == (1, 1)
    assert [each.status for each in answers(out)] == ["error", "success"]


def test_a_terminal_kind_ends_the_agent_whatever_its_siblings_add():
    fail, _ = failing(Answered(401))
    model = ScriptedModel([calls(("fail", {}), ("say", {}))], again=True)
    play(make(model, [fail, say], strategies="operator_safe"))
    assert len(model.prompts) == 1


def test_a_terminal_kind_ends_one_turn_of_a_thread_only():
    fail, _ = failing(Answered(401))
    agent = make(
        [tool_call("fail"), "hello"],
        [fail],
        strategies="operator_safe",
        checkpointer=InMemorySaver(),
    )
    play(agent, thread_id="1")
    assert play(agent, thread_id="1")[-1].text == "hello"


def test_failures_raise_where_the_caller_wants_exceptions():
    fail, _ = failing(Answered(401))
    with pytest.raises(ToolErrorTerminal) as caught:
        play(make([tool_call("fail")], [fail], on_failure="raise", strategies="operator_safe"))
    assert isinstance(caught.value.__cause__, Answered)
    fail, _ = failing(Answered(503))
    with pytest.raises(ToolExecutionError):
        play(
            make([tool_call("fail")], [fail], on_failure="raise", limits={"attempts": 2, "wait": 1})
        )


def test_what_the_model_did_wrong_before_a_tool_ran_is_told_and_not_raised():
    out = play(make([tool_call("search", q="??"), "done"], [search], on_failure="raise"))
    assert "must be an integer" in texts(out)[0]


# --- LangChain's own ----------------------------------------------------------------------


@both
def test_injected_arguments_reach_the_tool_and_are_not_the_models(is_async):
    seen = []

    @tool
    def inside(
        q: int,
        state: Annotated[dict, InjectedState],
        call_id: Annotated[str, InjectedToolCallId],
        runtime: ToolRuntime,
    ) -> str:
        """Look."""
        seen.append((q, len(state["messages"]), call_id, runtime.tool_call_id))
        return "ok"

    out = play(make([calls(("inside", {"q": "1"})), "done"], [inside]), is_async)
    assert seen == [(1, 2, "c0", "c0")]
    assert texts(out) == ["ok"]


@both
def test_commands_and_artifacts_pass_through(is_async):
    @tool(response_format="content_and_artifact")
    def draw() -> tuple[str, Any]:
        """Draw."""
        return "drawn", {"pixels": 3}

    out = play(make([calls(("say", {}), ("draw", {})), "done"], [say, draw]), is_async)
    assert texts(out) == ["said", "drawn"]
    assert answers(out)[1].artifact == {"pixels": 3}
    assert any(each.text == "beside" for each in out)


@both
def test_a_tools_own_types_refuse_a_call_before_it_is_made(is_async):
    ran = []

    def even(value):
        if value % 2:
            raise ValueError("must be even")
        return value

    @on_error(deserialization_error=lambda error: Result(f"handled {error.raw['q']}"))
    def pay(q: Annotated[int, AfterValidator(even)]) -> str:
        """Pay."""
        ran.append(q)
        return "paid"

    out = play(make([tool_call("pay", q=3), tool_call("pay", q="4"), "done"], [pay]), is_async)
    assert (texts(out), ran) == (["handled 3", "paid"], [4])


@both
def test_an_error_that_a_tool_handles_itself_is_a_failure(is_async):
    @tool
    def refuse(q: int) -> str:
        """Refuse."""
        raise ToolException("not today")

    refuse.handle_tool_error = True
    (answer,) = answers(play(make([tool_call("refuse", q=1), "done"], [refuse]), is_async))
    assert answer.artifact["reason"] == "refused"
    assert "not today" in answer.text


@both
def test_an_interrupt_in_a_tool_passes_and_its_sibling_stays_done(is_async):
    ran = []

    @tool
    def confirm(q: int) -> str:
        """Ask."""
        return f"person: {interrupt('sure?')}"

    @reads
    def count(q: int) -> str:
        """Count."""
        ran.append(q)
        return "counted"

    agent = make(
        [calls(("confirm", {"q": "1"}), ("count", {"q": 1})), "done"],
        [confirm, count],
        checkpointer=InMemorySaver(),
    )
    config = {"configurable": {"thread_id": "1"}}

    def step(given):
        return (
            asyncio.run(agent.ainvoke(given, config)) if is_async else agent.invoke(given, config)
        )

    out = step({"messages": [HumanMessage("x")]})
    assert out["__interrupt__"][0].value == "sure?"
    out = step(Command(resume="yes"))
    assert texts(out["messages"]) == ["person: yes", "counted"]
    assert ran == [1]


def test_a_question_interrupts_only_where_a_person_may_be_asked():
    agent = make([tool_call("search"), "done"], [search], checkpointer=InMemorySaver())
    assert answers(play(agent, thread_id="1"))[0].artifact["reason"] == "needs_person"
    script = [AIMessage(""), tool_call("search"), "done"]
    agent = make(script, [search], checkpointer=InMemorySaver(), ask_person=True)
    config = {"configurable": {"thread_id": "1"}}
    out = agent.invoke({"messages": [HumanMessage("x")]}, config)
    question = out["__interrupt__"][0].value
    assert question["request"] == "x"
    answer = {"action": "answer", "value": 4, "question": question["id"]}
    out = agent.invoke(Command(resume=answer), config)
    assert texts(out["messages"]) == ["got 4"]


def test_an_async_tool_in_a_sync_agent_is_a_mistake_of_the_developer():
    @tool
    async def later(q: int) -> str:
        """Later."""
        return "ok"

    with pytest.raises(GraphSetupError, match="async"):
        play(make([tool_call("later", q=1)], [later]))
    assert texts(play(make([tool_call("later", q="1"), "done"], [later]), is_async=True)) == ["ok"]


def test_an_agent_inside_a_tool_has_calls_of_its_own():
    inner = make([tool_call("search", q="5"), "inner done"], [search])

    @reads
    def ask(q: int) -> str:
        """Ask."""
        inner_out = play(inner)
        return f"{texts(inner_out)[0]}, {q}"

    assert texts(play(make([tool_call("ask", q="1"), "done"], [ask]))) == ["got 5, 1"]


# --- the ledger and the trail -------------------------------------------------------------


def test_without_a_thread_the_run_of_the_agent_is_the_scope():
    fail, ran = failing(TimeoutError("no answer"), name="pay", effect="mutating")
    middleware = SelfCorrection()
    for expected in (1, 2):
        script = ScriptedModel([tool_call("pay", q=1), tool_call("pay", q=1), "sorry"])
        play(create_agent(script, [fail], middleware=[middleware]))
        assert len(ran) == expected


def test_the_trail_of_each_call_is_given():
    records = []
    script = [tool_call("search", q="1"), tool_call("zzz"), "done"]
    play(make(script, [search], on_trail=records.append))
    assert [each["executed"] for each in records] == [True, False]
    assert records[0]["call"] == {"name": "search", "args": {"q": "1"}}
    assert records[0]["trail"][-1]["outcome"] == "done"
    assert records[1]["failure"]["reason"] == "no_strategy"


class Unreadable(Exception):
    """What a provider raises where it cannot read the call that the model wrote."""

    def __init__(self, written):
        super().__init__("the call could not be read")
        self.body = {"error": {"message": "Failed to call search.", "failed_generation": written}}


@pytest.mark.parametrize("is_async", [False, True])
def test_a_call_that_a_providers_error_holds_is_made(is_async):
    model = ScriptedModel([Unreadable('<function=search>{"q": "7"}</function>'), "done"])
    messages = play(make(model, [search]), is_async)
    assert texts(messages) == ["got 7"]


@pytest.mark.parametrize("written", ["", "search", "I would search(q=7).", "drop(q=7)"])
def test_another_error_of_a_provider_is_raised(written):
    with pytest.raises(Unreadable):
        play(make(ScriptedModel([Unreadable(written)]), [search]))


def test_an_idempotency_key_is_the_runtimes_and_no_model_sees_it():
    keys = []

    def charge(amount: int, idempotency_key: str) -> str:
        """Charge."""
        keys.append(idempotency_key)
        return "charged"

    model = ScriptedModel([tool_call("charge", amount="5"), "done"])
    messages = make(model, [charge]).invoke({"messages": "x"})["messages"]
    (shown,) = model.bound_tools
    assert "idempotency_key" not in str(shown)
    assert "amount" in str(shown)
    assert len(keys) == len(keys[0]) // 32 == 1
    assert messages[1].tool_calls[0]["args"] == {"amount": 5}


def test_a_call_beside_a_hand_over_is_answered_from_the_ledger_in_the_next_agent():
    paid, ledger = [], MemoryLedger()

    @tool
    def pay(to: str) -> str:
        """Pay."""
        paid.append(to)
        return f"receipt for {to}"

    @tool
    def hand_over(state: Annotated[dict, InjectedState]) -> Command:
        """Hand the user over to another agent."""
        return Command(goto="b", graph=Command.PARENT, update={"messages": state["messages"]})

    pay.metadata = {"effect": "mutating"}
    calls = [
        {"name": "pay", "args": {"to": "ann"}, "id": "c1"},
        {"name": "hand_over", "args": {}, "id": "c2"},
    ]
    asked = ScriptedModel(["It is paid."])
    graph = StateGraph(MessagesState)
    agents = {"a": ScriptedModel([AIMessage("", tool_calls=calls)]), "b": asked}
    for name, model in agents.items():
        ours = SelfCorrection(ledger=ledger)
        graph.add_node(name, create_agent(model, [pay, hand_over], middleware=[ours]))
    graph.add_edge(START, "a")
    thread = {"configurable": {"thread_id": "t"}}
    graph.compile(checkpointer=InMemorySaver()).invoke({"messages": "pay ann"}, thread)
    assert paid == ["ann"]
    (prompt,) = asked.prompts
    answers = {each.tool_call_id: each for each in prompt if isinstance(each, ToolMessage)}
    assert (answers["c1"].text, answers["c1"].status) == ("receipt for ann", "success")
