"""JSON Schema: what arguments are checked against, and what is read of it. `Checker` checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfcorrect.lazily import lazily

if TYPE_CHECKING:
    from selfcorrect.schema.checker import Checker

__all__ = ["Checker"]

__getattr__ = lazily(__name__, {"Checker": "selfcorrect.schema.checker"})
