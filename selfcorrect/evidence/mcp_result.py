"""MCP tool results with `isError`, and JSON-RPC 2.0 errors: `{"error": {"code", "message"}}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from selfcorrect.evidence import ajv_errors, pydantic_errors, zod_issues
from selfcorrect.model import JSON, Finding

_MOST: Final = 10
_INVALID_PARAMS: Final = -32602


def _listed(data: JSON) -> tuple[Finding, ...]:
    """What validators list beside the message, as structure: Zod, Ajv, pydantic."""
    readers = (zod_issues.read, ajv_errors.read, pydantic_errors.read)
    return next((found for read in readers if (found := read(data))), ())


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
    if code == _INVALID_PARAMS and (listed := _listed(data)):
        return listed
    text = error["message"]
    if isinstance(data, str) and data.strip() and data not in text:
        text = f"{text}: {data}"
    return (Finding(text, code=str(code)),)
