"""Builds what a strategy gets beside the call and the diagnosis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from selfcorrect.context import RunContext
from selfcorrect.model import Attempt, ErrorKind, call_from_json, change_from_json
from selfcorrect.protocols import ModelPort, RepairContext
from selfcorrect.state import CorrectionState

_LAST_MESSAGES = 6


def repair_context(
    state: CorrectionState, context: RunContext, ask_model: ModelPort | None
) -> RepairContext:
    """The context of a strategy in this state; `ask_model` is None where none may be asked."""
    given = state["given"]
    return RepairContext(
        tool=context.tools.get(state["current"]["name"]),
        tools=context.tools,
        request=given.get("request"),
        messages=tuple((given.get("messages") or [])[-_LAST_MESSAGES:]),
        finish_reason=given.get("finish_reason"),
        attempts=tuple(_attempt(item) for item in state.get("attempts") or ()),
        refused=tuple(change_from_json(item) for item in state.get("refused") or ()),
        ask_model=ask_model,
        now=context.time.now,
    )


def _attempt(item: Mapping[str, Any]) -> Attempt:
    kind = item.get("kind")
    return Attempt(
        item["number"],
        call_from_json(item["call"]),
        item["outcome"],
        item.get("seconds", 0.0),
        item.get("text"),
        ErrorKind(kind) if kind else None,
    )
