"""The call that a provider's error holds, where its server could not read what the model wrote."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_KEY: Final = "failed_generation"
"""Groq and those that copy it: the error's body carries what the model wrote."""
_RAW: Final = re.compile(r"error parsing tool call: raw='(?P<raw>.*)', err=", re.DOTALL)
"""Ollama: the error's text does."""
_LONGEST: Final = 200_000
_LAYERS: Final = 8


def held_call(error: BaseException | None) -> str | None:
    r"""What the model wrote, where an error hands it back; None where it holds nothing.

    >>> held_call(ValueError("error parsing tool call: raw='{\"name\": \"f\"', err=unexpected end"))
    '{"name": "f"'
    >>> held_call(ValueError("something else")) is None
    True
    """
    for _ in range(_LAYERS):
        if error is None:
            return None
        for body in _bodies(error):
            found = _generated(body)
            if found:
                return found
        raw = _RAW.search(_text(error))
        if raw is not None and raw["raw"].strip():
            return raw["raw"]
        error = error.__cause__
    return None


def _generated(body: Any) -> str | None:
    """The text under the key, in the body or in its `error`."""
    for part in (body, body.get("error") if isinstance(body, Mapping) else None):
        text = part.get(_KEY) if isinstance(part, Mapping) else None
        if isinstance(text, str) and text.strip():
            return text[:_LONGEST]
    return None


def _bodies(error: BaseException) -> Iterator[Any]:
    """The body as the client read it, or as it stands in the error's text."""
    yield getattr(error, "body", None)
    text = _text(error)
    start = text.find("{")
    if start < 0 or _KEY not in text:
        return
    try:
        yield json.JSONDecoder().raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        try:
            yield ast.literal_eval(text[start : text.rindex("}") + 1])
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return


def _text(error: BaseException) -> str:
    try:
        return str(error)[:_LONGEST]
    except Exception:  # what cannot be shown holds nothing
        return ""
