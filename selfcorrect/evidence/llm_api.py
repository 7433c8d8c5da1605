"""OpenAI, Anthropic, Stripe and kin: `{"error": {"message", "type", "param", "code"}}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from selfcorrect.model import JSON, Finding
from selfcorrect.pointer import join

_OWN: Final = ("type", "code", "param")
_DULL: Final = ("error", "invalid_request_error", "card_error", "api_error")


def read(body: JSON) -> tuple[Finding, ...]:
    """One finding; nothing if the body is something else."""
    if not isinstance(body, Mapping):
        return ()
    error = body.get("error")
    if not isinstance(error, Mapping) or not isinstance(error.get("message"), str):
        return ()
    if not any(isinstance(error.get(key), str) for key in _OWN):
        return ()
    codes = [error.get("decline_code"), error.get("code"), error.get("type")]
    named = [code for code in codes if isinstance(code, str) and code]
    code = next((code for code in named if code not in _DULL), named[0] if named else None)
    number = error.get("code") if isinstance(error.get("code"), int) else error.get("status")
    param = error.get("param")
    tokens = re.split(r"[.\[\]]+", param.strip("]")) if isinstance(param, str) else []
    path = join(*[token for token in tokens if token])
    return (
        Finding(
            text=error["message"],
            status=number if isinstance(number, int) and 100 <= number <= 599 else None,
            code=code,
            paths=(path,) if path else (),
        ),
    )
