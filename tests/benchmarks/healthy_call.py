"""What a healthy call pays for the middleware, over the host's own handler.

python tests/benchmarks/healthy_call.py
"""

from __future__ import annotations

import timeit
from types import SimpleNamespace

from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.prebuilt.tool_node import ToolCallRequest

from selfcorrect import SelfCorrection

ROUNDS, CALLS = 7, 2_000
SCHEMA = {
    "type": "object",
    "properties": {
        "to": {"type": "string"},
        "day": {"type": "string", "format": "date"},
        "seats": {"type": "integer", "minimum": 1},
        "cabin": {"type": "string", "enum": ["economy", "business", "first"]},
    },
    "required": ["to", "day", "seats"],
}
ARGS = {"to": "CDG", "day": "2026-10-26", "seats": 2, "cabin": "economy"}


def micros(work) -> float:
    """The best of several rounds: the others measure what else the machine did."""
    return min(timeit.repeat(work, number=CALLS, repeat=ROUNDS)) / CALLS * 1e6


def main() -> None:
    tool = StructuredTool(name="book", description="", args_schema=SCHEMA, func=lambda **_: "ok")
    runtime = SimpleNamespace(tools=[tool], config={}, stream_writer=None)
    call = {"name": "book", "args": ARGS, "id": "c0", "type": "tool_call"}
    request = ToolCallRequest(tool_call=call, tool=tool, state={}, runtime=runtime)
    answer = ToolMessage("ok", tool_call_id="c0")

    def handler(_request):
        return answer

    middleware = SelfCorrection()
    assert middleware.wrap_tool_call(request, handler).content == "ok"
    alone = micros(lambda: handler(request))
    with_it = micros(lambda: middleware.wrap_tool_call(request, handler))
    print(f"handler(request)          {alone:8.2f} µs")
    print(f"with SelfCorrection       {with_it:8.2f} µs")
    print(f"paid by a healthy call    {with_it - alone:8.2f} µs, and at most 20 µs")


if __name__ == "__main__":
    main()
