"""structlog: a processor that redacts, for an application's own lines too."""

from selfcorrect.watching.log import redacted

__all__ = ["redacted"]
