"""Who said what before a call: people, and tools, whose words name no value by themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from selfcorrect.kernel.verdicts import Heard
from selfcorrect.model import JSON, OWN_CHECKS, Finding
from selfcorrect.protocols import Tool
from selfcorrect.state import CorrectionState

_PEOPLE: Final = frozenset({"human", "system", "user"})
_MODELS: Final = frozenset(
    {"ai", "aimessagechunk", "assistant", "function_call", "model", "reasoning"}
)
_TEXTS: Final = ("text", "input_text")
_IDS: Final = ("tool_call_id", "tool_use_id", "call_id", "toolUseId", "id")
_ANSWERS: Final = ("functionResponse", "function_response", "toolResult")


def heard(
    findings: Sequence[Finding], name: str, state: CorrectionState, tools: Mapping[str, Tool]
) -> list[Heard]:
    """What tools said, in this run and in the conversation before it.

    Args:
        findings: What is mended.
        name: The tool that was called.
        state: The run.
        tools: The tools on offer, which may know their server.
    """
    errors = [
        ([one.text, *one.suggestions], name)
        for one in findings
        if OWN_CHECKS.isdisjoint(one.types[:1])
    ]
    failed = [one for one in state.get("attempts") or () if one.get("text")]
    errors += [([one["text"]], one["call"]["name"]) for one in failed]
    return [
        *(Heard(said, "error", _server(name, tools)) for said, name in errors),
        *_answers(_messages(state), tools),
    ]


def known(state: CorrectionState, *beside: JSON) -> list[str]:
    """What the user and the system said, and what stands beside that."""
    texts = (
        _text(part)
        for message in _messages(state)
        if _role(message) in _PEOPLE
        for part in _parts(message)
    )
    said = [text for text in (state["given"].get("request"), *texts) if isinstance(text, str)]
    return [*said, *(json.dumps(one, ensure_ascii=False, default=str) for one in beside)]


def _messages(state: CorrectionState) -> list[Mapping[str, Any]]:
    return [*filter(_is_record, state["given"].get("messages") or ())]


def _role(message: Mapping[str, Any]) -> str:
    return str(message.get("role") or message.get("type")).lower()


def _parts(message: Mapping[str, Any]) -> list[Any]:
    content = next((message[key] for key in ("content", "parts") if key in message), message)
    return content if isinstance(content, list) else [content]


def _text(part: JSON) -> JSON:
    """The text of a part that is nothing else: what a tool answered may stand beside it."""
    is_text = isinstance(part, Mapping) and part.get("type", "text") in _TEXTS
    return part.get("text") if is_text else part


def _answers(messages: Sequence[Mapping[str, Any]], tools: Mapping[str, Tool]) -> Iterator[Heard]:
    """What is neither a person's word nor the model's own, and whose tool said it."""
    names: dict[str, str] = {}
    for message in messages:
        if (role := _role(message)) in _MODELS:
            listed = message.get("tool_calls")
            calls = [*(listed if isinstance(listed, list) else ()), message, *_parts(message)]
            for call in filter(_is_record, calls):
                inner = [call, *filter(_is_record, call.values())]
                pairs = zip(_said(inner, *_IDS), _said(inner, "name"), strict=False)
                names |= dict(islice(pairs, 1))  # what comes behind is the call's arguments
            continue
        for part in _parts(message):
            if role in _PEOPLE and isinstance(_text(part), str):
                continue
            # What a tool wrote may itself hold a name: the host's own keys come first.
            about = [message, *((part, *map(part.get, _ANSWERS)) if _is_record(part) else ())]
            about = [*filter(_is_record, about)]
            called = next((names[each] for each in _said(about, *_IDS) if each in names), None)
            called = called or next(_said(about, "name"), None)
            is_error = any(one.get("status") == "error" or one.get("is_error") for one in about)
            yield Heard(part, "past" if is_error else "result", _server(called, tools))


def _is_record(value: Any) -> bool:
    return isinstance(value, Mapping)


def _said(records: Sequence[Mapping[str, Any]], *keys: str) -> Iterator[str]:
    """The texts under these keys, those of the first record first."""
    found = (record.get(key) for record in records for key in keys)
    return (text for text in found if isinstance(text, str))


def _server(name: str | None, tools: Mapping[str, Tool]) -> str:
    return getattr(tools.get(name or ""), "server", "")
