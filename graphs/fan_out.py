"""Several calls at once: each goes through a loop of its own, side by side, and none harms another.

Calls come in as `calls`: each an input of the loop (`call` or `raw`, perhaps with a `request`), or
the call itself. LangGraph's `Send` starts one branch per call. What comes out is in the order of
the calls, a result or a report each. A branch that has to ask a person stops alone; the others go
on, and after the answer nothing that was done is done again.
"""

import operator
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Annotated, Any, Final, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from pydantic import Field
from typing_extensions import TypedDict

from selfcorrect import ToolSpec, build_graph
from selfcorrect.model import JSON

MOST_CALLS: Final = 50
METRES: Final = {"metre": 1.0, "kilometre": 1000.0, "mile": 1609.344, "foot": 0.3048}
INPUTS: Final = frozenset({"call", "raw", "request"})


class Branch(TypedDict, total=False):
    """What one branch gets: its place among the calls, and the input of its loop."""

    place: int
    given: dict[str, JSON]


def joined(old: list[Any], new: list[Any] | None) -> list[Any]:
    """What the branches of one run bring; None starts anew."""
    return [] if new is None else [*old, *new]


class Calls(TypedDict, total=False):
    """What the graph takes and gives."""

    calls: list[JSON]
    done: Annotated[list[dict[str, JSON]], joined]
    result: list[JSON]
    trail: list[JSON]


def convert_length(
    value: float,
    unit: Literal["metre", "kilometre", "mile", "foot"],
    to: Literal["metre", "kilometre", "mile", "foot"] = "metre",
) -> float:
    """Convert a length."""
    return round(value * METRES[unit] / METRES[to], 6)


def weekday(day: date) -> str:
    """Say which day of the week a date is."""
    return day.strftime("%A")


def add_days(day: date, days: Annotated[int, Field(ge=-36500, le=36500)]) -> str:
    """Say which date it is so many days later."""
    return (day + timedelta(days)).isoformat()


def tools() -> list[ToolSpec]:
    """Three tools that only compute."""
    return [
        ToolSpec.from_function(function, effect="read_only")
        for function in (convert_length, weekday, add_days)
    ]


def make_graph(
    strategies: Any = "default", *, over: Iterable[Any] | None = None, **wiring: Any
) -> Any:
    """The graph over tools (`over`, or those of this file); `wiring` is for each call's loop.

    A checkpointer belongs to the whole graph: compile it in, or let the server bring one.
    """
    checkpointer = wiring.pop("checkpointer", None)
    loop = build_graph(list(over) if over is not None else tools(), strategies=strategies, **wiring)

    def one(branch: Branch) -> Calls:
        out = loop.invoke(branch["given"])
        return {"done": [{"place": branch["place"], **out}]}

    async def one_async(branch: Branch) -> Calls:
        out = await loop.ainvoke(branch["given"])
        return {"done": [{"place": branch["place"], **out}]}

    builder: StateGraph[Calls, None, Calls, Calls] = StateGraph(Calls)
    builder.add_node("one", _both(one, one_async))
    builder.add_node("gather", gather)
    builder.add_node("take", take)
    builder.add_edge(START, "take")
    builder.add_conditional_edges("take", spread, ["one", "gather"])
    builder.add_edge("one", "gather")
    builder.add_edge("gather", END)
    return builder.compile(checkpointer=checkpointer, name="fan_out")


def _both(sync: Any, awaited: Any) -> Any:
    from langchain_core.runnables import RunnableLambda

    return RunnableLambda(sync, afunc=awaited, name="one")


def take(state: Calls) -> dict[str, Any]:
    """Forget what the branches of an earlier run on this thread brought."""
    return {"calls": list(state.get("calls") or ()), "done": None}


def spread(state: Calls) -> list[Send] | Literal["gather"]:
    """One branch per call, up to so many."""
    calls = state["calls"][:MOST_CALLS]
    branches = [Send("one", Branch(place=n, given=_given(c))) for n, c in enumerate(calls)]
    return branches or "gather"


def _given(call: JSON) -> dict[str, JSON]:
    """The input of a loop: an object that is one already, a call, or the text of one."""
    if isinstance(call, Mapping):
        return dict(call) if INPUTS & call.keys() else {"call": dict(call)}
    return {"raw": call if isinstance(call, str) else repr(call)}


def gather(state: Calls) -> Calls:
    """What became of each call, in their order, and one trail of it all."""
    done = sorted(state.get("done") or (), key=operator.itemgetter("place"))
    keys = ("result", "failure")
    result: list[JSON] = [{key: one[key] for key in keys if key in one} for one in done]
    left = len(state["calls"]) - len(result)
    detail = f"at most {MOST_CALLS} calls are taken at once"
    result += [{"failure": {"reason": "limit_reached", "detail": detail}} for _ in range(left)]
    events = [{**event, "call_number": one["place"]} for one in done for event in one["trail"]]
    trail: list[JSON] = [{**event, "step": step} for step, event in enumerate(events)]
    return {"result": result, "trail": trail}


graph = make_graph()


def examples() -> list[dict[str, JSON]]:
    """Inputs of the graph: `{"title", "input", "expect"}` each."""
    calls: list[JSON] = [
        {"name": "weekday", "args": {"day": "Oct 26, 2026"}},
        {"name": "convert_lenght", "args": {"value": "3", "unit": "Mile"}},
        {"name": "add_days", "args": {"day": "2026-02-27", "Days": 2}},
        {"name": "weekday", "args": {"day": "the day after"}},
        "{'name': 'convert_length', 'arguments': {'value': 1, 'unit': 'foot',}}",
    ]
    return [
        {
            "title": "five calls, one beyond help",
            "input": {"calls": calls},
            "expect": "mended",
        },
        {"title": "no call at all", "input": {"calls": []}, "expect": "healthy"},
    ]
