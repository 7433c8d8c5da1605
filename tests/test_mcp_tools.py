"""Tools of a real MCP server: what a call came to, and what a server may say."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from kit import table

pytest.importorskip("mcp")
pytest.importorskip("langchain_mcp_adapters")

from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from selfcorrect import GraphSetupError, SelfCorrection, build_graph
from selfcorrect.integrations.mcp import adapter_tools, session_tools
from selfcorrect.testing import ScriptedModel, tool_call

SERVER = str(Path(__file__).with_name("mcp_server.py"))


@pytest.fixture
def served(tmp_path):
    """Returns what a coroutine of a session comes to, and the arguments of the server's calls."""

    def run(use, pages="all"):
        log = tmp_path / "calls"
        log.touch()
        server = StdioServerParameters(command=sys.executable, args=[SERVER, str(log), pages])

        async def main():
            async with stdio_client(server) as streams, ClientSession(*streams) as session:
                await session.initialize()
                return await use(session)

        out = asyncio.run(main())
        return out, [json.loads(line) for line in log.read_text().splitlines()]

    return run


def graph_call(name, args=None, **options):
    async def use(session):
        graph = build_graph(await session_tools(session, **options))
        return await graph.ainvoke({"call": {"name": name, "args": args or {"q": 1}, "id": "c1"}})

    return use


VALUES = dict(table("mcp.txt", "values"))


@pytest.mark.parametrize("name", VALUES)
def test_a_result_loses_nothing(served, name):
    out, called = served(graph_call(name))
    assert (out["result"], called) == (VALUES[name], [{"q": 1}])


def test_arguments_are_repaired_before_the_server_sees_them(served):
    out, called = served(graph_call("A_text", {"Q": "three"}))
    assert (out["result"], called) == ("3 rows", [{"q": 3}])


FAILURES = dict(table("mcp.txt", "failures"))


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_told_in_the_words_of_the_server_and_not_repeated(served, name):
    out, called = served(graph_call(name))
    attempts = out["failure"]["attempts"]
    assert ([each["outcome"] for each in attempts], len(called)) == ([FAILURES[name]], 1)
    assert "no such row" in out["failure"]["for_model"]


@pytest.mark.parametrize("name", ["silent", "dies"])
def test_a_call_without_an_answer_is_lost(served, name):
    out, called = served(graph_call(name, seconds=2))
    assert (out["failure"]["reason"], len(called)) == ("unknown_outcome", 1)


CLAIMS = dict(table("mcp.txt", "claims"))


@pytest.mark.parametrize("trust", [True, False])
def test_hints_count_only_where_the_server_is_trusted(served, trust):
    async def use(session):
        adapted = adapter_tools(await load_mcp_tools(session), trust=trust)
        return await session_tools(session, trust=trust), adapted

    (specs, adapted), _ = served(use)
    effects = {each.name: each.effect if each.declared else None for each in specs}
    said = {each.name: (each.metadata or {}).get("effect") for each in adapted}
    for name, effect in CLAIMS.items():
        assert effects[name] == said[name] == (effect if trust else None)


LISTS = {"all": 34, "pages": 34, "same": 1}


@pytest.mark.parametrize("pages", LISTS)
def test_the_list_of_tools_is_read_to_its_end(served, pages):
    specs, _ = served(session_tools, pages)
    assert len({each.name for each in specs}) == len(specs) == LISTS[pages]


def test_a_list_of_tools_without_an_end_is_refused(served):
    async def use(session):
        with pytest.raises(GraphSetupError, match="pages"):
            await session_tools(session)

    served(use, "endless")


@pytest.mark.parametrize("name", ["invalid_request", "no_session"])
def test_a_session_that_has_ended_blames_no_argument(served, name):
    out, _ = served(graph_call(name))
    assert "nothing was done" in out["failure"]["for_model"]
    assert [each["kind"] for each in out["failure"]["findings"]] == ["internal"]
    assert out["failure"]["findings"][0]["paths"] == []


def agent_calls(adapt, *names):
    async def use(session):
        tools = adapt(await load_mcp_tools(session))
        turns = [tool_call(name, f"c{n}", q="1") for n, name in enumerate(names)]
        agent = create_agent(ScriptedModel([*turns, "done"]), tools, middleware=[SelfCorrection()])
        out = (await agent.ainvoke({"messages": "x"}))["messages"]
        return [each for each in out if isinstance(each, ToolMessage)]

    return use


@pytest.mark.parametrize("name", ["refused", "internal"])
def test_an_agent_reads_the_words_of_the_server(served, name):
    (answer,), called = served(agent_calls(adapter_tools, name))
    assert (answer.status, len(called)) == ("error", 1)
    assert "no such row" in answer.text


@pytest.mark.parametrize("adapt", [adapter_tools, list])
def test_a_tool_that_claims_to_read_is_not_called_again_after_a_lost_call(served, adapt):
    def lose(tools):
        (tool,) = [each for each in adapt(tools) if each.name == "claims"]

        async def call(**_):
            raise ConnectionError("broken")

        return [tool.model_copy(update={"coroutine": counted(call)})]

    ran = []

    def counted(call):
        async def counting(**args):
            ran.append(args)
            return await call(**args)

        return counting

    answers, _ = served(agent_calls(lose, "claims", "claims"))
    assert [each.status for each in answers] == ["error", "error"]
    assert len(ran) == 1


@pytest.mark.parametrize("adapt", [None, adapter_tools, lambda tools: tools])
def test_an_odd_schema_takes_away_its_own_tool_only(served, adapt):
    async def use(session):
        if adapt is None:
            return [tool.name for tool in await session_tools(session)]
        tools = adapt(await load_mcp_tools(session))
        model = ScriptedModel([tool_call("an_object", q="1"), "done"])
        agent = create_agent(model, tools, middleware=[SelfCorrection()])
        out = await agent.ainvoke({"messages": "x"})
        assert out["messages"][-2].status == "success"
        return [each["function"]["name"] for each in model.bound_tools]

    with pytest.warns(RuntimeWarning, match="left out: tool 'odd': the schema .* is unusable"):
        names, _ = served(use, "odd")
    assert "an_object" in names
    assert "odd" not in names
