"""Says whether a returned value is an error, by structure alone."""

from collections.abc import Mapping

from selfcorrect.model import JSON, JsonObject


def error_in(value: JSON, args: JsonObject | None = None) -> str | None:
    """Return the text of an error that came as a value; None for any other value.

    What repeats an argument of the call is data: a tool that sets a status returns it.

    >>> error_in({"error": {"message": "no seat is left"}}), error_in({"error": None, "seats": 2})
    ('no seat is left', None)
    >>> error_in({"id": 1, "status": "error"}, {"id": 1, "status": "error"})
    """
    args = args or {}
    if not isinstance(value, Mapping) or value in args.values():
        return None
    own = {key: item for key, item in value.items() if key not in args or args[key] != item}
    if not _is_error(own):
        return None
    return _text(next((value[key] for key in _TEXTS if value.get(key)), value))


def _is_error(value: JsonObject) -> bool:
    return bool(
        value.get("isError") is True
        or value.get("is_error") is True
        or _says_error(value.get("error"))
        or value.get("status") == "error"
        or is_status(value.get("status_code"))
    )


def _says_error(item: JSON) -> bool:
    """Say whether the field `error` holds an error: many services always fill it in."""
    if isinstance(item, Mapping):
        return item.get("code") != 0 and any(map(_says_error, item.values()))
    return bool(item) and str(item).strip().casefold() not in _NONE


_NONE = ("none", "null")
_TEXTS = ("error", "message", "detail", "content")
"""Where an error says what is wrong, in this order."""


def is_status(value: JSON) -> bool:
    """Say whether a value is the HTTP status of a failure."""
    return type(value) is int and 400 <= value < 600


def _text(value: JSON) -> str:
    if isinstance(value, list):
        return "\n".join(_text(item) for item in value)
    if isinstance(value, Mapping):
        return str(next((value[key] for key in ("message", "text") if value.get(key)), dict(value)))
    return str(value)
