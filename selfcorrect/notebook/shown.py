"""Values as short texts that are safe to look at: secrets masked, cut, nothing to obey."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from selfcorrect.kernel.texts import excerpt, safe, visible
from selfcorrect.model import ABSENT

LINE: Final = 400
"""Characters of one value that are shown."""

_READ: Final = 8_192
"""Characters of one text that are looked at; a secret that is cut in two would not be seen."""

_MOST_VALUES: Final = 400
_DEPTH: Final = 6
_MOST_ROWS: Final = 60


def value_text(value: Any, limit: int = LINE, key: str | None = None) -> str:
    r"""A value as JSON on one line.

    Args:
        value: Anything; what is no JSON is named by its type.
        limit: The most characters; the rest is counted.
        key: The name that it stands under, by which a secret may be known.

    >>> value_text({"to": "Z\u202erich", "passengers": 2})
    '{"to": "Z\\u202erich", "passengers": 2}'
    >>> value_text("hunter2!", key="password")
    '"[secret]"'
    """
    if value is ABSENT:
        return "nothing"
    size = len(value) if isinstance(value, str) else 0
    small = safe(_small(value, [_MOST_VALUES], 0), key)
    return cut(json.dumps(small, ensure_ascii=False, default=_name), limit, size)


def plain_text(text: Any, limit: int = LINE) -> str:
    """A text as it is, without its quotes."""
    whole = text if isinstance(text, str) else str(text)
    return cut(excerpt(whole, _READ), limit, len(whole))


def cut(text: str, limit: int, size: int = 0) -> str:
    """The visible form of a text, of a bounded length; what is left out is counted."""
    size = max(size, len(text))
    if size <= limit and len(text) <= limit:
        return visible(text)
    return f"{visible(text[:limit])}… {size - min(limit, len(text)):,} more characters"


def rows(values: Mapping[str, Any]) -> list[list[str]]:
    """Each entry of a state as a key and a text."""
    out = [
        [cut(str(key), 80), value_text(value, LINE, str(key))]
        for key, value in list(values.items())[:_MOST_ROWS]
    ]
    if len(values) > _MOST_ROWS:
        out.append(["…", f"{len(values) - _MOST_ROWS:,} more keys"])
    return out


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[list[str]]:
    """What differs between two states: path, before, after, each as text."""
    found: list[list[str]] = []
    _compare(before, after, "", found)
    return found


def _compare(before: Any, after: Any, path: str, found: list[list[str]]) -> None:
    if before is after or len(found) >= _MOST_ROWS:
        return
    if _same(before, after):
        return
    nested = isinstance(before, Mapping) and isinstance(after, Mapping)
    if nested and path.count("/") < _DEPTH:
        for key in list(dict.fromkeys([*before, *after]))[:_MOST_VALUES]:
            inner = f"{path}/{str(key)[:80]}"
            _compare(before.get(key, ABSENT), after.get(key, ABSENT), inner, found)
        return
    name = path.rpartition("/")[2]
    found.append(
        [cut(path or "/", 200), *(value_text(each, 200, name) for each in (before, after))]
    )


def _same(before: Any, after: Any) -> bool:
    try:
        return bool(before == after)
    except Exception:  # what a state holds may refuse to be compared
        return False


def _small(value: Any, left: list[int], depth: int) -> Any:
    """The value with no more than a bounded number of parts, so that writing it is quick."""
    left[0] -= 1
    if isinstance(value, str):
        return value if len(value) <= _READ else value[:_READ]
    if value is None or isinstance(value, bool | int | float):
        return value if not isinstance(value, int) or value.bit_length() < 4_000 else "a number"
    if left[0] <= 0 or depth > _DEPTH:
        return "…"
    if isinstance(value, Mapping):
        kept: dict[str, Any] = {}
        for key, item in value.items():
            if left[0] <= 0:
                kept["…"] = f"{len(value) - len(kept):,} more"
                break
            kept[str(key)[:200]] = _small(item, left, depth + 1)
        return kept
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        listed: list[Any] = []
        for item in value:
            if left[0] <= 0:
                listed.append(f"… {len(value) - len(listed):,} more")
                break
            listed.append(_small(item, left, depth + 1))
        return listed
    return _message(value, left, depth)


def _message(value: Any, left: list[int], depth: int) -> Any:
    """A chat message by its type and content; anything else by its type."""
    content = getattr(value, "content", None)
    kind = getattr(value, "type", None)
    if isinstance(kind, str) and content is not None:
        said = {kind: _small(content, left, depth + 1)}
        calls = getattr(value, "tool_calls", None)
        return said | ({"tool_calls": _small(calls, left, depth + 1)} if calls else {})
    return _name(value)


def _name(value: Any) -> str:
    return f"<{type(value).__name__}>"
