"""Says whether a returned value is an error, by structure alone."""

import json
from collections.abc import Mapping
from typing import Final

from selfcorrect.model import JSON, JsonObject


def error_in(value: JSON) -> str | None:
    """Return the text of an error that came as a value, or None where it is none.

    >>> error_in({"error": {"message": "no seat is left"}}), error_in({"error": None, "seats": 2})
    ('no seat is left', None)
    """
    if not isinstance(value, Mapping) or not _is_error(value):
        return None
    return _text(next((value[key] for key in _TEXTS if value.get(key)), value))


def value_of_content(content: JSON) -> JSON:
    """Return what an answer says: an object, where its one text is the JSON of an object.

    >>> value_of_content([{"type": "text", "text": '{"seats": 2}'}]), value_of_content("2 seats")
    ({'seats': 2}, '2 seats')
    """
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], Mapping):
        text = content[0].get("text")
        content = text if isinstance(text, str) else content
    if isinstance(content, str) and content.startswith("{"):
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            return content
    return content


def _is_error(value: JsonObject) -> bool:
    return bool(
        value.get("isError") is True
        or value.get("is_error") is True
        or value.get("error")
        or value.get("status") == "error"
        or is_status(value.get("status_code"))
    )


_TEXTS: Final = ("error", "message", "detail", "content")
"""Where an error says what is wrong, in this order."""


def is_status(value: JSON) -> bool:
    """Say whether a value is the HTTP status of a failure."""
    return type(value) is int and 400 <= value < 600


def _text(value: JSON) -> str:
    if isinstance(value, list):
        return "\n".join(_text(item) for item in value)
    if isinstance(value, Mapping):
        found = next((value[key] for key in ("message", "text") if value.get(key)), dict(value))
        return str(found)
    return str(value)
