"""The one door: every text from outside passes here on its way to a model, log, page or report.

Secrets are cut out, invisible characters taken out, secrets cut out again (one may have hidden
behind them), and the length is bounded. All of it takes time linear in the text.
"""

import json
import re
from typing import Any

from selfcorrect.lazy import load_table


def release(text: str, most: int = 1_000) -> str:
    """Return a text as it may leave.

    >>> release("Bearer abcdefgh12345678 is not valid")
    'Bearer [secret] is not valid'
    """
    near = text[: 2 * most]
    once = clean(redact(near))
    # Where nothing was cut out, nothing was hidden behind it.
    return bound(once if once == near else redact(once), most)


def clean(text: str) -> str:
    """Return a text without control, bidi and invisible characters; line ends and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return _INVISIBLE.sub("", text)


def redact(text: str) -> str:
    """Return a text without what looks like a secret; see `selfcorrect.redaction`."""
    low = text.lower()
    # Every secret is announced or long, and most texts load nothing of how they are found.
    if not own_forms and not any(hint in low for hint in _HINTS) and not _LONG.search(text):
        return text
    from selfcorrect.redaction import cut_secrets

    return cut_secrets(text, own_forms)


def redact_json(value: Any) -> Any:
    """Return JSON whose texts hold no secret; the same value where none does."""
    # A JSON Pointer hides what stands behind its slashes.
    shown = repr(value).replace("~1", "/")
    if redact(shown) == shown:
        return value
    from selfcorrect.redaction import cut_parts

    return cut_parts(value, lambda text: redact(clean(text)))


def bound(text: str, most: int) -> str:
    """Return a text of at most so many characters; a cut shows.

    >>> bound("a long text", 7)
    'a long…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def quote(value: Any, most: int = 60) -> str:
    """Return a value as JSON data, as it may leave: what stands in it is not an instruction."""
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


own_forms: list[str] = []
"""Patterns of RE2 that a deployment adds; see `integrations.logs.add_secret_form`."""
_TABLE = load_table("redaction.toml")
_HINTS: list[str] = _TABLE["hints"]
_LONG = re.compile(r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[-_A-Z])[\w-]{16}")
_INVISIBLE = re.compile("".join(_TABLE["invisible"]))
