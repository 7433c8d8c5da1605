"""Google's error model (AIP-193): `{"error": {"code", "message", "status", "details": […]}}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from selfcorrect.model import JSON, Finding
from selfcorrect.pointer import join

_MOST: Final = 50
_SECONDS: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s\Z")


def read(body: JSON) -> tuple[Finding, ...]:
    """A finding per field violation, or one for the error; nothing for other bodies."""
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    error = body.get("error") if isinstance(body, Mapping) else None
    if not isinstance(error, Mapping) or not isinstance(error.get("message"), str):
        return ()
    if not isinstance(error.get("status"), str):
        return ()
    details = [item for item in error.get("details") or () if isinstance(item, Mapping)]
    number = error.get("code")
    status = number if isinstance(number, int) and not isinstance(number, bool) else None
    reason = next((item["reason"] for item in details if isinstance(item.get("reason"), str)), None)
    code = reason or error["status"]
    wait = next(filter(None, map(_delay, details)), None)
    fields = tuple(_violations(details, status, code))[:_MOST]
    return fields or (Finding(error["message"], status=status, code=code, retry_after=wait),)


def _violations(
    details: list[Mapping[str, JSON]], status: int | None, code: str | None
) -> Iterator[Finding]:
    for item in details:
        for violation in item.get("fieldViolations") or item.get("field_violations") or ():
            if not isinstance(violation, Mapping) or not isinstance(violation.get("field"), str):
                continue
            tokens = re.split(r"[.\[\]]+", violation["field"].strip("]"))
            yield Finding(
                text=str(violation.get("description", "")) or "invalid value",
                status=status,
                code=code,
                paths=(join(*[token for token in tokens if token]),),
            )


def _delay(item: Mapping[str, JSON]) -> float | None:
    delay = item.get("retryDelay") or item.get("retry_delay")
    match = _SECONDS.match(delay) if isinstance(delay, str) else None
    return float(match[1]) if match else None
