"""Log lines: a processor for structlog that redacts, and secrets of a deployment's own forms."""

from selfcorrect.watching.log import add_secret_form, redacted

__all__ = ["add_secret_form", "redacted"]
