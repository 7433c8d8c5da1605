"""Reads the calls that models write, in whatever form they come.

`read_calls` reads a text, `read_call_object` an object, `read_arguments` the text of one known
tool's arguments. Each says what differed from a strictly valid call, and refuses what has no one
reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfcorrect.lazily import lazily

if TYPE_CHECKING:
    from selfcorrect.kernel.standing import said_beside
    from selfcorrect.reading.allowing import why_not_allowed
    from selfcorrect.reading.contract import (
        MOST_CALLS,
        Candidate,
        Deviation,
        Ending,
        Fault,
        JsonRead,
        Oddity,
        Offered,
        ToolCallKeys,
        has,
    )
    from selfcorrect.reading.endings import ending_in, ending_of
    from selfcorrect.reading.envelopes import read_call_object
    from selfcorrect.reading.known_tool import read_arguments
    from selfcorrect.reading.outcome import Asked, Reading, refusal_of
    from selfcorrect.reading.strict import strict_json
    from selfcorrect.reading.texts import read_calls
    from selfcorrect.reading.tolerant_json import read_json

_HOMES = {
    "MOST_CALLS": "selfcorrect.reading.contract",
    "Asked": "selfcorrect.reading.outcome",
    "Candidate": "selfcorrect.reading.contract",
    "Deviation": "selfcorrect.reading.contract",
    "Ending": "selfcorrect.reading.contract",
    "Fault": "selfcorrect.reading.contract",
    "JsonRead": "selfcorrect.reading.contract",
    "Oddity": "selfcorrect.reading.contract",
    "Offered": "selfcorrect.reading.contract",
    "Reading": "selfcorrect.reading.outcome",
    "ToolCallKeys": "selfcorrect.reading.contract",
    "ending_in": "selfcorrect.reading.endings",
    "ending_of": "selfcorrect.reading.endings",
    "has": "selfcorrect.reading.contract",
    "read_arguments": "selfcorrect.reading.known_tool",
    "read_call_object": "selfcorrect.reading.envelopes",
    "read_calls": "selfcorrect.reading.texts",
    "read_json": "selfcorrect.reading.tolerant_json",
    "refusal_of": "selfcorrect.reading.outcome",
    "said_beside": "selfcorrect.kernel.standing",
    "strict_json": "selfcorrect.reading.strict",
    "why_not_allowed": "selfcorrect.reading.allowing",
}

__all__ = [
    "MOST_CALLS",
    "Asked",
    "Candidate",
    "Deviation",
    "Ending",
    "Fault",
    "JsonRead",
    "Oddity",
    "Offered",
    "Reading",
    "ToolCallKeys",
    "ending_in",
    "ending_of",
    "has",
    "read_arguments",
    "read_call_object",
    "read_calls",
    "read_json",
    "refusal_of",
    "said_beside",
    "strict_json",
    "why_not_allowed",
]

__getattr__ = lazily(__name__, _HOMES)
