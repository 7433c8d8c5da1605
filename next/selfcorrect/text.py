"""The one door: every text from outside passes here on its way to a model, log, page or report.

Secrets are cut out, invisible characters taken out, secrets cut out again (one may have hidden
behind them), and the length is bounded. All of it takes time linear in the text.
"""

import json
import re
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

CUT: Final = "[secret]"


def release(text: str, most: int = 1_000) -> str:
    """Return a text as it may leave.

    >>> release("Bearer abcdefgh12345678 is not valid")
    '[secret] is not valid'
    """
    near = text if len(text) <= 2 * most else f"{text[: 2 * most]}"
    once = clean(redact(near))
    # Where nothing was cut out, nothing was hidden behind it.
    return bound(once if once == near else redact(once), most)


def clean(text: str) -> str:
    """Return a text without control, bidi and invisible characters; line ends and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return _INVISIBLE.sub("", text)


def redact(text: str) -> str:
    """Return a text without what looks like a secret."""
    if not text.isascii():
        # RE2 reads UTF-8, which half a character is not.
        text = text.encode("utf-8", "replace").decode()
    any_secret, patterns = _patterns()
    # Most texts hold none, and one search costs a tenth of all replacements.
    for pattern, after in patterns if any_secret.search(text) else ():
        text = pattern.sub(after, text)
    return text


def bound(text: str, most: int) -> str:
    """Return a text of at most so many characters; a cut shows.

    >>> bound("a long text", 7)
    'a long…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def quote(value: Any, most: int = 60) -> str:
    """Return a value as JSON data, as it may leave: what stands in it is no instruction."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=text_of)
    except (ValueError, TypeError, RecursionError):
        text = text_of(value)
    return release(text, most)


def text_of(value: object) -> str:
    """Return a foreign value as a text, or the name of its class where it gives none."""
    try:
        return str(value)
    except BaseException:  # a foreign `__str__` may raise anything, and nobody at the keyboard did
        return f"<{type(value).__name__}>"


def names_secret(keys: Iterable[object]) -> bool:
    """Say whether one of these keys names a secret: what stands under it never leaves.

    >>> names_secret(["headers", "api_key"]), names_secret(["passenger"])
    (True, False)
    """
    return any(_NAME.search(str(key)) for key in keys)


_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)

_WORDS: Final = r"pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|credentials?"
_NAME: Final = re.compile(
    rf"(?i)(?:\b|_|(?<=[a-z])(?=[A-Z]))(?:{_WORDS}|private[_-]?key|authorization)(?:\b|_|s\b)"
)
_SECRETS: Final = (
    # Forms that nothing else has.
    (r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)", CUT),
    (r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}", CUT),
    (r"\b(?:gh[opsu]|github_pat|glpat|xox[abprs]|hf)[-_][A-Za-z0-9_-]{16,}", CUT),
    (r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}", CUT),
    (r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?", CUT),
    (r"(?i)\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}", CUT),
    (r"(://[^\s/:@]{0,100}):[^\s/@]{1,200}@", rf"\1:{CUT}@"),
    # A word that names a secret, and what stands behind it.
    (
        rf"""(?i)((?:{_WORDS})\\*["'`]?\s*(?:[:=,]|\bis\b)\s*\\*["'`]?)[^\s"'`,;&\[]{{4,}}""",
        rf"\1{CUT}",
    ),
    (rf"(?i)(-(?:{_WORDS})\s+)[^\s]{{4,}}", rf"\1{CUT}"),
)


@cache
def _patterns() -> tuple[Any, list[tuple[Any, str]]]:
    import re2

    any_secret = re2.compile("|".join(f"(?:{source})" for source, _ in _SECRETS))
    return any_secret, [(re2.compile(source), after) for source, after in _SECRETS]
