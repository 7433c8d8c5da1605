"""What of a run may be shown: no secrets of known forms, no values of sensitive fields.

The state itself keeps the call as it is, since it must be executed; trails, logs, reports and
prompts get what comes out of here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from selfcorrect.echoes import echoes_of, leaves
from selfcorrect.json_forms import is_proposal
from selfcorrect.kernel.texts import is_clean, place, redact, safe, shown_at
from selfcorrect.model import JSON
from selfcorrect.pointer import join
from selfcorrect.policies.safety import SafetyPolicy, marks_sensitive
from selfcorrect.protocols import Tool

SENSITIVE: Final = "[sensitive]"
"""Stands for the value of a sensitive field."""

_STRUCTURE: Final = frozenset(
    {"node", "next", "strategy", "rule", "safety", "kind", "category", "code", "types", "ladder"}
    | {"outcome", "effect", "acted", "answers", "schema"}
)
"""Keys whose texts are this library's own words, or names."""
_PLACES: Final = frozenset({"path", "paths"})
"""Keys whose texts are pointers: a key of the arguments in them may be a secret."""
_PAIR: Final = re.compile(
    r"(?<![\w.-])([\w.-]{1,100}+)[\"']?\s{0,9}[:=]\s{0,9}"
    r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^\s,;{}\[\]()]+)"
)
_ABOUT: Final = ("before", "after")
"""Keys of what stood, or stands, at the place that a change is about; without one, whole calls."""
_EVENTS: Final = frozenset(
    {"call", "current", "original", "changes", "refused", "pending", "attempts", "question"}
)


@dataclass(frozen=True, slots=True)
class Mask:
    """Hides what may not be shown of one run.

    Attributes:
        tool: The tool of the call, or None.
        safety: Says which fields are sensitive.
        echoes: Texts of sensitive values, wherever they turn up again.
    """

    tool: Tool | None
    safety: SafetyPolicy
    echoes: tuple[str, ...] = ()

    @classmethod
    def of(cls, call: Any, tool: Tool | None, safety: SafetyPolicy) -> Mask:
        """The mask for everything that is said about this call."""
        bare = cls(tool, safety)
        if not has_sensitive(tool, safety) or not isinstance(call, Mapping):
            return bare
        found = [*leaves(call.get("args"), "/args"), *_named_in(call.get("raw"))]
        return replace(bare, echoes=echoes_of(value for path, value in found if bare.hides(path)))

    def hides(self, path: str) -> bool:
        """Whether the value at this pointer into a call may not be shown."""
        return self.safety.sensitive_field(path, self.tool) is not None

    def text(self, text: str) -> str:
        """A text without secrets and without what sensitive fields hold."""
        for echo in self.echoes:
            text = text.replace(echo, SENSITIVE)
        return redact(text)

    def value(self, value: Any, path: str = "") -> JSON:
        """Any JSON value; `path` says where in a call it stands, if it does."""
        if isinstance(value, Mapping):
            return {self._key(key): self._item(key, item, path) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [
                self.value(item, f"{path}/{index}" if path else "")
                for index, item in enumerate(value)
            ]
        if path and value is not None and self.hides(path):
            return SENSITIVE
        return self.text(value) if isinstance(value, str) else value

    def event(self, event: Any) -> Any:
        """What is told of a run: an event, a report, a call, a change, a question.

        The event itself where it holds nothing to hide.
        """
        if not isinstance(event, Mapping):
            return self.value(event)
        if not has_sensitive(self.tool, self.safety) and is_clean(event):
            return event
        path = str(event.get("path") or "")
        return {self._key(key): self._part(key, item, path) for key, item in event.items()}

    def _part(self, key: Any, item: Any, path: str) -> JSON:
        """What stands under one key of an event, which may be about a place in a call."""
        if key == "args":
            return self.value(item, "/args")
        if key == "options" and isinstance(item, list | tuple):
            at = path if path.startswith("/args") else ""
            return [
                [self.event(one) for one in each] if is_proposal(each) else self.value(each, at)
                for each in item
            ]
        if key in _ABOUT and path:
            return self.value(item, path)
        if key in (*_ABOUT, *_EVENTS):
            is_list = isinstance(item, list | tuple)
            return [self.event(each) for each in item] if is_list else self.event(item)
        return safe(item) if key == "name" else self._item(key, item, "")

    def _item(self, key: Any, item: Any, path: str) -> JSON:
        if not path and key in _STRUCTURE:
            return item
        if not path and key in _PLACES:
            return _place(item)
        return self.value(shown_at(key, item), f"{path}{join(key)}" if path else "")

    def _key(self, key: Any) -> Any:
        return self.text(key) if isinstance(key, str) else key


def _named_in(raw: Any) -> Iterator[tuple[str, JSON]]:
    """What stands behind a name in arguments that could not be read, each with its pointer."""
    for found in _PAIR.finditer(raw) if isinstance(raw, str) else ():
        yield f"/args{join(found[1])}", found[2].strip("\"'")


def _place(item: Any) -> JSON:
    """A pointer, or several, without secrets; what a pointer names is no value to be hidden."""
    if isinstance(item, str):
        return place(item)
    return [_place(each) for each in item] if isinstance(item, list | tuple) else item


def masked(trail: list[JSON], call: Any, tool: Tool | None, safety: SafetyPolicy) -> list[JSON]:
    """What is said about a call as it may be shown; itself where it holds nothing to hide."""
    if not has_sensitive(tool, safety) and is_clean(trail):
        return trail
    mask = Mask.of(call, tool, safety)
    return [mask.event(event) for event in trail]


def has_sensitive(tool: Tool | None, safety: SafetyPolicy) -> bool:
    """Whether anything at all is sensitive here."""
    known: Any = tool
    return bool(safety.sensitive) or (tool is not None and marks_sensitive(known))
