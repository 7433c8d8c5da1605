"""May this text leave? The one way for outside text to a model, a person, a log or a report.

Outside text is whatever a tool, a model or a caller wrote: errors, values, names, ids. Secrets are
looked for in it as it stands and once more without its escapes and invisible characters; then it is
bounded, and quoted as data: it can neither end its own quotation nor steer a terminal.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from selfcorrect.plain import INVISIBLE, clean
from selfcorrect.pointer import join, split

if TYPE_CHECKING:
    from selfcorrect.kernel.detectors import Detector, Span

LIMIT: Final = 2_000
"""Characters of outside text that go anywhere, unless the caller says otherwise."""

_BEYOND: Final = 8_192
"""How far past the limit secrets are looked for, so that a cut never shows half of one."""

SECRET: Final = "[secret]"  # noqa: S105 -- what stands for one
"""Stands for a secret."""

_LONGEST: Final = 2**16
"""Characters of one text that are gone through; of a longer one the middle is left out, counted."""

_SHORTEST: Final = 7
"""A text of fewer characters is no secret of a known form."""

_SHORT: Final = 200
_MOST_CLEAN: Final = 4_096
_CLEAN: Final[set[str]] = set()
"""Short texts that hold no secret: the same names and reasons come by again and again."""
_MORE: Final[list[Detector]] = []


def add_detector(find: Detector) -> Detector:
    """Hide what a function of the deployment finds, too, in everything that leaves this process.

    A text that it raises for is hidden whole.

    Args:
        find: From a text to the places in it, each from where to where.
    """

    def found(text: str) -> list[Span]:
        try:
            return [(max(0, start), min(len(text), end)) for start, end in find(text)]
        except Exception:  # what could not be looked at may hold what it looks for
            return [(0, len(text))]

    _MORE.append(found)
    _CLEAN.clear()
    return find


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
            return visible(shown)
    return quoted(value, limit)


def quoted(text: str, limit: int = LIMIT) -> str:
    r"""Like `outside` for text, without the label: for a name inside a sentence.

    >>> quoted("a\u202eb")
    '"a\\u202eb"'
    >>> quoted("x" * 300, 40)
    '"xxxxxxxxxxxxxxxxxxxxxxxxxxx… 260 characters …xxxxxxxxxxxxx"'
    """
    return visible(json.dumps(_shortened(text, limit), ensure_ascii=False))


def redact(text: str) -> str:
    """The text with every secret of a known form replaced by `[secret]`.

    Takes bounded time: of a text of more than 65,536 characters the middle is left out.

    >>> redact("fetch https://ann:pa55word@example.org failed")
    'fetch https://[secret]@example.org failed'
    """
    if len(text) < _SHORTEST or text in _CLEAN:
        return text
    return _redacted(text) if len(text) <= _LONGEST else _shortened(text, _LONGEST)


def _redacted(text: str) -> str:
    from selfcorrect.kernel.detectors import spans

    parts, last = [], 0
    for start, end in spans(text, _MORE):
        parts += [text[last:start], SECRET]
        last = end
    if parts:
        return "".join([*parts, text[last:]])
    if len(text) <= _SHORT:
        if len(_CLEAN) >= _MOST_CLEAN:
            _CLEAN.clear()
        _CLEAN.add(text)
    return text


def excerpt(text: str, limit: int = LIMIT) -> str:
    """The beginning of a text, without secrets: for a field that is quoted where it is shown."""
    return clean(redact(text[: limit + _BEYOND])[:limit])


def safe(
    value: Any,
    key: Any = None,
    limit: int = _LONGEST,
    depth: int = 100,
    show: Callable[[str], str] = str,
) -> Any:
    """A value as it may be shown: in no text or key a secret, and none under a key that says so.

    >>> safe({"url": "https://ann:pa55word@example.org", "password": "hunter2!", "seats": 2})
    {'url': 'https://[secret]@example.org', 'password': '[secret]', 'seats': 2}
    """
    value = shown_at(key, value)
    if isinstance(value, str):
        return show(redact(value) if len(value) <= limit else _shortened(value, limit))
    if not isinstance(value, Mapping | list | tuple):
        return value
    if depth <= 0:
        return "…"
    rest: dict[str, Any] = {"limit": limit, "depth": depth - 1, "show": show}
    if isinstance(value, Mapping):
        return {safe(name, **rest): safe(item, name, **rest) for name, item in value.items()}
    return [safe(item, key, **rest) for item in value]


def place(path: str) -> str:
    """A JSON pointer without secrets. Each token is looked at before it is escaped.

    >>> place("/args/postgresql:~1~1ann:pa55word@db/0")
    '/args/postgresql:~1~1[secret]@db/0'
    """
    return join(*map(redact, split(path))) if path[:1] == "/" else redact(path)


def spelled(place: str | Iterable[str | int], name: Callable[[str], str] = str) -> str:
    """A place as people read it, of a pointer into a call or of tokens.

    >>> spelled("/args/lines/0/packs"), spelled(["lines", 0, "packs"])
    ('lines[0].packs', 'lines[0].packs')
    """
    text = ""
    tokens = split(place.removeprefix("/args")) if isinstance(place, str) else place
    for token in map(str, tokens):
        is_index = token.isdecimal() and len(token) < 8
        part = f"[{token}]" if is_index else name(token)
        text += f".{part}" if text and part[:1] != "[" else part
    return text


def without_folders(text: str, known: Any) -> str:
    r"""What a model reads of an error: no folders of a host, but below those that its call names.

    >>> without_folders(r"cannot read /home/ann/rates.csv, C:\\Users\\ann\\x.csv", {"city": "Rome"})
    'cannot read …/rates.csv, …/x.csv'
    >>> without_folders("no file /srv/data/rates.csv", {"path": "/srv/date/rates.csv"})
    'no file /srv/data/rates.csv'
    """
    told = str(known).replace("\\\\", "\\")

    def shown(found: re.Match[str]) -> str:
        root = next(filter(None, found.groups())).replace("\\\\", "\\")
        return found[0] if root in told else "…/"

    return _folders().sub(shown, text)


@cache
def _folders() -> re.Pattern[str]:
    from selfcorrect.kernel.detectors import forms, spelled_out

    own = {sys.prefix, sys.base_prefix, str(Path.home()), str(Path.cwd()), *sys.path}
    ours = sorted((each for each in own if each.count("/") > 1), key=len, reverse=True)
    known = "|".join(map(spelled_out, forms()["folders"]))
    return re.compile(f"({'|'.join(map(re.escape, ours))})/|{known}")


def visible(text: str) -> str:
    r"""The text on one line, with every character that a screen could obey escaped.

    >>> print(visible("a\x1b[31m\u202eb\ud800"))
    a\u001b[31m\u202eb\ud800
    """
    return _NOT_PLAIN.sub(lambda found: _shown(found[0]), text)


def is_clean(value: Any) -> bool:
    """Whether no text in a JSON value holds a secret; looks only, and copies nothing.

    >>> is_clean({"seats": 2}), is_clean(["fetch https://ann:pa55word@example.org"])
    (True, False)
    """
    inside = [value]
    for item in inside:  # and whatever is added on the way
        if isinstance(item, str):
            if redact(item) != item:
                return False
        elif isinstance(item, dict):
            for key, child in item.items():
                if type(child) in (str, int) and shown_at(key, child) is not child:
                    return False
                inside += key, child
        elif isinstance(item, list | tuple):
            inside += item
    return True


def shown_at(key: Any, value: Any) -> Any:
    """A value that stands under a key: what the key says is a secret is none any more.

    >>> shown_at("password", "hunter"), shown_at("seat", "12A"), shown_at("pin", 4711)
    ('[secret]', '12A', '[secret]')
    """
    from selfcorrect.kernel.detectors import announces

    is_told = type(key) is str and type(value) in (str, int) and value != SECRET
    return SECRET if is_told and announces(key, str(value)) else value


def _shortened(text: str, limit: int) -> str:
    size, limit = len(text), min(max(limit, 1), _LONGEST)
    head = _redacted(text[: limit + _BEYOND])
    if size <= limit + _BEYOND and len(head) <= limit:
        return head
    if size <= limit:
        return head[:limit]
    kept_tail = limit // 3
    tail = _redacted(text[-(kept_tail + _BEYOND) :])[-kept_tail:] if kept_tail else ""
    return f"{head[: limit - kept_tail]}… {size - limit} characters …{tail}"


def _dumped(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=_type_name)
    except (ValueError, TypeError, RecursionError):
        return json.dumps(_type_name(value))


def _type_name(value: Any) -> str:
    return f"<{type(value).__name__}>"


_NOT_PLAIN: Final = re.compile(r"[^\x20-\x7e]")
_INVISIBLE: Final = re.compile(f"[{INVISIBLE}]")


@lru_cache(maxsize=4_096)
def _shown(char: str) -> str:
    if char.isprintable() and _INVISIBLE.match(char) is None:
        return char
    return char if unicodedata.category(char) == "Zs" else json.dumps(char)[1:-1]
