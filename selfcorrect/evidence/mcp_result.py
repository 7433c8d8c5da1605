"""MCP tool results with `isError`, and JSON-RPC 2.0 errors: `{"error": {"code", "message"}}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from selfcorrect.model import JSON, Finding

_MOST: Final = 10


def read(body: JSON) -> tuple[Finding, ...]:
    """A finding per text block or for the RPC error; nothing if the body is something else."""
    if not isinstance(body, Mapping):
        return ()
    blocks = body.get("content")
    if body.get("isError") is True and isinstance(blocks, list):
        texts = [
            block["text"]
            for block in blocks[:_MOST]
            if isinstance(block, Mapping) and isinstance(block.get("text"), str)
        ]
        return (Finding("\n".join(texts)),) if texts else (Finding("the tool reported an error"),)
    error = body.get("error") if "jsonrpc" in body else body
    if not isinstance(error, Mapping) or not isinstance(error.get("message"), str):
        return ()
    code = error.get("code")
    if isinstance(code, bool) or not isinstance(code, int):
        return ()
    if not ("jsonrpc" in body or -33000 < code < -32000):
        return ()
    data = error.get("data")
    text = error["message"]
    if isinstance(data, str) and data.strip() and data not in text:
        text = f"{text}: {data}"
    return (Finding(text, code=str(code)),)
