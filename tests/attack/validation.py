"""A1h: the host's validation in a traceback, with and without the tool's own code in it."""

from __future__ import annotations

import asyncio
import functools
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Annotated, Any

from attack.core import Case, attack, keeps
from attack.hosts import DEPLOYED, MAPS, native, shown
from attack.inventing import PEOPLE, own_class, tool_name
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from pydantic import AfterValidator, BaseModel, create_model, validate_call
from typing_extensions import TypedDict

from selfcorrect import SelfCorrection, ToolSpec, build_graph
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.testing import ScriptedModel

CABINS = ("economy", "business", "first")
HOSTS = ("graph", "async graph", "agent", "async agent", "tool node")
Done = list[Any]


class State(TypedDict, total=False):
    to: str
    amount: int
    cabin: str


def cabin_of(value: str) -> str:
    if value not in CABINS:
        raise ValueError(f"cabin must be one of: {', '.join(map(repr, CABINS))}")
    return value


def inner_tool(rng: Random) -> BaseTool:
    """A tool that another one calls, and that refuses in words from which a rule mends."""

    def reserve(cabin: str, seats: int = 1) -> str:
        return f"{cabin} {seats}"

    way = rng.choice(["validator", "validator", "validator", "missing", "type"])
    fields: dict[str, Any] = {
        "validator": {"cabin": (Annotated[str, AfterValidator(cabin_of)], ...), "seats": (int, 1)},
        "missing": {"cabin": (str, ...), "seats": (int, ...)},
        "type": {"cabin": (int, ...), "seats": (int, 1)},
    }[way]
    return StructuredTool.from_function(
        reserve,
        name=rng.choice(["reserve", "hold_seat", "book_seat"]),
        description="Reserve a cabin.",
        args_schema=create_model("Reserve", **fields),
    )


def args_of(rng: Random) -> dict[str, Any]:
    return {"to": rng.choice(PEOPLE), "amount": rng.randint(2, 900), "cabin": "Business"}


def effect_of(rng: Random) -> Any:
    return rng.choice(["mutating", "destructive", None])


def play(host: str, tool: Any, args: dict[str, Any], strategies: str) -> None:
    """One native call of a LangChain tool, a `ToolSpec` in the graphs."""
    call = {"name": tool.name, "args": args, "id": "c0"}
    if host == "graph":
        build_graph([tool], strategies=strategies).invoke({"call": call})
    elif host == "async graph":
        asyncio.run(build_graph([tool], strategies=strategies).ainvoke({"call": call}))
    elif host.endswith("agent"):
        model = ScriptedModel([native((tool.name, args)), *["done"] * 9])
        agent: Any = create_agent(model, [tool], middleware=[SelfCorrection(strategies=strategies)])
        given = {"messages": [HumanMessage("please")]}
        asyncio.run(agent.ainvoke(given)) if host == "async agent" else agent.invoke(given)
    else:
        builder: Any = StateGraph(MessagesState)
        builder.add_node("tools", SelfCorrectingToolNode([tool], strategies=strategies))
        builder.add_edge(START, "tools")
        builder.add_edge("tools", END)
        builder.compile().invoke({"messages": [native((tool.name, args))]})


def once(rng: Random, tool: Any, done: Done, text: str, hosts: tuple[str, ...] = HOSTS) -> Case:
    host, strategies = rng.choice(hosts), rng.choice([*MAPS, *DEPLOYED * 2])
    args = args_of(rng)

    def run() -> str | None:
        try:
            play(host, tool, args, strategies)
        except Exception as error:  # a host may raise: what counts is what was done
            return f"did not run: {error!r}" if not done else _more(done)
        return _more(done) or (None if done else "the tool's own code was not reached")

    return Case(f"{text}; {host}; {strategies.rsplit('/', 1)[-1]}; {shown(args)}", run)


def _more(done: Done) -> str | None:
    return f"executed {len(done)} times: {done}" if len(done) > 1 else None


def structured(rng: Random, func: Callable[..., Any], effect: Any, **more: Any) -> StructuredTool:
    async def coroutine(to: str, amount: int, cabin: str) -> Any:
        return func(to=to, amount=amount, cabin=cabin)

    return StructuredTool.from_function(
        func,
        coroutine if rng.random() < 0.5 else None,
        name=tool_name(rng),
        description="Pay, and take a seat.",
        metadata={"effect": effect} if effect else {},
        **more,
    )


def calling_wrongly(rng: Random, inner: BaseTool) -> tuple[str, Callable[[Any], Any]]:
    """How a tool's own code comes to another tool, with arguments that its host refuses."""
    wrong = {"cabin": "Business"}

    def in_thread(_: Any) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(inner.invoke, wrong).result()

    def in_node(_: Any) -> Any:
        builder: Any = StateGraph(MessagesState)
        builder.add_node("tools", ToolNode([inner], handle_tool_errors=False))
        builder.add_edge(START, "tools")
        return builder.compile().invoke({"messages": [native((inner.name, wrong))]})

    ways: dict[str, Callable[[Any], Any]] = {
        "invoke": lambda _: inner.invoke(wrong),
        "run": lambda _: inner.run(wrong),
        "batch": lambda _: inner.batch([wrong]),
        "a call with an id": lambda _: inner.invoke(
            {"type": "tool_call", "name": inner.name, "args": wrong, "id": "x"}
        ),
        "a thread": in_thread,
        "a ToolNode": in_node,
        "a chain": lambda _: (RunnableLambda(lambda x: x) | inner).invoke(wrong),
        "with_retry": lambda _: inner.with_retry(
            stop_after_attempt=2, wait_exponential_jitter=False
        ).invoke(wrong),
        "with_fallbacks": lambda _: inner.with_fallbacks([inner]).invoke(wrong),
        "a ToolSpec": lambda _: ToolSpec.from_langchain(inner).run(wrong),
        "a partial": functools.partial(lambda given, _: inner.invoke(given), wrong),
    }
    way = rng.choice([*ways])
    return way, ways[way]


def passing_on(rng: Random, work: Callable[[Any], Any]) -> tuple[str, Callable[[Any], Any]]:
    """How the error of the inner tool leaves the outer one."""
    kind = rng.choice([ValueError, RuntimeError, own_class(rng), own_class(rng, ValueError)])
    way = rng.choice(["as it is", "from", "during", "later", "twice", "as a note"])

    def wrapped(given: Any) -> Any:
        if way == "as it is":
            return work(given)
        kept: Exception | None = None
        try:
            return work(given)
        except Exception as error:
            if way == "from":
                raise kind(str(error)) from error
            if way == "during":
                raise kind(str(error))  # noqa: B904
            if way == "as a note":
                error.add_note("while paying")
                raise
            if way == "twice":
                middle = kind(str(error))
                middle.__cause__ = error
                raise kind("again") from middle
            kept = error
        raise kept

    return f"{way} ({kind.__name__})", wrapped


@attack("A1h")
def its_code_calls_another_tool(rng: Random) -> Case:
    done: Done = []
    way, work = calling_wrongly(rng, inner_tool(rng))
    how, work = passing_on(rng, work)

    def pay(to: str, amount: int, cabin: str) -> Any:
        done.append((to, amount, cabin))
        return work(to)

    tool = structured(rng, pay, effect_of(rng))
    return once(rng, tool, done, f"{tool.metadata} calls another by {way}, passes on {how}")


@attack("A1h")
def a_function_calls_another_tool(rng: Random) -> Case:
    """As above, and the library itself calls the function."""
    done: Done = []
    way, work = calling_wrongly(rng, inner_tool(rng))
    how, work = passing_on(rng, work)
    is_strict = rng.random() < 0.5
    kind: Any = Annotated[str, AfterValidator(str)] if is_strict else str

    def pay(to: str, amount: int, cabin: str) -> Any:
        done.append((to, amount, cabin))
        return work(to)

    pay.__annotations__["cabin"] = kind
    effect = effect_of(rng)
    spec = ToolSpec.from_function(pay, effect=effect, name=tool_name(rng))
    text = f"{effect} function calls another by {way}, passes on {how}, converts={is_strict}"
    return once(rng, spec, done, text, ("graph", "async graph"))


def as_tool(runnable: Any, name: str, effect: Any) -> Any:
    kinds = {"to": str, "amount": int, "cabin": str}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LangChain calls `as_tool` beta
        tool = runnable.as_tool(name=name, description="Pay, take a seat.", arg_types=kinds)
    tool.metadata = {"effect": effect} if effect else {}
    return tool


@attack("A1h")
def a_chain_is_the_tool(rng: Random) -> Case:
    """The registered callable is LangChain's own: no frame of the author's code in between."""
    done: Done = []
    inner = inner_tool(rng)

    def pay(given: dict[str, Any]) -> dict[str, Any]:
        done.append(given)
        return {"cabin": given["cabin"]}

    last: Any = inner
    if rng.random() < 0.4:
        last = rng.choice(
            [
                inner.with_fallbacks([inner]),
                RunnableLambda(inner.invoke),
                inner.with_config(tags=["x"]),
                inner | RunnableLambda(str),
            ]
        )
    chain: Any = RunnableLambda(pay) | last
    effect = effect_of(rng)
    tool = as_tool(chain, tool_name(rng), effect)
    return once(rng, tool, done, f"{effect} chain that ends in {type(last).__name__}")


@attack("A1h")
def a_graph_is_the_tool(rng: Random) -> Case:
    """One node acts, the next one is a tool: all frames between are LangGraph's."""
    done: Done = []
    inner = inner_tool(rng)

    def pay(state: State) -> dict[str, Any]:
        done.append(dict(state))
        return {"cabin": "Business"}

    builder: Any = StateGraph(State)
    builder.add_node("pay", pay)
    builder.add_node("reserve", inner)
    builder.add_edge(START, "pay")
    builder.add_edge("pay", "reserve")
    graph: Any = builder.compile()
    effect, name = effect_of(rng), tool_name(rng)
    if rng.random() < 0.5:
        tool = as_tool(graph, name, effect)
        return once(rng, tool, done, f"{effect} graph as tool")

    def call(**given: Any) -> Any:
        return graph.invoke(given)

    schema = {
        "name": name,
        "parameters": {
            "type": "object",
            "properties": {
                "to": {"type": "string"},
                "amount": {"type": "integer"},
                "cabin": {"type": "string"},
            },
        },
    }
    spec = ToolSpec.from_schema(schema, call=call, effect=effect)
    return once(rng, spec, done, f"{effect} graph behind a schema", ("graph", "async graph"))


@attack("A1h")
def a_tool_of_its_own_class(rng: Random) -> Case:
    """Its `_run` acts, then uses the very parser that the host used before it."""
    done: Done = []
    way = rng.choice(["parse", "to args", "invoke", "model", "super"])
    effect = effect_of(rng)

    class Args(BaseModel):
        to: str
        amount: int
        cabin: str

    class Own(BaseTool):
        name: str = tool_name(rng)
        description: str = "Pay, and take a seat."
        args_schema: Any = Args

        def _run(self, to: str, amount: int, cabin: str) -> Any:
            done.append((to, amount, cabin))
            wrong = {"to": to}
            if way == "parse":
                return self._parse_input(wrong, None)
            if way == "to args":
                return self._to_args_and_kwargs(wrong, None)
            if way == "invoke":
                return self.invoke(wrong)
            if way == "super":
                return super().run(wrong)
            return Args(**wrong)  # type: ignore[arg-type]

    tool = Own(metadata={"effect": effect} if effect else {})
    return once(rng, tool, done, f"{effect} own class, {way}")


@attack("A1h")
def its_code_validates_for_itself(rng: Random) -> Case:
    """An error of the very same class and words, made by the tool's own code."""
    done: Done = []
    way = rng.choice(["model", "validate_call", "the tool's own schema"])
    effect = effect_of(rng)
    model = create_model("Pay", cabin=(Annotated[str, AfterValidator(cabin_of)], ...))

    @validate_call
    def reserve(cabin: Annotated[str, AfterValidator(cabin_of)]) -> str:
        return cabin

    def pay(to: str, amount: int, cabin: str) -> Any:
        done.append((to, amount, cabin))
        if way == "model":
            return model(cabin=cabin)
        if way == "validate_call":
            return reserve(cabin)
        schema: Any = tool.args_schema
        return schema(to=to, amount="much", cabin=cabin)

    tool = structured(rng, pay, effect)
    return once(rng, tool, done, f"{effect} validates by {way}")


# --- What must go on working -------------------------------------------------------------------


def mended(rng: Random, tool: Any, done: Done, hosts: tuple[str, ...], text: str) -> Case:
    host, args = rng.choice(hosts), args_of(rng)

    def run() -> str | None:
        play(host, tool, args, "default")
        right = [(args["to"], args["amount"], "business")]
        return None if done == right else f"executed {done}"

    return Case(f"{text}; {host}; {shown(args)}", run)


@keeps("A1h")
def the_host_refuses_before_the_tool_s_code(rng: Random) -> Case:
    done: Done = []
    kind: Any = Annotated[str, AfterValidator(cabin_of)]

    def pay(to: str, amount: int, cabin: str) -> str:
        done.append((to, amount, cabin))
        return "done"

    model = create_model("Pay", to=(str, ...), amount=(int, ...), cabin=(kind, ...))
    effect = rng.choice(["mutating", None])
    tool = structured(rng, pay, effect, args_schema=model)
    return mended(rng, tool, done, HOSTS, f"{effect}, a validator of the host's")


@keeps("A1h")
def a_function_s_types_refuse_before_its_code(rng: Random) -> Case:
    done: Done = []

    def pay(to: str, amount: int, cabin: str) -> str:
        done.append((to, amount, cabin))
        return "done"

    pay.__annotations__["cabin"] = Annotated[str, AfterValidator(cabin_of)]
    effect = rng.choice(["mutating", None])
    spec = ToolSpec.from_function(pay, effect=effect, name=tool_name(rng))
    return mended(rng, spec, done, ("graph", "async graph"), f"{effect} function's own types")
