"""Words behind a call that take it back, ask about it, or tell what came of it."""

from __future__ import annotations

import re
from typing import Final

_CLOSING: Final = (
    r"(?:[\s`)\]}'\";.,*\u2013\u2014-]|</[^<>\n]{1,60}>|<\|[^<>\n]{1,60}\|>"
    r"|\[/[A-Z_]{3,20}\]|```\w*)*+"
)
"""What closes a call and is no words."""
_RETRACTED: Final = re.compile(
    rf"{_CLOSING}(?:(?:oh|oops|hm+|no)\b[\s,.!]*)?(?:wait\b|actually\b|correction\b|sorry\b|oops\b"
    r"|scratch that|never ?mind|on second thou?ght|ignore (?:that|this|the)|disregard\b"
    r"|(?:or )?(?:better|instead|rather)\s*[:,]"
    r"|that(?:'s| is| was) (?:wrong|incorrect|not right|a mistake)"
    r"|no, (?:that|this|i)\b)",
    re.IGNORECASE,
)
"""What takes back the call before it."""
_ACT: Final = r"(?:call|continue|do (?:it|so|that|this)|execute|go|make|proceed|run|send)"
_ASKED: Final = re.compile(
    rf"{_CLOSING}[/#^(\s]*+(?:or\b|(?:shall|should|may|can) i {_ACT}"
    rf"|(?:do you want|would you like) me to {_ACT}"
    r"|please confirm|let me know (?:if|whether) i should"
    r"|pending\b|awaiting\b|hypothetical|not (?:yet|called|executed|made|run|sent)\b"
    r"|(?:i|it|the call|this)(?: is| was| have|['\u2019]ve| has)? not (?:yet )?(?:been )?"
    r"(?:called|executed|made|run|sent)\b"
    r"|(?:please )?(?:do not|don['\u2019]t|never) (?:call|execute|run|send|use) (?:it|that|this)\b"
    r"|(?:this is |only |just |for )*(?:an? )?examples?(?: only)?\W*(?:\n|\Z))",
    re.IGNORECASE,
)
"""What behind a call says that it waits for an answer, or is one of two."""
_QUESTION: Final = re.compile(
    r"\b(?:(?:shall|should|may|can) i|(?:do you want|would you like|want) me to)"
    r" (?:go ahead|proceed|(?:call|do|execute|make|run|send) (?:it|so|that|this))\b"
    r"(?: with (?:it|that|this))?\s*\?",
    re.IGNORECASE,
)
_CONTINUED: Final = re.compile(rf"{_CLOSING}(?:but|however|though|although)\b")
"""What makes a call a part of the sentence that goes on behind it."""
_CONDITION: Final = re.compile(
    r"[ \t`)\]'\";,*]*+(?:(?:but |and )?only )?(?:assuming|if|once|provided|unless)\b",
    re.IGNORECASE,
)
_ANSWERED: Final = re.compile(
    r"[\s)\]}'\"`;,.*]*(?:->|=>|\u2192|\?|(?:returns?|returned|fail(?:s|ed)|g[ai]ves?|sends?|was|were"
    r"|is|has|had|would|could|might|did|does)\b)"
)
"""What stands behind a call whose outcome is told, or that is asked about."""
_TOLD: Final = re.compile(
    rf"{_CLOSING}(?:are|could|fail(?:s|ed)|had|has|is|might|returned|was|were|would"
    r"|(?:but |and )?(?:do not|don['\u2019]t|never)|and (?:got|it (?:returned|said)|received))\b"
)


def taken_back(behind: str) -> bool:
    """Whether the words right behind a call take it back, or make it one of two."""
    return (_RETRACTED.match(behind) or _ASKED.match(behind)) is not None


def asked_about(rest: str) -> bool:
    """Whether some sentence behind a call asks whether to make it."""
    return _QUESTION.search(rest) is not None


def goes_on(behind: str) -> bool:
    """Whether the sentence that a call stands in goes on behind it."""
    return _CONTINUED.match(behind) is not None


def told(behind: str, *, tagged: bool = False) -> bool:
    """Whether the line behind a call tells what came of it, or on what it depends."""
    if tagged:
        return _TOLD.match(behind) is not None
    return (_ANSWERED.match(behind) or _CONDITION.match(behind)) is not None
