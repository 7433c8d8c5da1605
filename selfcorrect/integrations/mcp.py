"""Tools of MCP servers: called once, their errors told apart, their hints believed on request.

The author of a tool that deletes can claim that it only reads. So the annotations of a server
count as effects only where the caller trusts the server.
"""

import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from selfcorrect.errors import NotDone, ToolDefinitionError
from selfcorrect.lazy import load_table
from selfcorrect.model import JSON, Effect, JsonDict, JsonObject
from selfcorrect.reading.call_object import strict_json
from selfcorrect.tools.spec import MCP_HINTS, ToolOptions, ToolSpec, is_usable

_MOST_PAGES = 100
_SHOWN = ("name", "description", "inputSchema")
"""What counts of a listed tool, beside its hints."""
_NO_SERVERS = frozenset(ToolOptions.__annotations__) | MCP_HINTS
"""Keys of metadata that mean nothing where a server wrote them."""
_NO_SESSION = (-32600, 32600)
"""With these codes servers, and the SDK itself, say that a request belongs to no session."""
_EFFECTS: list[tuple[str, bool, Effect]] = load_table("integrations/mcp.toml")["effects"]
"""Which effect a hint stands for; the first that a server gives counts."""


async def session_tools(
    session: Any, *, seconds: float | None = None, trust: bool = False
) -> list[ToolSpec]:
    """Return the tools of an MCP session, for `build_graph` or `Mender`.

    The value of a call is the server's structured content, else its text, else its blocks; where a
    text says more than the structured content, both. What its output schema says is not checked: a
    call that is done would look as if it had failed.

    Args:
        session: An initialised `mcp.ClientSession`.
        seconds: How long one call may take; a call that takes longer is lost.
        trust: Whether the annotations of the server count as effects.

    A tool whose schema cannot be read is left out, with a warning.

    Raises:
        ToolDefinitionError: If the list of tools does not end.
    """
    from mcp import types

    async def page_at(cursor: str | None) -> JsonDict:
        params = types.PaginatedRequestParams(cursor=cursor) if cursor else None
        listed = await session.list_tools(params=params)
        page: JsonDict = listed.model_dump(by_alias=True, exclude_none=True)
        return page

    async def send(name: str, args: JsonDict) -> JsonDict:
        from pydantic import RootModel

        params = types.CallToolRequestParams(name=name, arguments=args)
        request = types.ClientRequest(types.CallToolRequest(params=params))
        # `call_tool` would check the output schema, and refuse results that the SDK cannot model.
        reply: JsonDict = (await session.send_request(request, RootModel[Any])).root
        return reply

    tools = await list_pages(page_at)
    specs = [served_tool(tool, send, seconds=seconds, trust=trust) for tool in tools]
    return [*filter(is_usable, specs)]


def adapter_tools(tools: Iterable[Any], *, trust: bool = False) -> list[Any]:
    """Return copies of the tools of langchain-mcp-adapters, for agents, tool nodes and graphs.

    A tool whose schema cannot be read is left out, with a warning.

    Args:
        tools: What `load_mcp_tools` or `MultiServerMCPClient.get_tools` returned.
        trust: Whether the annotations of the server count as effects.

    >>> from langchain_core.tools import StructuredTool
    >>> def find(q: str) -> str:
    ...     '''Find.'''
    ...     return q
    >>> listed = StructuredTool.from_function(find, metadata={"readOnlyHint": True})
    >>> [tool.metadata for tool in adapter_tools([listed], trust=True)]
    [{'effect': 'read_only'}]
    """
    usable = (tool for tool in tools if is_usable(ToolSpec.from_langchain(tool)))
    return [_with_effect(tool, trust=trust) for tool in usable]


async def list_pages(page_at: Callable[[str | None], Awaitable[JsonDict]]) -> list[JsonDict]:
    """Return the tools of all pages; a cursor that comes again ends the list.

    Args:
        page_at: Returns the page at a cursor.

    Raises:
        ToolDefinitionError: If the list does not end.
    """
    tools: dict[str, JsonDict] = {}
    cursors: list[str | None] = [None]
    for _ in range(_MOST_PAGES):
        page = await page_at(cursors[-1])
        for tool in page["tools"]:
            tools.setdefault(json.dumps(tool, default=str), tool)
        cursor = page.get("nextCursor")
        if not cursor or cursor in cursors:
            return [*tools.values()]
        cursors.append(cursor)
    raise ToolDefinitionError(f"the server's list of tools has more than {_MOST_PAGES} pages")


def served_tool(
    tool: JsonObject,
    send: Callable[[str, JsonDict], Awaitable[JsonDict]],
    *,
    seconds: float | None = None,
    trust: bool = False,
) -> ToolSpec:
    """Return a listed tool, as `session_tools` does.

    Args:
        tool: How the server lists it.
        send: Sends a call to the server, and returns its result.
        seconds: How long one call may take.
        trust: Whether the annotations of the server count as effects.
    """
    name = tool["name"]

    async def call(**args: Any) -> JSON:
        try:
            return result_value(await send(name, args))
        except Exception as error:
            if is_session_over(error):
                why = f"the session with the MCP server has ended, so nothing was done: {error}"
                raise NotDone(why) from error
            raise

    shown = {key: tool[key] for key in _SHOWN if key in tool}
    effect = _effect_of(tool.get("annotations") or {}) if trust else None
    return ToolSpec.from_schema(shown, call, effect=effect, timeout=seconds)


def is_session_over(error: Exception) -> bool:
    """Say whether a server, or the SDK, answers that a request belongs to no session."""
    return getattr(getattr(error, "error", None), "code", None) in _NO_SESSION


def result_value(result: JsonObject) -> JSON:
    """Return the value of a call's result, as `session_tools` describes it."""
    content, structured = result.get("content"), result.get("structuredContent")
    if result.get("isError") not in (None, False):
        # The loop reads it as the error that it is.
        text = {"content": content or structured or "the tool reported an error"}
        more = {"structuredContent": structured} if content and structured else {}
        return {"isError": True, **text, **more}
    if content is None and structured is None:
        return dict(result)
    value = content
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        value = content[0]["text"] if content[0].get("type") == "text" else content
    if structured is None:
        return value
    # A text that repeats it as JSON says nothing more.
    is_copy = isinstance(value, str) and strict_json(value) == structured
    both = {"structuredContent": structured, "content": value}
    return structured if is_copy or not value else both


def _with_effect(tool: Any, *, trust: bool) -> Any:
    hints = tool.metadata or {}
    metadata = {key: item for key, item in hints.items() if key not in _NO_SERVERS}
    if trust and (effect := _effect_of(hints)) is not None:
        metadata["effect"] = effect
    return tool.model_copy(update={"metadata": metadata})


def _effect_of(hints: JsonObject) -> Effect | None:
    return next((effect for hint, value, effect in _EFFECTS if hints.get(hint) is value), None)
