"""The one way for outside text to reach a model, a log or a report.

Outside text is whatever a tool, a model or a caller wrote. It comes out as a JSON literal behind
the word `data`, so that it can neither end its own quotation nor steer a terminal: control and
bidi characters are escaped, secrets are replaced, and its length is bounded.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from selfcorrect.secret_forms import announces, hints, spans

LIMIT: Final = 2_000
"""Characters of outside text that go anywhere, unless the caller says otherwise."""

_BEYOND: Final = 8_192
"""How far past the limit secrets are looked for, so that a cut never shows half of one."""

SECRET: Final = "[secret]"  # noqa: S105 -- what stands for one
"""Stands for a secret."""

SHORTEST: Final = 8
"""A text of fewer characters is no secret of a known form."""

BARE: Final = frozenset({int, float, bool, type(None)})
"""Types of values that are no text and hold none."""

_SHORT: Final = 200
_MOST_CLEAN: Final = 4_096
_PLAIN: Final[set[str]] = set()
"""Keys that hold no secret and announce none."""
_CLEAN: Final[set[str]] = set()
"""Short texts that hold no secret: the same names and reasons come by again and again."""


def outside(value: Any, limit: int = LIMIT) -> str:
    r"""Outside text, or any JSON value, as a labelled JSON literal of bounded length.

    Args:
        value: A string, or a JSON value, whose strings are treated alike.
        limit: The most characters of it that are shown; the rest is counted.

    >>> outside("say \"hi\"")
    'data: "say \\"hi\\""'
    >>> outside({"user": "ann", "password": "hunter2!"})
    'data: {"user": "ann", "password": "[secret]"}'
    """
    return f"data: {literal(value, limit)}"


def literal(value: Any, limit: int = LIMIT) -> str:
    """Like `outside`, without the label: for people, who know a quotation when they see one.

    >>> literal({"user": "ann", "password": "hunter2!"})
    '{"user": "ann", "password": "[secret]"}'
    """
    if not isinstance(value, str):
        value = _dumped(value)
        if len(value) <= limit and len(shown := redact(value)) <= limit:
            return _escaped(shown)
    return quoted(value, limit)


def quoted(text: str, limit: int = LIMIT) -> str:
    r"""Like `outside` for text, without the label: for a name inside a sentence.

    >>> quoted("a\u202eb")
    '"a\\u202eb"'
    >>> quoted("x" * 300, 40)
    '"xxxxxxxxxxxxxxxxxxxxxxxxxxx… 260 characters …xxxxxxxxxxxxx"'
    """
    return _escaped(json.dumps(_shortened(text, limit), ensure_ascii=False))


def redact(text: str) -> str:
    """The text with every secret of a known form replaced by `[secret]`.

    Takes time linear in the length of the text.

    >>> redact("fetch https://ann:pa55word@example.org failed")
    'fetch https://[secret]@example.org failed'
    """
    if text in _CLEAN:
        return text
    parts, last = [], 0
    for start, end in spans(text):
        parts += [text[last:start], SECRET]
        last = end
    redacted = "".join([*parts, text[last:]]) if parts else text
    if redacted == text and len(text) <= _SHORT:
        if len(_CLEAN) >= _MOST_CLEAN:
            _CLEAN.clear()
        _CLEAN.add(text)
    return redacted


def is_clean(value: Any) -> bool:
    """Whether no text in a JSON value holds a secret; looks only, and copies nothing.

    >>> is_clean({"seats": 2}), is_clean(["fetch https://ann:pa55word@example.org"])
    (True, False)
    """
    inside = [value]
    for item in inside:  # and whatever is added on the way
        kind = type(item)
        if kind is str:
            if item not in _CLEAN and len(item) >= SHORTEST and redact(item) != item:
                return False
        elif kind is list or kind is tuple:
            inside += item
        elif kind is dict or (kind not in BARE and isinstance(item, Mapping)):
            for key, child in item.items():
                if key not in _PLAIN and type(key) is str and not _is_clean_key(key, child):
                    return False
            inside += item.values()
    return True


def _is_clean_key(key: str, value: Any) -> bool:
    if len(key) >= SHORTEST and redact(key) != key:
        return False
    if not hints(key):
        if len(key) <= _SHORT and len(_PLAIN) < _MOST_CLEAN:
            _PLAIN.add(key)
        return True
    return type(value) is not str or value == SECRET or not announces(key, value)


def shown_at(key: Any, value: Any) -> Any:
    """A value that stands under a key: a text that the key says is a secret is none any more.

    >>> shown_at("password", "hunter"), shown_at("seat", "12A")
    ('[secret]', '12A')
    """
    return SECRET if type(value) is str and type(key) is str and announces(key, value) else value


def _shortened(text: str, limit: int) -> str:
    size, limit = len(text), max(limit, 1)
    head = redact(text[: limit + _BEYOND])
    if size <= limit + _BEYOND and len(head) <= limit:
        return head
    if size <= limit:
        return head[:limit]
    kept_tail = limit // 3
    tail = redact(text[-(kept_tail + _BEYOND) :])[-kept_tail:] if kept_tail else ""
    return f"{head[: limit - kept_tail]}… {size - limit} characters …{tail}"


def _dumped(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=_type_name)
    except (ValueError, TypeError, RecursionError):
        return json.dumps(_type_name(value))


def _type_name(value: Any) -> str:
    return f"<{type(value).__name__}>"


def _escaped(text: str) -> str:
    return _NOT_PLAIN.sub(_as_escape, text)


_NOT_PLAIN: Final = re.compile(r"[^\x20-\x7e]")
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def _as_escape(found: re.Match[str]) -> str:
    char = found[0]
    return json.dumps(char)[1:-1] if unicodedata.category(char) in _HIDDEN else char
