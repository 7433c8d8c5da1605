"""Evidence: what an error says, before and after the rules of a map are asked.

`read_error` reads a live exception and `read_report` a recorded one; each gives findings with their
facts. `decide` asks a map and the trained witness what they mean; `classify` answers
with the kind alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfcorrect.lazily import lazily

if TYPE_CHECKING:
    from selfcorrect.evidence.deciding import classify, decide
    from selfcorrect.evidence.reading_errors import read_error, read_report

_HOMES = {
    "classify": "selfcorrect.evidence.deciding",
    "decide": "selfcorrect.evidence.deciding",
    "read_error": "selfcorrect.evidence.reading_errors",
    "read_report": "selfcorrect.evidence.reading_errors",
}

__all__ = ["classify", "decide", "read_error", "read_report"]

__getattr__ = lazily(__name__, _HOMES)
