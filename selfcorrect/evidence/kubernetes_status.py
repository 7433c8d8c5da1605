"""Kubernetes: `{"kind": "Status", "reason", "message", "details": {"causes"}}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from selfcorrect.model import JSON, Finding
from selfcorrect.pointer import join

_MOST: Final = 50
_CONSTRAINTS: Final[dict[str, dict[str, JSON]]] = {
    "FieldValueRequired": {"required": []},
    "FieldValueNotSupported": {"enum": []},
    "FieldValueUnknown": {"additionalProperties": False},
}


def read(body: JSON) -> tuple[Finding, ...]:
    """A finding per cause, or one for the status; nothing if the body is something else."""
    if not isinstance(body, Mapping) or body.get("kind") != "Status":
        return ()
    details = body.get("details")
    details = details if isinstance(details, Mapping) else {}
    number, reason = body.get("code"), body.get("reason")
    status = number if isinstance(number, int) and 100 <= number <= 599 else None
    wait = details.get("retryAfterSeconds")
    causes = details.get("causes")
    found = tuple(
        _finding(cause, status)
        for cause in (causes if isinstance(causes, list) else [])[:_MOST]
        if isinstance(cause, Mapping) and isinstance(cause.get("message"), str)
    )
    return found or (
        Finding(
            text=str(body.get("message") or reason or "Failure"),
            status=status,
            code=reason if isinstance(reason, str) else None,
            retry_after=float(wait) if isinstance(wait, int | float) and wait > 0 else None,
        ),
    )


def _finding(cause: Mapping[str, JSON], status: int | None) -> Finding:
    field, reason = cause.get("field"), cause.get("reason")
    tokens = re.split(r"[.\[\]]+", field.strip("]")) if isinstance(field, str) else []
    path = join(*[token for token in tokens if token])
    return Finding(
        text=cause["message"],
        status=status,
        code=reason if isinstance(reason, str) else None,
        paths=(path,) if path else (),
        constraint=_CONSTRAINTS.get(str(reason), {}),
    )
