"""Evidence: what an error says, before and after the rules of a map are asked.

`read` reads an exception or a recorded error once. `decide` asks a map and the trained witness what
was read means; `classify` answers with the kind alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfcorrect.lazily import lazily

if TYPE_CHECKING:
    from selfcorrect.evidence.deciding import classify, decide
    from selfcorrect.evidence.parts import ErrorReading
    from selfcorrect.evidence.reading import ErrorReport, read

_HOMES = {
    "ErrorReading": "selfcorrect.evidence.parts",
    "ErrorReport": "selfcorrect.evidence.reading",
    "classify": "selfcorrect.evidence.deciding",
    "decide": "selfcorrect.evidence.deciding",
    "read": "selfcorrect.evidence.reading",
}

__all__ = ["ErrorReading", "ErrorReport", "classify", "decide", "read"]

__getattr__ = lazily(__name__, _HOMES)
