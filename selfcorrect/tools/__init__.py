"""Tools as selfcorrect sees them: what the model is sent, what checks arguments, what runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfcorrect.lazily import lazily

if TYPE_CHECKING:
    from selfcorrect.tools.builtin import escalate, throw_exception
    from selfcorrect.tools.collection import tool_specs
    from selfcorrect.tools.signatures import ArgumentDeserializationError
    from selfcorrect.tools.spec import ToolSpec

_HOMES = {
    "ArgumentDeserializationError": "selfcorrect.tools.signatures",
    "ToolSpec": "selfcorrect.tools.spec",
    "escalate": "selfcorrect.tools.builtin",
    "throw_exception": "selfcorrect.tools.builtin",
    "tool_specs": "selfcorrect.tools.collection",
}

__all__ = [
    "ArgumentDeserializationError",
    "ToolSpec",
    "escalate",
    "throw_exception",
    "tool_specs",
]

__getattr__ = lazily(__name__, _HOMES)
