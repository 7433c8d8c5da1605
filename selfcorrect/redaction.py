"""Cuts out of a text what looks like a secret, in time linear in the text.

Two tables decide: the forms that vendors give their keys, and the names that announce a secret,
whose values are read to the end of their quotes.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from selfcorrect.lazy import load_table

CUT = "[secret]"

Span = tuple[int, int]


def cut_secrets(text: str, own_forms: Iterable[str] = ()) -> str:
    """Return a text without what looks like a secret, or has a form of the deployment's own.

    >>> cut_secrets('{"user": "ann", "password": "correct horse"}')
    '{"user": "ann", "password": "[secret]"}'
    >>> cut_secrets("password: must be at least 8 characters")
    'password: must be at least 8 characters'
    """
    if not text.isascii():
        # RE2 reads UTF-8, which half a character is not.
        text = text.encode("utf-8", "replace").decode()
    # Most texts hold none, and one search costs a tenth of all others.
    if not _compile(_any_form(*own_forms)).search(text):
        return text
    spans = [each.span(each.lastindex or 0) for each in _search((*_CERTAIN, *own_forms), text)]
    likely = (each.span(each.lastindex or 0) for each in _search(_LIKELY, text))
    spans += (each for each in likely if _is_random(text[slice(*each)]))
    return _cut(text, [*spans, *_named_spans(text)])


def cut_parts(value: Any, show: Callable[[str], str]) -> Any:
    """Return JSON with every text shown as `show` does, and nothing under a key for secrets."""
    if isinstance(value, str):
        # A JSON Pointer hides what stands behind its slashes.
        plain = value.replace("~1", "/")
        shown = show(plain)
        return value if shown == plain else shown
    if isinstance(value, list | tuple):
        return [cut_parts(each, show) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {
        cut_parts(key, show): CUT if names_secret([key]) and item else cut_parts(item, show)
        for key, item in value.items()
    }


def names_secret(keys: Iterable[object]) -> bool:
    """Say whether one of these keys names a secret: what stands under it never leaves.

    >>> names_secret(["headers", "api_key"]), names_secret(["passenger"])
    (True, False)
    """
    return any(_KEY.search(str(key)) for key in keys)


_TABLE = load_table("redaction.toml")
_KEY = re.compile("".join(_TABLE["keys"]))
_LIKELY = (
    rf"\b(?:{'|'.join(_TABLE['prefixes'])})[-_](?:[\w-]|\\+u\w{{4}}){{16,}}",
    *_TABLE["likely"],
)
"""Keys by their form, where a digit or a change of case shows that they are not words."""
_CERTAIN = _TABLE["certain"]
"""Keys by their form alone, and secrets by where they stand; a group is the secret itself."""
_NAMED = "".join(_TABLE["named"])
"""A name that announces a secret, up to where its value begins."""


@cache
def _compile(pattern: str) -> Any:
    import re2

    return re2.compile(pattern)


@cache
def _any_form(*own_forms: str) -> str:
    forms = (*_CERTAIN, *_LIKELY, *own_forms, _NAMED)
    return "|".join(f"(?:{each})" for each in forms)


def _search(patterns: Iterable[str], text: str) -> Iterator[Any]:
    for pattern in patterns:
        yield from _compile(pattern).finditer(text)


def _named_spans(text: str) -> Iterator[Span]:
    """Yield where the values stand that names announce; a name inside a value announces none."""
    end = 0
    for match in _search([_NAMED], text):
        is_cut = text.startswith(CUT, match.start() - 1)
        if (
            not is_cut
            and match.start() >= end
            and (span := _span_of_value(match, text)) is not None
        ):
            end = span[1]
            yield span


def _span_of_value(match: Any, text: str) -> Span | None:
    """Return where the value stands that a name announces; None where it is not a secret."""
    sign = re.sub(r"\\+[nrt]|\s", "", match["sign"])
    start, is_quoted = match.end(), bool(match["quote"])
    is_header = bool(match["header"]) and sign in _ASSIGNS
    end = _end_of_value(text, start, match["quote"] or "", sign, is_header=is_header)
    value = text[start:end]
    first = next(iter(value.split(None, 1)), "")
    if not first or first.strip(".,").lower() in _TABLE["plain"] or text[end : end + 1] == "(":
        return None
    is_chosen, is_random = bool(match["chosen"]), _is_random(value)
    if sign == ">":
        is_secret = text.startswith("</", end)
    elif sign == ",":
        is_secret = is_chosen and is_quoted and is_random
    elif is_quoted and sign:
        is_secret = is_chosen or len(value) > 5 or is_random
    elif is_header:
        is_secret = True
    elif sign in _ASSIGNS and match["sign"] == sign != ":":
        is_secret = len(value) > 2
    elif match["dash"] or (is_quoted and is_chosen):
        is_secret = value[0].isalnum()
    else:
        # "password: " and "password is " go on in words, too.
        is_secret = is_random and (bool(sign) or is_chosen or len(value) > 15)
    return (start, end) if is_secret else None


_ASSIGNS = ("=>", ":=", ":", "=", "%3D", "%3d", ">")
_WORD = re.compile(r"[^\s\"'`,;&<>()\[\]{}]{0,4096}")
_LINE = re.compile(r"(?:=\\*\"[^\r\n\"]*\"|[^\r\n\"']){0,4096}")
_TAG = re.compile(r"[^<]{0,4096}")


def _end_of_value(text: str, start: int, quote: str, sign: str, *, is_header: bool) -> int:
    """Return where a value ends: at its closing quote, its tag, its line, or its word."""
    mark = quote.lstrip("\\")
    depth = len(quote) - len(mark)
    for each in re.finditer(rf"(\\*){re.escape(mark)}", text[start : start + 4096]) if mark else ():
        # A quote that is escaped once more belongs to the value.
        if len(each[1]) <= depth:
            return start + each.start()
    pattern = _LINE if is_header or mark else _TAG if sign == ">" else _WORD
    match = pattern.match(text, start)
    return match.end() if match else start


def _is_random(value: str) -> bool:
    """Say whether a value looks like no word: by a digit, a change of case or a sign inside it."""
    return len(value) > 5 and _RANDOM.search(value) is not None


_RANDOM = re.compile(r"\d|[a-z][A-Z]|\w[!$%^&*#+~]\w")


def _cut(text: str, spans: Iterable[Span]) -> str:
    parts, end = [], 0
    for start, stop in sorted(spans):
        if stop <= end:
            continue
        if start >= end:
            parts += [text[end:start], CUT]
        end = stop
    return "".join([*parts, text[end:]])
