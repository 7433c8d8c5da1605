"""Waits: how long an emitter asks to wait, in headers, bodies and prose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfcorrect.lazily import lazily

if TYPE_CHECKING:
    from selfcorrect.evidence.waits.fields import wait_in_body, wait_in_headers
    from selfcorrect.evidence.waits.prose import wait_in_text
    from selfcorrect.evidence.waits.values import LONGEST, wait_of_value

_HOMES = {
    "LONGEST": "selfcorrect.evidence.waits.values",
    "wait_in_body": "selfcorrect.evidence.waits.fields",
    "wait_in_headers": "selfcorrect.evidence.waits.fields",
    "wait_in_text": "selfcorrect.evidence.waits.prose",
    "wait_of_value": "selfcorrect.evidence.waits.values",
}

__all__ = ["LONGEST", "wait_in_body", "wait_in_headers", "wait_in_text", "wait_of_value"]

__getattr__ = lazily(__name__, _HOMES)
