"""A model that fails, and a model that would change what was written."""

import asyncio
import ssl

import httpx
import pytest
from kit import INTEGER, TEXT, Tool, table
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.outputs import ChatGenerationChunk
from langgraph.errors import GraphRecursionError

from selfcorrect import (
    AskModel,
    ErrorRule,
    GraphSetupError,
    NotDone,
    SelfCorrection,
    StrategyMap,
    ToolSpec,
    build_graph,
)
from selfcorrect.policies import RespondWith, Rethrow, RetryModel
from selfcorrect.testing import ScriptedModel, VirtualTime, play, tool_call


def say(text: str) -> str:
    """Say."""
    return text


SAY = ToolSpec.from_function(say, effect="read_only")


class Status(Exception):
    def __init__(self, status, wait=None):
        super().__init__(f"status {status}")
        self.status_code = status
        self.retry_after = wait


class OwnRetries(ScriptedModel):
    max_retries: int | None = 2


class ClientsRetries(ScriptedModel):
    max_retries: int | None = None


class NoRetries(ScriptedModel):
    max_retries: int | None = 0


def ask_graph(model, decide=None, is_async=False):
    graph = build_graph([SAY], model=model, on_failure="raise", on_model_error=decide)
    given = {"request": "say a"}
    out = asyncio.run(graph.ainvoke(given)) if is_async else graph.invoke(given)
    return out["result"]


def ask_agent(model, decide=None, is_async=False):
    agent = create_agent(model, [say], middleware=[SelfCorrection(on_model_error=decide)])
    given = {"messages": "say a"}
    out = asyncio.run(agent.ainvoke(given)) if is_async else agent.invoke(given)
    return out["messages"][-1].text


HOSTS = pytest.mark.parametrize("ask", [ask_graph, ask_agent])
BOOM = ValueError("boom")


def answer_for(ask, text="a"):
    return tool_call("say", text=text) if ask is ask_graph else AIMessage(text)


@HOSTS
@pytest.mark.parametrize("decide", [None, lambda _: Rethrow()])
def test_an_error_of_a_model_is_raised_as_it_is(ask, decide):
    with pytest.raises(ValueError, match="boom") as raised:
        ask(ScriptedModel([BOOM]), decide)
    assert raised.value is BOOM


@HOSTS
def test_a_handler_answers_in_the_place_of_a_model(ask):
    assert ask(ScriptedModel([BOOM]), lambda _: RespondWith(answer_for(ask))) == "a"


@HOSTS
@pytest.mark.parametrize("is_async", [False, True])
def test_a_handler_asks_the_model_again_and_may_change_its_mind(ask, is_async):
    last, seen = ValueError("last"), []
    wait = RetryModel(9, 0)
    model = ScriptedModel([BOOM, BOOM, answer_for(ask)])
    assert ask(model, lambda _: wait, is_async) == "a"
    assert len(model.prompts) == 3
    model = ScriptedModel([BOOM, last, answer_for(ask)])
    with pytest.raises(ValueError, match="last") as raised:
        ask(model, lambda error: seen.append(error) or (wait if error is BOOM else Rethrow()))
    assert raised.value is last
    assert seen == [BOOM, last]


def test_a_handlers_answer_must_be_a_message():
    with pytest.raises(GraphSetupError, match="not a message or a text"):
        ask_agent(ScriptedModel([BOOM]), lambda _: RespondWith(5))


PASSING = [
    *[ConnectionResetError("x"), OSError(113, "No route to host"), httpx.ConnectError("x")],
    *[ssl.SSLEOFError(8, "EOF"), *map(Status, (408, 429, 500, 502, 503, 504))],
]
LASTING = [
    *[TimeoutError("x"), httpx.ReadTimeout("x"), ssl.SSLCertVerificationError(1, "x")],
    *[FileNotFoundError(2, "x", "f"), *map(Status, (400, 401, 404, 409, 501)), Status(503, 3_600)],
    *[ValueError("503 Service Unavailable"), RuntimeError("connection reset, try again")],
]


def waits(error, model=ScriptedModel):
    """Return how often a model is asked whose every call fails so, and the waits between."""
    clock, asked = VirtualTime(), model([error] * 9)
    with pytest.raises(type(error)):
        play([SAY], {"request": "x"}, model=asked, time=clock, on_failure="raise")
    return len(asked.prompts), clock.slept


@pytest.mark.parametrize("error", PASSING, ids=repr)
def test_a_request_that_failed_in_transport_is_sent_three_times(error):
    assert waits(error) == (3, [0.25, 0.5])
    assert waits(error, NoRetries) == (3, [0.25, 0.5])
    assert waits(error, OwnRetries) == waits(error, ClientsRetries) == (1, [])


@pytest.mark.parametrize("error", LASTING, ids=repr)
def test_any_other_error_is_not_repeated(error):
    assert waits(error) == (1, [])


@HOSTS
@pytest.mark.parametrize(("most", "asked"), [(2, 3), (4, 4)])
def test_attempts_of_transport_count_among_a_handlers(ask, most, asked):
    model = ScriptedModel([ConnectionResetError("x")], again=True)
    with pytest.raises(ConnectionResetError):
        ask(model, lambda _: RetryModel(most, 0))
    assert len(model.prompts) == asked


@HOSTS
@pytest.mark.parametrize("group", [[], [ExceptionGroup]])
def test_control_flow_is_nobodys_to_decide_about(ask, group):
    error = GraphRecursionError("deep")
    for each in group:
        error = each("several", [error])
    with pytest.raises(type(error)):
        ask(ScriptedModel([error]), lambda _: RespondWith("swallowed"))


def test_a_wait_that_the_provider_asks_for_is_a_floor():
    assert waits(Status(429, 7)) == (3, [7, 7])


class Torn(ScriptedModel):
    """Streams a piece, and fails."""

    def _stream(self, messages, stop=None, run_manager=None, **_):
        self.prompts.append(messages)
        chunk = ChatGenerationChunk(message=AIMessageChunk("half"))
        if run_manager:
            run_manager.on_llm_new_token("half", chunk=chunk)
        yield chunk
        raise ConnectionResetError("torn")


def test_what_was_streamed_in_part_is_not_asked_for_again():
    model = Torn([])
    agent = create_agent(model, [say], middleware=[SelfCorrection()])
    with pytest.raises(ConnectionResetError):
        list(agent.stream({"messages": "x"}, stream_mode="messages"))
    assert len(model.prompts) == 1


@pytest.mark.parametrize("effect", ["read_only", None, "destructive"])
@pytest.mark.parametrize(("schema", "written", "answer", "may"), table("replaces.txt", "a model"))
def test_a_model_replaces_no_written_value_on_a_tool_that_acts(
    effect, schema, written, answer, may
):
    tool = Tool(effect=effect, schema=schema, required=["q"])
    given = {"call": {"name": "t", "args": written}, "request": "please"}
    play([tool.spec], given, model=ScriptedModel([answer], again=True))
    may_run = effect == "read_only" or (may and effect is None)
    assert tool.ran == ([answer] if may_run else [])


def test_a_rule_lets_a_model_replace_a_value():
    rule = ErrorRule(
        id="seats",
        error="InvalidArgs",
        kind="validation",
        repair=["ask"],
        allow=["model"],
        priority="critical",
    )
    model, tool = ScriptedModel([{"q": 3}]), Tool(effect="mutating", required=["q"])
    strategies = StrategyMap(
        [rule],
        extends=["default"],
        use={"ask": AskModel(model=model)},
        policy={"allow": ["exact", "model"]},
    )
    given = {"call": {"name": "t", "args": {"q": "2.5"}}, "request": "please"}
    play([tool.spec], given, strategies=strategies)
    assert tool.ran == [{"q": 3}]


def answers_of(model_says, *errors, **beside):
    """Return what a model's answers made a tool run with, behind errors of the tool."""
    tool = Tool(*errors, effect="mutating", schema={"to": TEXT, "amount": INTEGER}, required=["to"])
    given = {"call": {"name": "t", "args": {"amount": 5}}, **beside}
    model = ScriptedModel([{"to": each} for each in model_says], again=True)
    play([tool.spec], given, model=model)
    return [each["to"] for each in tool.ran]


def test_what_an_earlier_error_said_is_still_no_value():
    said = ["zed", "eve"]
    errors = [NotDone("unknown recipient zed, use eve"), NotDone("unknown recipient")]
    assert "eve" not in answers_of(said, *errors, request="pay zed")


@pytest.mark.parametrize(
    "message", [{"role": "user", "content": "please pay eve"}, HumanMessage("please pay eve")]
)
def test_what_the_user_said_in_the_conversation_is_a_value(message):
    assert answers_of(["eve"], messages=[message]) == ["eve"]
