"""Slack and kin: `{"ok": false, "error": "channel_not_found"}`, a code and no prose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from selfcorrect.model import JSON, Finding

_MOST: Final = 20
_FLAGS: Final = ("ok", "success", "successful")


def read(body: JSON) -> tuple[Finding, ...]:
    """A finding per message, or one for the code; nothing if the body is something else."""
    if not isinstance(body, Mapping) or not any(body.get(flag) is False for flag in _FLAGS):
        return ()
    code = body.get("error") or body.get("error_code") or body.get("code")
    text = next(filter(None, _texts(body)), None)
    wait = body.get("retry_after")
    parameters = body.get("parameters")
    if isinstance(parameters, Mapping):
        wait = parameters.get("retry_after", wait)
    if not isinstance(code, str):
        number = body.get("error_code")
        if text is None:
            return ()
        status = number if isinstance(number, int) and 400 <= number <= 599 else None
        return (Finding(text, status=status, retry_after=_seconds(wait)),)
    plain = code.replace("_", " ").replace("-", " ")
    is_code = " " not in code.strip() and len(code) <= 80
    return (
        Finding(
            text=text or plain,
            code=code if is_code else None,
            retry_after=_seconds(wait),
        ),
    )


def _texts(body: Mapping[str, JSON]) -> Iterator[str]:
    metadata = body.get("response_metadata")
    messages = metadata.get("messages") if isinstance(metadata, Mapping) else None
    if isinstance(messages, list):
        yield from (
            text.removeprefix("[ERROR] ") for text in messages[:_MOST] if isinstance(text, str)
        )
    for key in ("description", "message", "error_description", "detail", "msg"):
        if isinstance(body.get(key), str):
            yield body[key]


def _seconds(value: JSON) -> float | None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e7
    return float(value) if good else None
