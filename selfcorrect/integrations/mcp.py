"""Tools of MCP servers: their schemas checked, their errors told apart, their hints not believed.

For the tools of an MCP session, `session_tools`; for those that langchain-mcp-adapters made,
`adapter_tools`. An annotation of a server (`readOnlyHint` …) counts as a tool's effect only where
the caller trusts the server: whoever wrote a tool that deletes can also write that it does not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from selfcorrect.errors import SelfCorrectError, ToolReportedError
from selfcorrect.forms.access import dumped
from selfcorrect.plain import as_text
from selfcorrect.protocols import Effect
from selfcorrect.tools import ToolSpec
from selfcorrect.tools.declarations import SERVER_HINTS

TRUSTED: Final = "selfcorrect_trusted"
"""The metadata key of a tool whose server the caller trusts."""
_NOT_A_SERVERS: Final = frozenset({"effect", "atomic", "server", "verify", TRUSTED})
"""Keys that count only where code wrote them."""
_MOST_PAGES: Final = 100
_MOST_TEXT: Final = 64 * 1024


class MCPProtocolError(SelfCorrectError):
    """The protocol failed, not the tool: the server answered the request with a JSON-RPC error.

    Attributes:
        error_code: The JSON-RPC code as text: `"-32602"`.
        body: The error as JSON-RPC writes it.
        trusted: Whether the server is one that the caller trusts: its refusal of the request
            itself then means that nothing was done.
    """

    code: ClassVar[str] = "SC209"

    def __init__(
        self, number: int, message: str, data: Any = None, *, trusted: bool = False
    ) -> None:
        self.trusted = trusted
        self.error_code = str(number)
        error = {"code": number, "message": message, "data": data}
        self.body = json.dumps({"jsonrpc": "2.0", "error": error}, default=str)
        super().__init__(message)


def effect_of(annotations: Any) -> Effect | None:
    """The effect that a server's annotations claim; None where they claim nothing.

    >>> effect_of({"readOnlyHint": True}), effect_of({"destructiveHint": True}), effect_of({})
    ('read_only', 'destructive', None)
    """
    hints = _said(annotations)
    if hints.get("readOnlyHint") is True:
        return "read_only"
    if hints.get("destructiveHint") is True:
        return "destructive"
    if hints.get("idempotentHint") is True:
        return "idempotent"
    return "mutating" if hints.get("destructiveHint") is False else None


async def session_tools(
    session: Any, *, trusted: bool = False, seconds: float | None = None, server: str = ""
) -> list[ToolSpec]:
    """The tools of an open `mcp.ClientSession`, every page of them.

    A tool's value is its structured content, else its text, else its content blocks as JSON.

    Args:
        session: The session, initialised.
        trusted: Whether the server's annotations count as effects.
        seconds: How long one call may take until `TimeoutError`.
        server: What tells this server from others; see `ToolSpec.server`.

    Raises:
        ToolDefinitionError: If the schema of a tool is unusable.
    """
    listed = _said(await session.list_tools())
    tools = [*listed["tools"]]
    for _ in range(_MOST_PAGES):
        cursor = listed.get("nextCursor")
        if not cursor:
            break
        listed = _said(await session.list_tools(params=_page(cursor)))
        tools += listed["tools"]
    specs = [_spec(session, tool, trusted=trusted, seconds=seconds) for tool in tools]
    return [replace(spec, server=server) for spec in specs]


def adapter_tools(tools: Sequence[Any], *, trusted: bool = False, server: str = "") -> list[Any]:
    """Copies of the tools of langchain-mcp-adapters, with effects that one may rely on.

    Args:
        tools: What `load_mcp_tools` or `MultiServerMCPClient.get_tools` gave, of one server.
        trusted: Whether the server's annotations count as effects.
        server: What tells this server from others; see `ToolSpec.server`.
    """
    return [_with_effect(tool, trusted=trusted, server=server) for tool in tools]


def is_untold(metadata: Mapping[str, Any]) -> bool:
    """Whether these are a server's own annotations, in which an effect means nothing."""
    return not SERVER_HINTS.isdisjoint(metadata)


def protocol_error(error: BaseException, *, trusted: bool = False) -> MCPProtocolError | None:
    """The SDK's error as ours, or None if it is something else."""
    if not any(cls.__name__ in ("McpError", "MCPError") for cls in type(error).__mro__):
        return None
    data = getattr(error, "error", error)
    number = getattr(data, "code", None)
    if not isinstance(number, int):
        return None
    message, more = as_text(getattr(data, "message", error)), getattr(data, "data", None)
    told = more if isinstance(more, str | int | float | bool | dict | list) else None
    return MCPProtocolError(number, message, told, trusted=trusted)


def _spec(
    session: Any, tool: Mapping[str, Any], *, trusted: bool, seconds: float | None
) -> ToolSpec:
    async def call(**args: Any) -> Any:
        try:
            result = await session.call_tool(tool["name"], args)
        except Exception as error:
            if (known := protocol_error(error, trusted=trusted)) is not None:
                raise known from error
            raise
        return value_of(_said(result))

    return listed_tool(tool, call, trusted=trusted, seconds=seconds)


def listed_tool(
    tool: Mapping[str, Any], call: Callable[..., Any], *, trusted: bool, seconds: float | None
) -> ToolSpec:
    """A tool as its server listed it.

    Raises:
        ToolDefinitionError: If its schema is unusable.
    """
    spec = ToolSpec.from_schema(
        {key: tool[key] for key in ("name", "description", "inputSchema") if key in tool},
        call=call,
        effect=effect_of(tool.get("annotations")) if trusted else None,
        timeout=seconds,
    )
    return replace(spec, home="")  # what is raised is the server's word, not the calling code's


def value_of(told: Mapping[str, Any]) -> Any:
    """The tool's value in a result: structured content, else the one text, else the blocks.

    Raises:
        ToolReportedError: If it says `isError`.
    """
    blocks = blocks_of(told)
    texts = [
        block["text"]
        for block in blocks
        if isinstance(block, Mapping) and isinstance(block.get("text"), str)
    ]
    if told.get("isError") is True:
        raise ToolReportedError("\n".join(texts)[:_MOST_TEXT] or "the tool reported an error")
    if told.get("structuredContent") is not None:
        return told["structuredContent"]
    return texts[0] if len(texts) == len(blocks) == 1 else blocks


def blocks_of(told: Mapping[str, Any]) -> list[Any]:
    """The content of a result."""
    content = told.get("content")
    return content if isinstance(content, list) else []


def _with_effect(tool: Any, *, trusted: bool, server: str) -> Any:
    metadata = dict(tool.metadata or {})
    effect = effect_of(metadata) if trusted else None
    kept = {
        key: value for key, value in metadata.items() if key not in SERVER_HINTS | _NOT_A_SERVERS
    }
    if trusted:
        kept[TRUSTED] = True
    if server:
        kept["server"] = server
    if effect is not None:
        kept["effect"] = effect
    return tool.model_copy(update={"metadata": kept or None})


def _page(cursor: str) -> Any:
    from mcp.types import PaginatedRequestParams

    return PaginatedRequestParams(cursor=cursor)


def _said(value: Any) -> Mapping[str, Any]:
    """What an object of either major version of the SDK says, in the protocol's own words."""
    said = dumped(value)
    return said if isinstance(said, Mapping) else {}
