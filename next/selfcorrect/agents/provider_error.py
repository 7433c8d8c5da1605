"""The call that a provider's error holds: what the model wrote, and the provider could not read."""

import re
from collections.abc import Mapping
from typing import Any, Final

_FIELD: Final = "failed_generation"
"""Where Groq's servers put the text."""
_RAW: Final = re.compile(r"error parsing tool call: raw='(.*)', err=", re.DOTALL)
"""How Ollama's server quotes it."""


def text_in(error: Exception) -> str | None:
    """Return what the model wrote, where a provider refused it because it is no readable call."""
    body: Any = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    written = inner.get(_FIELD) if isinstance(inner, Mapping) else None
    if isinstance(written, str) and written.strip():
        return written
    found = _RAW.search(str(error)[:1_000_000])
    return found[1] if found else None
