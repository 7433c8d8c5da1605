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
from world import EFFECTS, check, each_behaviour, text_of

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
