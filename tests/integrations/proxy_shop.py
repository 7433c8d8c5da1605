"""An MCP server of the SDK with one of everything; `python proxy_shop.py LOG [PORT]`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from datetime import date
from pathlib import Path
from typing import Literal

from mcp.server.fastmcp import Context, FastMCP
from mcp.types import SamplingMessage, TextContent, ToolAnnotations
from pydantic import BaseModel

shop = FastMCP("shop", log_level="ERROR", port=int(sys.argv[2]) if sys.argv[2:] else 8000)
READS = ToolAnnotations(readOnlyHint=True)
busy: list[int] = []


def note(name: str, **args: object) -> None:
    """Write down what was executed, for the test to read."""
    with Path(sys.argv[1]).open("a") as log:
        print(json.dumps([name, args], default=str), file=log)


class Booking(BaseModel):
    id: int
    cabin: str


@shop.tool()
def book(
    city: str,
    seats: int,
    cabin: Literal["economy", "business"] = "economy",
    tags: tuple[str, ...] = (),
) -> Booking:
    """Book a flight."""
    note("book", city=city, seats=seats, cabin=cabin, tags=tags)
    return Booking(id=seats, cabin=cabin)


@shop.tool(annotations=READS)
def find(city: str, day: date | None = None) -> str:
    """Find a flight."""
    note("find", city=city, day=day)
    if city == "Lisbno":
        raise LookupError("city 'Lisbno' not found; did you mean 'Lisbon'?")
    if city == "Busy" and not busy:
        busy.append(1)
        raise RuntimeError("503 Service Unavailable")
    return f"{city} {day}"


@shop.tool()
def pay(amount: float, day: date) -> str:
    """Pay on a day."""
    note("pay", amount=amount, day=day)
    return f"paid {amount} on {day}"


@shop.tool()
async def wait(seconds: float) -> str:
    """Take a while."""
    note("wait begun", seconds=seconds)
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        note("wait cancelled")
        raise
    return "waited"


@shop.tool()
def crash() -> str:
    """Die."""
    note("crash")
    os._exit(3)


@shop.tool()
async def count(steps: int, ctx: Context) -> str:
    """Count, and tell how far it got."""
    note("count", steps=steps)
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, f"step {step + 1}")
    await ctx.info("counted")
    return "done"


@shop.tool()
async def think(question: str, ctx: Context) -> str:
    """Ask the client's model."""
    asked = SamplingMessage(role="user", content=TextContent(type="text", text=question))
    answer = await ctx.session.create_message([asked], max_tokens=10)
    return answer.content.text  # type: ignore[union-attr]


@shop.tool()
async def roots(ctx: Context) -> str:
    """Ask the client for its roots."""
    return str((await ctx.session.list_roots()).roots[0].uri)


class Sure(BaseModel):
    sure: bool


@shop.tool()
async def confirm(ctx: Context) -> str:
    """Ask the person."""
    answer = await ctx.elicit("Sure?", Sure)
    return f"{answer.action} {answer.data.sure if answer.action == 'accept' else ''}"


@shop.tool()
async def grow(ctx: Context) -> str:
    """Offer one more tool."""

    def shrink(by: int) -> str:
        note("shrink", by=by)
        return f"smaller by {by}"

    shop.add_tool(shrink)
    await ctx.session.send_tool_list_changed()
    return "grown"


@shop.resource("shop://terms")
def terms() -> str:
    """The terms."""
    return "no refunds"


@shop.prompt()
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Greet {name}."


@shop.completion()
async def complete(ref, argument, context):
    from mcp.types import Completion

    return Completion(values=[f"{argument.value}a", f"{argument.value}b"])


shop.run("streamable-http" if sys.argv[2:] else "stdio")
