"""The command line, assembled from one file per command. Needs the extra `cli`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfcorrect.lazily import lazily

if TYPE_CHECKING:
    from selfcorrect.cli.commands import app

_HOMES = {"app": "selfcorrect.cli.commands"}

__all__ = ["app"]

__getattr__ = lazily(__name__, _HOMES)
