"""What the loop costs over what it wraps: medians and ratios of one run, printed as a table.

    python tests/benchmarks/overhead.py

The targets are printed beside the figures; nothing is asserted.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from selfcorrect import ToolSpec, build_graph
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import walk

ROUNDS = 15


def add(a: int, b: int = 0) -> int:
    """Add two numbers."""
    return a + b


@tool("add")
def add_tool(a: int, b: int = 0) -> int:
    """Add two numbers."""
    return a + b


def medians(work: dict[str, tuple[Callable[[], Any], int]]) -> dict[str, float]:
    """Median microseconds of each piece of work, measured in turns."""
    times: dict[str, list[float]] = {name: [] for name in work}
    for function, _ in work.values():
        function()
    for _ in range(ROUNDS):
        for name, (function, times_each) in work.items():
            started = time.perf_counter()
            for _ in range(times_each):
                function()
            times[name].append((time.perf_counter() - started) / times_each * 1e6)
    return {name: statistics.median(values) for name, values in times.items()}


def tool_node_graph() -> Any:
    """LangGraph's own ToolNode in a graph of one node."""
    builder = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode([add_tool]))
    builder.add_edge(START, "tools")
    builder.add_edge("tools", END)
    return builder.compile()


START_UP = """
import sys, time
started = time.perf_counter()
import selfcorrect
from selfcorrect import ToolSpec, repair_call
def add(a: int, b: int = 0) -> int:
    "Add."
    return a + b
assert repair_call({"name": "add", "args": {"a": "1"}}, [add]).outcome == "repaired"
print((time.perf_counter() - started) * 1000, "langgraph" in sys.modules,
      any(name.startswith("langchain") for name in sys.modules))
"""


def start_up() -> tuple[float, str]:
    """Milliseconds to import, build a ToolSpec and mend one call; the median of five processes."""
    figures, loaded = [], ""
    for _ in range(5):
        out = subprocess.run(
            [sys.executable, "-c", START_UP], capture_output=True, text=True, check=True
        ).stdout.split()
        figures.append(float(out[0]))
        loaded = f"langgraph loaded: {out[1]}, langchain loaded: {out[2]}"
    return statistics.median(figures), loaded


def main() -> None:
    call = {"call": {"name": "add", "args": {"a": 1}}}
    broken = {"call": {"name": "add", "args": {"a": "1"}}}
    message = {
        "messages": [
            AIMessage("", tool_calls=[{"name": "add", "args": {"a": 1}, "id": "1"}]),
        ]
    }
    node = tool_node_graph()
    graph = build_graph([add_tool])
    plain = assemble([ToolSpec.from_function(add)])
    wrapped = assemble([add_tool])
    figures = medians(
        {
            "ToolNode in a graph of one node": (lambda: node.invoke(message), 40),
            "graph.invoke, healthy call": (lambda: graph.invoke(call), 40),
            "function": (lambda: add(1), 5000),
            "walker over the function": (lambda: walk(plain, call), 500),
            "tool.invoke": (lambda: add_tool.invoke({"a": 1}), 200),
            "walker over the tool": (lambda: walk(wrapped, call), 200),
            "walker, one repair": (lambda: walk(plain, broken), 100),
        }
    )
    for name, value in figures.items():
        print(f"{name:<36}{value:>12.1f} µs")
    print()
    ratio = figures["graph.invoke, healthy call"] / figures["ToolNode in a graph of one node"]
    print(f"graph.invoke ÷ ToolNode              {ratio:>11.2f} x (target ≤ 1.15)")
    extra = figures["walker over the function"] - figures["function"]
    print(f"walker on top of the function        {extra:>11.1f} µs (target ≤ 30)")
    ratio = figures["walker over the tool"] / figures["tool.invoke"]
    print(f"walker over the tool ÷ tool.invoke   {ratio:>11.2f} x (target ≤ 1.15)")
    repair = figures["walker, one repair"]
    print(f"one deterministic repair             {repair:>11.1f} µs (target ≤ 500)")
    milliseconds, loaded = start_up()
    print(f"import, build, mend one call         {milliseconds:>11.1f} ms (target ≤ 300; {loaded})")


if __name__ == "__main__":
    main()
