"""What differs between the revisions of MCP: a handshake first, or every request by itself.

Up to 2025-11-25 a client introduces itself with `initialize`, and a server asks it by requests of
its own. From 2026-07-28 on each request says who asks, and a server that needs something answers
with `input_required`; the client then makes the request again with what was wanted.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any, Final

from selfcorrect.model import JSON
from selfcorrect.proxy.frames import Frame, mapping

HANDSHAKES: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The revisions that begin with `initialize`."""
_RESERVED: Final = "io.modelcontextprotocol/"
_VERSION: Final = f"{_RESERVED}protocolVersion"
_CAPABILITIES: Final = f"{_RESERVED}clientCapabilities"
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that stands in the header `Mcp-Name`, by method."""
_DEEPEST: Final = 32


def version_in(frame: Frame) -> str | None:
    """The revision that a request names itself; None where a handshake settled it."""
    version = frame.meta.get(_VERSION)
    return version if isinstance(version, str) else None


def capabilities_in(frame: Frame) -> Mapping[str, Any]:
    """What a client can do, as its request says."""
    return mapping(frame.meta.get(_CAPABILITIES))


def envelope_of(frame: Frame) -> dict[str, JSON]:
    """Who asks, for a request that is made on behalf of this one; nothing after a handshake."""
    own = {key: value for key, value in frame.meta.items() if str(key).startswith(_RESERVED)}
    return {"_meta": own} if _VERSION in own else {}


def complete(frame: Frame) -> dict[str, JSON]:
    """What every result to this request says beside itself."""
    return {"resultType": "complete"} if version_in(frame) else {}


def headers_of(frame: Frame, schema: Mapping[str, Any] | None) -> dict[str, str]:
    """What HTTP repeats of a request that comes by itself, so that it can be routed.

    Args:
        frame: The request.
        schema: Of a called tool's arguments: those marked `x-mcp-header` are repeated, too.
    """
    version = version_in(frame)
    if version is None:
        return {}
    headers = {"mcp-protocol-version": version, "mcp-method": frame.method or ""}
    named = frame.params.get(_NAMED.get(frame.method or "", ""))
    if isinstance(named, str):
        headers["mcp-name"] = _header(named)
    if schema is not None:
        headers |= dict(_repeated(schema, mapping(frame.params.get("arguments")), 0))
    return headers


def _repeated(
    schema: Mapping[str, Any], args: Mapping[str, Any], depth: int
) -> Iterator[tuple[str, str]]:
    for name, below in mapping(schema.get("properties")).items():
        own, value = mapping(below), args.get(name)
        if isinstance(value, Mapping) and depth < _DEEPEST:
            yield from _repeated(own, value, depth + 1)
        elif isinstance(token := own.get("x-mcp-header"), str) and value is not None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            yield f"mcp-param-{token}", _header(text)


def _header(text: str) -> str:
    """A text as the value of a header; one that is not printable ASCII is wrapped."""
    plain = text.isascii() and text.isprintable() and text == text.strip()
    if plain and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="
