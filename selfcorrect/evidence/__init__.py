"""Evidence: what an error says, before and after the rules of a map are asked.

`read_error` reads a live exception and `read_report` a recorded one; each gives findings with their
facts. A map then decides kind and category, and `settled` says which parameters are at fault.
`classify` answers with the kind alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfcorrect.lazily import lazily

if TYPE_CHECKING:
    from selfcorrect.evidence.deciding import classify, diagnosed, interpreted, masked, settled
    from selfcorrect.evidence.reading_errors import read_error, read_report

_HOMES = {
    "classify": "selfcorrect.evidence.deciding",
    "diagnosed": "selfcorrect.evidence.deciding",
    "interpreted": "selfcorrect.evidence.deciding",
    "masked": "selfcorrect.evidence.deciding",
    "read_error": "selfcorrect.evidence.reading_errors",
    "read_report": "selfcorrect.evidence.reading_errors",
    "settled": "selfcorrect.evidence.deciding",
}

__all__ = ["classify", "diagnosed", "interpreted", "masked", "read_error", "read_report", "settled"]

__getattr__ = lazily(__name__, _HOMES)
