"""Answers to `tools/call`: the value in a server's, and the one that the client gets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from selfcorrect.errors import NotDone
from selfcorrect.integrations import mcp
from selfcorrect.integrations.mcp import MCPProtocolError
from selfcorrect.integrations.trails import changes_in
from selfcorrect.model import JSON
from selfcorrect.plain import as_text
from selfcorrect.proxy.frames import INVALID_PARAMS, Frame, complete, made, mapping, result

OURS: Final = "selfcorrect"
"""The key of `_meta` under which a client finds what was changed."""


class RefusedByHTTP(MCPProtocolError):
    """The server refused the request before it looked at the call.

    Attributes:
        status_code: The HTTP status.
    """

    code = "SC211"

    def __init__(self, status: int, *told: Any, trusted: bool) -> None:
        super().__init__(*told, trusted=trusted)
        self.status_code = status


def value_of(answer: Frame, *, trusted: bool) -> JSON:
    """The tool's value.

    Args:
        answer: What the server answered.
        trusted: Whether a refusal of the request by the protocol means that nothing was done.

    Raises:
        NotDone: If the call never reached the server.
        MCPProtocolError: If the server refused the request.
        ToolReportedError: If the tool reported an error.
    """
    if "error" in answer.data:
        error = mapping(answer.data["error"])
        code = error.get("code")
        number, message = code if isinstance(code, int) else 0, as_text(error.get("message"))
        if not answer.reached:
            raise NotDone(message)
        told = number, message, error.get("data")
        if answer.status >= 400:
            raise RefusedByHTTP(answer.status, *told, trusted=trusted)
        raise MCPProtocolError(*told, trusted=trusted)
    return mcp.value_of(mapping(answer.data.get("result")))


def is_unfinished(answer: Frame) -> bool:
    """Whether the call goes on elsewhere: the server wants input first, or made a task of it."""
    told = mapping(answer.data.get("result"))
    return told.get("resultType") == "input_required" or "task" in told


def answer_of(value: JSON) -> dict[str, JSON]:
    """The answer that holds a value which the server did not give just now.

    >>> answer_of({"price": 9.5})
    {'content': [{'type': 'text', 'text': '{"price": 9.5}'}], 'structuredContent': {'price': 9.5}}
    """
    if isinstance(value, list) and value and all("type" in mapping(block) for block in value):
        return {"content": value}
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    told: dict[str, JSON] = {"content": [{"type": "text", "text": text}]}
    return told | {"structuredContent": dict(value)} if isinstance(value, Mapping) else told


def note_on(out: Mapping[str, Any], executions: int) -> dict[str, JSON]:
    """What a client may know of a run that was not simply done."""
    failure = mapping(out.get("failure"))
    note: dict[str, JSON] = {"executions": executions}
    if changes := changes_in(out):
        note["changes"] = changes
    for key in ("reason", "detail", "proposal"):
        if failure.get(key):
            note[key] = failure[key]
    return note


def noted(answer: Frame, note: Mapping[str, JSON]) -> Frame:
    """A server's answer, with what was changed on the way in its `_meta`; its words stay."""
    told = mapping(answer.data.get("result"))
    meta = {**mapping(told.get("_meta")), OURS: note}
    return made({**answer.data, "result": {**told, "_meta": meta}})


def failed(
    id: JSON,  # noqa: A002
    text: str,
    note: Mapping[str, JSON],
    last: Frame | None,
    beside: Mapping[str, JSON],
) -> Frame:
    """The answer to a call that could not be mended: the server's own, and the diagnosis.

    Args:
        id: The client's id.
        text: What the model is told.
        note: What goes into `_meta`.
        last: What the server answered last, if the client may read it.
        beside: What every result of this revision of the protocol holds.
    """
    if last is not None and "error" in last.data:
        error = mapping(last.data["error"])
        if error.get("code") != INVALID_PARAMS:
            return last.under(id)  # of the protocol: nothing about the arguments is to be told
        message = f"{as_text(error.get('message'))}\n\n{text}"
        return made({**last.data, "id": id, "error": {**error, "message": message}})
    told = mapping(last.data.get("result")) if last is not None else {}
    content = [*mcp.blocks_of(told), {"type": "text", "text": text}]
    meta = {**mapping(told.get("_meta")), OURS: note}
    return result(id, {**beside, **told, "content": content, "isError": True, "_meta": meta})


def refused(call: Frame, reason: str, why: str, text: str) -> Frame:
    """The answer to a call that is not even looked at."""
    note: dict[str, JSON] = {"executions": 0, "reason": reason, "detail": why}
    return failed(call.id, text, note, None, complete(call))
