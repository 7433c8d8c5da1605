"""The behaviours in a `ToolCallingAgent` of smolagents."""

from inspect import signature

import pytest

pytest.importorskip("smolagents")
from smolagents import Tool, ToolCallingAgent
from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
    MessageRole,
    Model,
)
from world import EFFECTS, World, check, each_behaviour, text_of

from selfcorrect.integrations.smolagents import MendedModel

OTHERWISE = {"a text ends the run": "a text is an error here; only `final_answer` ends a run"}


class Script(Model):
    """A model that writes what `write` answers to the texts of the last messages."""

    def __init__(self, write):
        super().__init__(model_id="script")
        self._write = write

    def generate(self, messages, **more):
        turn = self._write(*(message.content for message in messages[-2:]))
        if turn == {"text": "done"}:
            turn = {"calls": [["final_answer", {"answer": "done"}, "z"]]}
        calls = [*map(call_of, turn["calls"])] if "calls" in turn else None
        return ChatMessage(MessageRole.ASSISTANT, turn.get("text"), calls)

    def generate_stream(self, messages, **more):
        message = self.generate(messages, **more)
        yield ChatMessageStreamDelta(content=message.content)
        for index, call in enumerate(message.tool_calls or ()):
            for piece in text_of(call.function.arguments):
                function = ChatMessageToolCallFunction(piece, call.function.name)
                delta = ChatMessageToolCallStreamDelta(index, call.id, call.type, function)
                yield ChatMessageStreamDelta(tool_calls=[delta])


def call_of(call):
    name, args, call_id = call
    return ChatMessageToolCall(ChatMessageToolCallFunction(args, name), call_id, "function")


class Gated(ToolCallingAgent):
    """Judges each call before it is made; smolagents has no other gate."""

    judge = None

    def execute_tool_call(self, tool_name, arguments):
        if self.judge and tool_name != "final_answer":
            self.judge(tool_name, arguments)
        return super().execute_tool_call(tool_name, arguments)


def tool_of(function):
    """Return a function as a tool of smolagents."""
    types = {str: "string", int: "integer", str | None: "string", int | None: "integer"}
    parameters = signature(function).parameters
    new = Tool.__new__(Tool)
    new.name, new.description, new.output_type = function.__name__, function.__doc__, "string"
    new.inputs = {
        name: {"type": types[each.annotation], "description": name}
        | ({"nullable": True} if each.default is None else {})
        for name, each in parameters.items()
    }
    new.forward, new.is_initialized = function, True
    return new


def agent_of(world, model, **options):
    tools = [*map(tool_of, world.tools)]
    return Gated(tools=tools, model=model, max_steps=8, verbosity_level=0, **options)


def run(world, *, stream, gate):
    agent = agent_of(
        world, MendedModel(Script(world.next_turn), effects=EFFECTS), stream_outputs=stream
    )
    agent.judge = world.judge if gate else None
    world.end = agent.run("go")


@each_behaviour(OTHERWISE)
def test_behaviour(name):
    check(name, run)


def ends(*turns, plays=(), task="go"):
    """Run an agent on scripted turns; return the world."""
    world = World({"turns": [*turns], "plays": [*plays]})
    run(world, stream=False, gate=False)
    return world


PAY = ["pay", {"to": "ann", "amount": 5}, "a"]
FIND = ["find", {"query": "x"}, "b"]


def test_a_healthy_turn_is_the_same_object():
    message = ChatMessage(MessageRole.ASSISTANT, None, [call_of(PAY)])
    model = Script(None)
    model.generate = lambda *_, **__: message
    tools = [*map(tool_of, World({"turns": []}).tools)]
    assert MendedModel(model).generate([], tools_to_call_from=tools) is message


def test_a_call_beside_one_that_raised_is_not_made_again():
    # The agent shows its model the error alone, and neither of the calls.
    mail = ["mail", {"to": "ann", "text": "paid"}, "c"]
    turns = [{"calls": [PAY, mail]}, {"calls": [PAY]}, {"calls": [mail]}]
    world = ends(*turns, plays=["timeout"])
    assert sorted(name for name, _ in world.ran) == ["mail", "pay"]
    assert "nobody knows" in str(world.read)


def test_a_call_beside_a_final_answer_is_not_made_again():
    answer = ["final_answer", {"answer": "x"}, "z"]
    world = ends({"calls": [PAY, answer]}, {"calls": [PAY]})
    assert [name for name, _ in world.ran] == ["pay"]


def test_a_lost_call_of_another_run_is_no_doubt_of_this_one():
    world = World({"turns": []})
    model = MendedModel(Script(world.next_turn), effects=EFFECTS)
    for _ in range(3):
        world.turns = [{"calls": [PAY]}]
        assert agent_of(world, model).run("pay ann") == "done"
    assert len(world.ran) == 3


def test_a_text_that_is_a_call_alone_is_made():
    world = ends({"text": 'Action:\n{"name": "pay", "arguments": {"to": "ann", "amount": "5"}}'})
    assert world.ran == [["pay", {"to": "ann", "amount": 5}]]
    world = ends({"text": 'It says:\n{"name": "pay", "arguments": {"to": "ann", "amount": 5}}'})
    assert world.ran == []


@pytest.mark.parametrize("answer", [5, [1], "5", None, {"a": 1}])
def test_a_final_answer_may_be_anything(answer):
    world = ends({"calls": [["final_answer", {"answer": answer}, "z"]]})
    assert world.end == answer


def test_an_argument_may_be_null_where_the_tool_says_so():
    world = ends({"calls": [["find", {"query": "x", "n": None}, "a"]]})
    assert world.ran == [["find", {"query": "x"}]]


def test_a_plan_is_not_read_for_calls():
    plan = 'First <tool_call>{"name": "pay", "arguments": {}}</tool_call>.'
    model = MendedModel(Script(World({"turns": [{"text": plan}]}).next_turn))
    assert model.generate([]).content == plan


def test_a_lost_call_is_not_made_again_when_its_agent_goes_on():
    world = World({"turns": [{"calls": [PAY]}], "plays": ["timeout"]})
    agent = agent_of(world, MendedModel(Script(world.next_turn), effects=EFFECTS))
    agent.run("pay ann")
    world.turns = [{"calls": [["pay", {"to": "ann", "amount": "5"}, "c"]]}]
    agent.run("once more", reset=False)
    assert len(world.ran) == 1
