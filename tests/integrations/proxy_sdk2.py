"""The second major version of the SDK, for a Python that has it: a server, and a client's visit.

`python proxy_sdk2.py server LOG [PORT]` and `python proxy_sdk2.py client MODE (URL | COMMAND…)`,
which prints what it saw as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import anyio
from mcp import Client, StdioServerParameters
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp.types import ElicitResult, ToolAnnotations
from pydantic import BaseModel, Field


class Booking(BaseModel):
    id: int
    cabin: str


class Sure(BaseModel):
    sure: bool


async def is_sure() -> Elicit[Sure]:
    return Elicit("Sure?", Sure)


def serve(log: Path, port: int | None) -> None:
    shop = MCPServer("shop", log_level="ERROR")

    def note(name: str, **args: object) -> None:
        with log.open("a") as file:
            print(json.dumps([name, args], default=str), file=file)

    @shop.tool()
    def book(
        city: Annotated[str, Field(json_schema_extra={"x-mcp-header": "City"})],
        seats: int,
        cabin: Literal["economy", "business"] = "economy",
    ) -> Booking:
        """Book a flight."""
        note("book", city=city, seats=seats, cabin=cabin)
        return Booking(id=seats, cabin=cabin)

    @shop.tool(annotations=ToolAnnotations(read_only_hint=True))
    def find(city: str) -> str:
        """Find a flight."""
        note("find", city=city)
        if city == "Lisbno":
            raise LookupError("city 'Lisbno' not found; did you mean 'Lisbon'?")
        return city

    @shop.tool()
    async def count(steps: int, ctx: Context) -> str:
        """Count, and tell how far it got."""
        for step in range(steps):
            await ctx.report_progress(step + 1, steps)
        return "counted"

    @shop.tool()
    async def confirm(times: int, sure: Annotated[Sure, Resolve(is_sure)]) -> str:
        """Ask the person."""
        note("confirm", times=times)
        return f"{times} {sure.sure}"

    @shop.resource("shop://terms")
    def terms() -> str:
        """The terms."""
        return "no refunds"

    if port is None:
        shop.run("stdio")
    else:
        shop.run("streamable-http", port=port)


async def visit(mode: str, where: list[str]) -> None:
    asked: list[str] = []
    progress: list[float] = []

    async def elicited(context, params):
        asked.append(params.message)
        field = next(iter(params.requested_schema["properties"]))
        return ElicitResult(action="accept", content={field: True if field == "sure" else 7})

    async def progressed(step, total, message):
        progress.append(step)

    url = where[0].startswith("http")
    server = where[0] if url else StdioServerParameters(command=where[0], args=where[1:])
    async with Client(server, mode=mode, elicitation_callback=elicited) as client:
        seen: dict[str, object] = {"version": client.protocol_version}
        seen["tools"] = sorted(tool.name for tool in (await client.list_tools()).tools)
        for name, args in (
            ("book", {"city": "Rome", "seats": 2}),
            ("Book", {"City": "Zürich", "seats": "two"}),
            ("book", {"city": "Oslo"}),
            ("count", {"steps": "3"}),
            ("confirm", {"times": "2"}),
            ("find", {"city": "Lisbno"}),
            ("book", {"city": "Rome", "seats": "many"}),
        ):
            answer = await client.call_tool(name, args, progress_callback=progressed)
            texts = [block.text for block in answer.content]
            seen[f"{name} {args}"] = [answer.is_error, answer.structured_content, texts[0]]
        seen["terms"] = (await client.read_resource("shop://terms")).contents[0].text
        seen["asked"], seen["progress"] = asked, progress
    sys.stdout.write(f"{json.dumps(seen)}\n")


if sys.argv[1] == "server":
    serve(Path(sys.argv[2]), int(sys.argv[3]) if sys.argv[3:] else None)
else:
    anyio.run(visit, sys.argv[2], sys.argv[3:])
