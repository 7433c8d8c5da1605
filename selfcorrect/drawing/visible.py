"""Text from outside, made safe to look at: what a screen could obey is escaped."""

from __future__ import annotations

import json
import re
from typing import Final

_HIDDEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e0fff]"
)
"""Control, bidirectional and invisible characters, halves of surrogate pairs, what XML forbids."""


def visible(text: str) -> str:
    r"""The text on one line, with every character that a screen could obey escaped.

    >>> print(visible("a\x1b[31m\u202eb\ud800"))
    a\u001b[31m\u202eb\ud800
    """
    return _HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], text)
