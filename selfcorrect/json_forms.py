"""The data of the loop as plain JSON, as a state holds it, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from selfcorrect.model import (
    ABSENT,
    JSON,
    Call,
    Category,
    Change,
    ErrorKind,
    Finding,
    Safety,
    Source,
)

_PLAIN: Final = frozenset({str, int, float, bool})
_CHANGE: Final = frozenset({"path", "safety", "reason"})


@lru_cache(maxsize=256)
def _fields_of(kind: type[Any]) -> tuple[tuple[str, Any], ...] | None:
    """Names and defaults of the fields of a dataclass; None for any other type."""
    return tuple((f.name, f.default) for f in fields(kind)) if is_dataclass(kind) else None


def to_json(value: Any) -> JSON:
    """Turn the data of `selfcorrect.model` into plain JSON; `ABSENT` and empty fields are left out.

    Values that come from outside (arguments, captures) pass through unchanged.
    """
    kind: Any = type(value)
    if kind in _PLAIN or value is None:
        return value
    if (known := _fields_of(kind)) is not None:
        out: dict[str, JSON] = {}
        for name, default in known:
            item = getattr(value, name)
            if item is ABSENT or (item is None and default is None):
                continue
            out[name] = item if type(item) in _PLAIN else to_json(item)
        return out
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple | list):
        return [item if type(item) in _PLAIN else to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    return value


def call_to_json(call: Call) -> dict[str, JSON]:
    """The call as plain JSON; the same as `to_json`, without looking at its fields."""
    out: dict[str, JSON] = {"name": call.name, "args": call.args}
    if call.id is not None:
        out["id"] = call.id
    if call.raw is not None:
        out["raw"] = call.raw
    return out


def finding_to_json(finding: Finding) -> dict[str, JSON]:
    """The finding as plain JSON; the same as `to_json`, without words that nobody spoke."""
    out: Any = to_json(finding)
    return {key: item for key, item in out.items() if key != "spoke" or item}


def call_from_json(data: Mapping[str, Any]) -> Call:
    """The call that `call_to_json` wrote."""
    return Call(data["name"], data.get("args") or {}, data.get("id"), data.get("raw"))


def finding_from_json(data: Mapping[str, Any]) -> Finding:
    """The finding that `finding_to_json` wrote.

    One that does not say how sure it is comes from a node of one's own, whose word counts.
    """
    return Finding(
        text=data["text"],
        types=tuple(data.get("types", ())),
        status=data.get("status"),
        code=data.get("code"),
        paths=tuple(data.get("paths", ())),
        constraint=data.get("constraint", {}),
        suggestions=tuple(data.get("suggestions", ())),
        retry_after=data.get("retry_after"),
        kind=ErrorKind(data.get("kind", "internal")),
        category=Category(data.get("category", "none")),
        captures=data.get("captures", {}),
        rule=data.get("rule"),
        ladder=tuple(data.get("ladder", ())),
        confidence=data.get("confidence", 1.0),
        witness=Source(data.get("witness", "structure")),
        spoke=tuple((word, weight) for word, weight in data.get("spoke", ())),
    )


def change_from_json(data: Mapping[str, Any]) -> Change:
    """The change that `to_json` wrote; a place that is left out is `ABSENT`."""
    return Change(
        path=data["path"],
        before=data.get("before", ABSENT),
        after=data.get("after", ABSENT),
        safety=Safety(data["safety"]),
        reason=data["reason"],
        strategy=data.get("strategy"),
        rule=data.get("rule"),
    )


def is_proposal(option: JSON) -> bool:
    """Whether an option is a list of changes rather than a value."""
    return (
        isinstance(option, list | tuple)
        and bool(option)
        and all(isinstance(item, Mapping) and item.keys() >= _CHANGE for item in option)
    )
