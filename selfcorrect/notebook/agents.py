"""What an agent's messages tell: what was asked, which calls were mended, which were not made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from selfcorrect.forms.access import get
from selfcorrect.notebook.frame import MOST, Frame, change_row, listed
from selfcorrect.notebook.shown import cut, plain_text

_NOTE: Final = "selfcorrect"
"""The key of a message's `response_metadata` under which the middleware notes what it did."""

_NAMED: Final = 3
_LONGEST_TITLE: Final = 120


def tell_messages(frame: Frame, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Add to a frame what the messages that a step wrote say of calls: mended, or not made."""
    known = dict(_identified(before))
    ended: dict[str, None] = {}
    for key, message in _identified(after):
        note = {} if key in known else _note_of(message)
        calls = note.get("calls")
        for each in [note, *(calls.values() if isinstance(calls, Mapping) else ())]:
            frame.changes += changes_of(each)[: MOST - len(frame.changes)]
        if isinstance(note.get("reason"), str):
            tone, word = _end(message, note)
            frame.tone = "error" if "error" in (tone, frame.tone) else tone
            ended[f"{word}: {cut(note['reason'], 60)}"] = None
    titles = [mended(frame.changes)] if frame.changes else []
    if titles or ended:
        frame.title = cut(" · ".join([*titles, *ended]), 160)


def mended(changes: Sequence[Mapping[str, str]]) -> str:
    """Changes in one line.

    >>> mended([{"path": "/name", "before": '"bok"', "after": '"book"'}])
    'mended: bok→book'
    >>> mended([{"path": "/args/seats", "before": '"2"', "after": "2"}])
    'mended: seats "2"→2'
    """
    named = [_short(change) for change in changes[:_NAMED]]
    more = len(changes) - _NAMED
    return f"mended: {', '.join(named)}{f' and {more} more' if more > 0 else ''}"


def changes_of(note: Any) -> list[dict[str, str]]:
    """The changes that a note tells, as they are shown."""
    known = note if isinstance(note, Mapping) else {}
    return [change_row(change) for change in listed(known, "changes")]


def asked_in(values: Mapping[str, Any]) -> str:
    """What the person wrote last in a conversation, as a title; nothing where there is none."""
    for message in reversed(_messages(values)):
        if _part(message, "type", "role") in ("human", "user"):
            content = _part(message, "content")
            return plain_text(content, _LONGEST_TITLE) if isinstance(content, str) else ""
    return ""


def answered_in(values: Mapping[str, Any]) -> str | None:
    """What the agent said last, if a conversation ends with it."""
    last = next(reversed(_messages(values)), None)
    if _part(last, "type", "role") not in ("ai", "assistant") or _part(last, "tool_calls"):
        return None
    text = _part(last, "text", "content")
    return text if isinstance(text, str) and text.strip() else None


def _end(message: Any, note: Mapping[str, Any]) -> tuple[str, str]:
    """The tone and the word for a call, or a run, that came to no good end."""
    if _part(message, "type") != "tool":
        return "error", "the run ended"
    return ("error", "failed") if note.get("executed") is True else ("held", "not called")


def _short(change: Mapping[str, str]) -> str:
    before, after = (cut(change[key], 40) for key in ("before", "after"))
    if change["path"] == "/name":
        return f"{_bare(before)}→{_bare(after)}"
    place = change["path"].removeprefix("/args").lstrip("/")
    return f"{cut(place, 40)} {before}→{after}".lstrip()


def _bare(text: str) -> str:
    """A name without its quotes."""
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return cut(found, 40) if isinstance(found, str) else text


def _messages(values: Mapping[str, Any]) -> Sequence[Any]:
    found = values.get("messages")
    return found if isinstance(found, list) else []


def _identified(values: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Each message under what tells it from the others: its id, or its place."""
    return [
        (_part(message, "id") or place, message) for place, message in enumerate(_messages(values))
    ]


def _note_of(message: Any) -> Mapping[str, Any]:
    metadata = _part(message, "response_metadata")
    note = metadata.get(_NOTE) if isinstance(metadata, Mapping) else None
    return note if isinstance(note, Mapping) else {}


def _part(message: Any, *names: str) -> Any:
    """A part of a message, be it an object or plain JSON."""
    found = (get(message, name) for name in names)
    return next((each for each in found if each is not None), None)
