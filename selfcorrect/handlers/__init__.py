"""Recovery that lives where the tool lives: `on_error`, and what fixes what it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfcorrect.lazily import lazily

if TYPE_CHECKING:
    from selfcorrect.handlers.fixers import FixRequest
    from selfcorrect.handlers.handler import OnError, default_on_error, on_error

_HOMES = {
    "FixRequest": "selfcorrect.handlers.fixers",
    "OnError": "selfcorrect.handlers.handler",
    "default_on_error": "selfcorrect.handlers.handler",
    "on_error": "selfcorrect.handlers.handler",
}

__all__ = ["FixRequest", "OnError", "default_on_error", "on_error"]

__getattr__ = lazily(__name__, _HOMES)
