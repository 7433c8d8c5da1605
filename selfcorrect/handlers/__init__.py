"""Recovery that lives where the tool lives: `on_error`, and what fixes what it names."""

from selfcorrect.handlers.fixers import FixRequest
from selfcorrect.handlers.on_error import OnError, default_on_error, on_error

__all__ = ["FixRequest", "OnError", "default_on_error", "on_error"]
