"""The behaviours in an agent of LangChain with our own middleware."""

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage
from world import EFFECTS, check, each_behaviour

from selfcorrect import SelfCorrection
from selfcorrect.testing import ScriptedModel

OTHERWISE = {
    "a sibling of a hopeless call runs once": "it runs at once, beside an answer about the other",
    "a lost reading is made again": "it is made again at once, without asking the model",
}


class Gate(AgentMiddleware):
    """Notes the calls that it lets pass."""

    def __init__(self, world):
        self.world = world

    def wrap_tool_call(self, request, handler):
        self.world.judge(request.tool_call["name"], request.tool_call["args"])
        return handler(request)


def run(world, *, stream, gate):
    def write(messages):
        turn = world.next_turn(*(message.text for message in messages[-2:]))
        message = AIMessage(turn.get("text", ""), tool_calls=[], invalid_tool_calls=[])
        for name, args, i in turn.get("calls", ()):
            call = {"name": name, "args": args, "id": i}
            if isinstance(args, str):
                broken = {**call, "error": "", "type": "invalid_tool_call"}
                message.invalid_tool_calls.append(broken)
            else:
                message.tool_calls.append({**call, "type": "tool_call"})
        return message

    gates = [Gate(world)] if gate else []
    agent = create_agent(
        ScriptedModel([write], again=True),
        world.tools,
        middleware=[SelfCorrection(effects=EFFECTS), *gates],
    )
    given = {"messages": [("user", "go")]}
    if stream:
        *_, last = agent.stream(given, stream_mode="values")
    else:
        last = agent.invoke(given)
    world.end = last["messages"][-1].text


@each_behaviour(OTHERWISE)
def test_behaviour(name):
    check(name, run)
