"""A chat agent of a small shop: a chat model whose tool node is the self-correcting loop.

`CHAT_MODEL=anthropic:claude-sonnet-4-5` (any name that LangChain's `init_chat_model` knows, with
its package and key) talks with a real model. Without it a rehearsed one plays, which slips on every
call, so that the graph runs without a network.
"""

import json
import os
import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Final

from langchain_core.messages import AIMessage, AnyMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from selfcorrect.integrations.tool_node import SelfCorrectingToolNode, calls_condition
from selfcorrect.testing import ScriptedModel

MOST_TURNS: Final = 8
ROLE: Final = "You sell lamps. Look things up before you answer; order only what the user asks."
PRICES: Final[Mapping[str, float]] = {"desk-lamp": 39.5, "floor-lamp": 129.0, "night-light": 12.25}


class Talk(TypedDict, total=False):
    """What the graph takes and gives: messages in; the answer and what was mended out."""

    messages: Annotated[list[AnyMessage], add_messages]
    turns: int
    result: str
    trail: list[Any]


def shop(orders: list[dict[str, Any]]) -> list[BaseTool]:
    """The tools; orders are kept in the list."""

    @tool
    def find_products(text: str, limit: int = 5) -> str:
        """Find products by a word in their name.

        Args:
            text: A word, or an empty text for all products.
            limit: How many to show at most.
        """
        found = [(name, price) for name, price in PRICES.items() if text.lower() in name]
        return "; ".join(f"{name} at {price:.2f}" for name, price in found[:limit]) or "nothing"

    @tool
    def order_product(product: str, quantity: int, deliver_on: date) -> str:
        """Order a product.

        Args:
            product: The product's name, as find_products gives it.
            quantity: How many.
            deliver_on: The day of delivery.
        """
        if product not in PRICES:
            raise LookupError(f"there is no product {product!r}; did you mean 'desk-lamp'?")
        orders.append({"product": product, "quantity": quantity, "day": deliver_on.isoformat()})
        return f"order {len(orders)}: {quantity} {product} for {deliver_on}"

    find_products.metadata = {"effect": "read_only"}
    order_product.metadata = {"effect": "mutating"}
    return [find_products, order_product]


def make_graph(strategies: Any = None, *, model: Any = None, orders: Any = None) -> Any:
    """The agent as a graph.

    Args:
        strategies: The error-strategy map of its tool node.
        model: A chat model; None: `CHAT_MODEL`, else the rehearsed one.
        orders: A list that gets the orders.
    """
    tools = shop([] if orders is None else orders)
    bound = (model or _model()).bind_tools(tools)

    def ask(state: Talk) -> dict[str, Any]:
        message = bound.invoke([SystemMessage(ROLE), *state.get("messages", [])])
        return {"messages": [message], "turns": state.get("turns", 0) + 1}

    async def aask(state: Talk) -> dict[str, Any]:
        message = await bound.ainvoke([SystemMessage(ROLE), *state.get("messages", [])])
        return {"messages": [message], "turns": state.get("turns", 0) + 1}

    def after(state: Talk) -> str:
        messages = state.get("messages", [])
        wants_tools = calls_condition(list(messages)) == "tools"
        return "tools" if wants_tools and state.get("turns", 0) < MOST_TURNS else "answer"

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Talk)
    builder.add_node("ask", _both(ask, aask))
    builder.add_node("tools", SelfCorrectingToolNode(tools, strategies=strategies, ask_person=True))
    builder.add_node("answer", _answer)
    builder.add_edge(START, "ask")
    builder.add_conditional_edges("ask", after, ["tools", "answer"])
    builder.add_edge("tools", "ask")
    builder.add_edge("answer", END)
    return builder.compile(name="chat_agent")


def _both(function: Any, coroutine: Any) -> Any:
    """One node for sync and async runs."""
    from langchain_core.runnables import RunnableLambda

    return RunnableLambda(function, coroutine)


def _answer(state: Talk) -> dict[str, Any]:
    """End the turn: the answer, what was mended for it, and no call without an answer."""
    messages = state.get("messages", [])
    last = messages[-1]
    update: dict[str, Any] = {"turns": 0, "trail": _mended(messages)}
    calls = [*last.tool_calls, *last.invalid_tool_calls] if isinstance(last, AIMessage) else []
    if calls:
        text = "I stop here: that took too many calls."
        update["messages"] = [AIMessage(text, id=last.id)]
        return update | {"result": text}
    return update | {"result": str(last.text)}


def _mended(messages: list[AnyMessage]) -> list[dict[str, Any]]:
    """What was mended since the user spoke, as events of a trail."""
    found: list[dict[str, Any]] = []
    for message in reversed(messages):
        if message.type == "human":
            break
        if isinstance(message, ToolMessage):
            changes = (message.response_metadata.get("selfcorrect") or {}).get("changes")
            if changes:
                found.insert(0, {"node": "repair", "next": "validate", "changes": changes})
    return [{"step": step, **event} for step, event in enumerate(found)]


def _model() -> Any:
    name = os.environ.get("CHAT_MODEL")
    if not name:
        return rehearsed_model()
    from langchain.chat_models import init_chat_model

    return init_chat_model(name)


def rehearsed_model() -> ScriptedModel:
    """Plays the model: looks up or orders what the user names, and slips on every call."""

    def play(messages: list[Any]) -> AIMessage:
        last = messages[-1]
        if last.type == "tool":
            return AIMessage(f"The shop says: {last.text}")
        said = str(last.text).lower()
        product = next((name for name in PRICES if name.replace("-", " ") in said), "lamp")
        if "order" not in said:
            return _unparsed("findProducts", f"{{'text': '{product.split('-', maxsplit=1)[0]}',}}")
        number = re.search(r"\d+(?:\.\d+)?|\b(?:one|two|three)\b", said)
        args = {
            "Product": product,
            "quantity": number[0] if number else "one",
            "deliver_on": "Oct 26, 2026",
        }
        return _unparsed("order_product", json.dumps(args)[:-1] + ",}")

    return ScriptedModel([play], again=True)


def _unparsed(name: str, text: str) -> AIMessage:
    """A call whose arguments are no JSON."""
    call = {"name": name, "args": text, "id": "call_1", "error": "no JSON"}
    return AIMessage("", invalid_tool_calls=[call])


graph = make_graph()


def examples() -> list[dict[str, Any]]:
    """What one can say: `{"title", "input", "expect"}` each."""
    said = {
        "a question, its call in single quotes": "Which lamps do you have?",
        "an order, its day in words": "Order two desk lamps for me.",
    }
    return [
        {
            "title": title,
            "input": {"messages": [{"role": "user", "content": text}]},
            "expect": "mended",
        }
        for title, text in said.items()
    ]
