"""Waits: how long an emitter asks to wait, in headers, bodies and prose."""

from __future__ import annotations

from selfcorrect.evidence.waits.fields import wait_in_body, wait_in_headers
from selfcorrect.evidence.waits.prose import wait_in_text
from selfcorrect.evidence.waits.values import LONGEST, wait_of_value

__all__ = ["LONGEST", "wait_in_body", "wait_in_headers", "wait_in_text", "wait_of_value"]
