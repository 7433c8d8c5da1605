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
from dataclasses import dataclass
from typing import Any, Final

LIMIT: Final = 2_000
"""Characters of outside text that go anywhere, unless the caller says otherwise."""

_BEYOND: Final = 8_192
"""How far past the limit secrets are looked for, so that a cut never shows half of one."""

SHORTEST: Final = 8
"""A text of fewer characters is no secret of a known form."""

BARE: Final = frozenset({int, float, bool, type(None)})
"""Types of values that are no text and hold none."""

_SHORT: Final = 200
_MOST_CLEAN: Final = 4_096
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
        text = _dumped(value)
        shown = redact(text) if len(text) <= limit else None
        if shown is not None and len(shown) <= limit:
            return _escaped(shown)
        value = text
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
    redacted, lowered = text, text.lower()
    for secret in _SECRETS:
        for hint in secret.hints:
            if hint in lowered:
                redacted = secret.pattern.sub(_replaced, redacted)
                break
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
        elif kind is dict:
            inside += item.values()
        elif kind is list or kind is tuple:
            inside += item
        elif kind not in BARE and isinstance(item, Mapping):
            inside += item.values()
    return True


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
    if unicodedata.category(char) not in _HIDDEN:
        return char
    return "".join(
        f"\\u{unit:04x}"
        for unit in memoryview(char.encode("utf-16-le", "surrogatepass")).cast("H").tolist()
    )


@dataclass(frozen=True, slots=True)
class _Secret:
    """One form of secret.

    Attributes:
        hints: Lower-case texts of which one must occur; spares the pattern on most texts.
        pattern: Starts at a fixed text and repeats within bounds, so that it stays linear. A group
            in it is the secret itself, else all of it is.
    """

    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _replaced(found: re.Match[str]) -> str:
    group = found.lastindex or 0
    start, end = found.start(group) - found.start(), found.end(group) - found.start()
    return f"{found[0][:start]}[secret]{found[0][end:]}"


def _token(prefix: str, rest: str, *hints: str) -> _Secret:
    """A token that a vendor marks with a prefix; it starts where a word starts."""
    return _Secret(hints, re.compile(rf"(?<![A-Za-z0-9_])(?:{prefix}){rest}"))


_SEPARATOR: Final = r"\\?[\"']?\]?[ \t]{0,8}(?:=>|:=|=|:)[ \t]{0,8}"
_QUOTED: Final = r"\\?\"([^\"\\\n]{1,512})\\?\"|\\?'([^'\\\n]{1,512})\\?'"
_CHOSEN: Final = r"(?i:passw(?:or)?d|passphrase|pwd)[\w\-]{0,24}"
_GIVEN: Final = (
    r"(?i:secret|token|credentials?|api[_\- ]?key|access[_\- ]?key|private[_\- ]?key"
    r"|account[_\- ]?key|shared[_\- ]?access[_\- ]?key|auth[_\- ]?key)"
    r"[\w\-]{0,24}|(?<![A-Za-z])(?i:sig|key)"
)
_RANDOM: Final = r"(?=[^\s\"'&,;<>]{0,64}\d)(?=[^\s\"'&,;<>]{0,64}[A-Za-z])"

_SECRETS: Final = (
    _Secret(
        ("private key",),
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?!-----END)[\s\S])*(?:-----END [A-Z0-9 ]{0,60}-----)?"
        ),
    ),
    _Secret(("://",), re.compile(r"://([^\s/:@\"']{0,128}:[^\s/@\"']{1,256})@")),
    _Secret(
        ("bearer ", "basic "),
        re.compile(r"(?i)(?<![a-z])(?:bearer|basic)[ \t]{1,4}([\w+/=.~\-]{12,2048})"),
    ),
    _token(
        r"A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA",
        r"[A-Z0-9]{16}(?![A-Z0-9])",
        *("a3t", "abia", "acca", "akia", "asia"),
    ),
    _token(r"gh[pousr]_", r"[A-Za-z0-9]{20,255}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _token(r"github_pat_", r"\w{20,255}", "github_pat_"),
    _token(r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat)-", r"[\w\-]{20,255}", "gl"),
    _token(r"xox[a-z]-|xapp-", r"[\w\-]{10,255}", "xox", "xapp-"),
    _Secret(
        ("hooks.slack.com",),
        re.compile(r"hooks\.slack\.com/(?:services|workflows)/([\w/]{16,255})"),
    ),
    _token(
        r"[rs]k_(?:live|test)_|whsec_", r"[A-Za-z0-9+/=]{10,255}", "k_live_", "k_test_", "whsec_"
    ),
    _token(r"(?<!-)eyJ", r"[\w\-]{5,8192}\.[\w\-]{5,8192}(?:\.[\w\-]{0,8192}){0,3}", "eyj"),
    _token(r"sk-", r"[\w\-]{16,255}", "sk-"),
    _token(r"SG\.", r"[\w\-]{16,64}\.[\w\-]{16,64}", "sg."),
    _token(r"AC|SK", r"[0-9a-f]{32}(?![0-9a-z])", "ac", "sk"),
    _token(r"npm_", r"[A-Za-z0-9]{30,64}", "npm_"),
    _token(r"pypi-", r"[\w\-]{16,1024}", "pypi-"),
    _token(r"[MNO][\w\-]{23,28}\.[\w\-]{6}\.", r"[\w\-]{27,64}", "."),
    _token(r"[0-9]{8,10}:[\w\-]{35}", r"(?![\w\-])", ":"),
    _token(r"AIza", r"[\w\-]{35}", "aiza"),
    _token(r"ya29\.|GOCSPX-", r"[\w\-]{20,1024}", "ya29.", "gocspx-"),
    _token(
        r"hf_|gsk_|r8_|xai-|hvs\.|hvb\.",
        r"[A-Za-z0-9_\-]{20,255}",
        *("hf_", "gsk_", "r8_", "xai-", "hv"),
    ),
    _token(r"dop_v1_|doo_v1_|dor_v1_|dapi", r"[0-9a-f]{32,64}", "_v1_", "dapi"),
    _token(r"shp(?:at|ca|pa|ss)_", r"[0-9a-fA-F]{32}", "shp"),
    _token(r"sq0(?:atp|csp|idp)-", r"[\w\-]{22,64}", "sq0"),
    _token(r"AKC(?=[a-zA-Z]{0,40}[0-9])", r"[a-zA-Z0-9]{10,128}", "akc"),
    _token(
        r"ATATT3|lin_api_|PMAK-|NRAK-", r"[\w\-=]{20,255}", "atatt3", "lin_api_", "pmak-", "nrak-"
    ),
    _token(r"[0-9a-f]{32}-us[0-9]{1,2}", r"(?![0-9a-z])", "-us"),
    _token(r"[A-Za-z0-9_~.]{3}[0-9]Q~", r"[A-Za-z0-9_~.\-]{31,34}", "q~"),
    _Secret(
        ("passw", "passphrase", "pwd"),
        re.compile(
            rf"{_CHOSEN}{_SEPARATOR}(?:{_QUOTED}"
            r"|((?=[^\s\"'&,;<>]{0,64}[\d!@#$%^*~])[^\s\"'&,;<>\\{}\[\]]{4,512}))"
        ),
    ),
    _Secret(
        ("secret", "token", "credential", "key", "sig"),
        re.compile(
            rf"(?:{_GIVEN}){_SEPARATOR}(?:\\?[\"'])?"
            rf"({_RANDOM}[^\s\"'&,;<>\\{{}}\[\]]{{8,2048}})"
        ),
    ),
)
