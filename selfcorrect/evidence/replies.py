"""Replies of mail and file servers: `550 5.1.1 …`, `(452, b'4.2.2 …')`, `530 Login incorrect`.

The three digits are those of RFC 5321 (SMTP) and RFC 959 (FTP), which use the same scheme: 4yz may
work if repeated, 5yz will not. The dotted code of RFC 3463 says more, and comes first. What is
found is a class, put in front of the exception's own, so that a rule of a map can ask for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_DOTTED: Final = re.compile(
    r"(?<![\d.])([245]\d\d)[ ,-]{1,2}(?:b?['\"])?([245])\.(\d{1,3})\.(\d{1,3})(?![\d.])"
)
_BARE: Final = re.compile(r"\A\W{0,3}(?:error: )?([45]\d\d)(?=[ ,-])", re.IGNORECASE)
_SERVERS: Final = ("smtplib.", "aiosmtplib.", "ftplib.", "aioftp.", "nntplib.")

_BY_DETAIL: Final = {
    (1, 3): "ReplyBadAddress", (1, 7): "ReplyBadAddress", (1, 8): "ReplyBadAddress",
    (2, 1): "ReplyMailboxClosed", (2, 2): "ReplyFull", (2, 3): "ReplyTooLarge",
    (3, 1): "ReplyFull", (3, 4): "ReplyTooLarge",
    (5, 1): "ReplyUnknownCommand", (5, 2): "ReplySyntax", (5, 3): "ReplyTooMany",
    (5, 4): "ReplyBadArgument", (7, 8): "ReplyAuth", (7, 9): "ReplyAuth", (7, 0): "ReplyRefused",
}  # fmt: skip
_BY_SUBJECT: Final = {
    1: "ReplyUnknownMailbox", 2: "ReplyMailboxClosed", 3: "ReplyServer", 4: "ReplyNetwork",
    5: "ReplySyntax", 6: "ReplyBadArgument", 7: "ReplyRefused",
}  # fmt: skip
_BY_CODE: Final = {
    "452": "ReplyFull", "552": "ReplyTooLarge", "500": "ReplyUnknownCommand",
    "501": "ReplyBadArgument", "502": "ReplyUnknownCommand", "503": "ReplySyntax",
    "504": "ReplyUnknownCommand", "530": "ReplyAuth", "532": "ReplyAuth", "534": "ReplyAuth",
    "535": "ReplyAuth", "538": "ReplyAuth", "553": "ReplyBadAddress", "555": "ReplyBadArgument",
}  # fmt: skip


def reply_class(text: str, types: Sequence[str]) -> str | None:
    """The class of a mail or file server's reply; None for what is no such reply.

    >>> reply_class("(550, b'5.1.1 User unknown')", ())
    'ReplyUnknownMailbox'
    >>> reply_class("530 Login incorrect.", ("ftplib.error_perm",))
    'ReplyAuth'
    """
    if match := _DOTTED.search(text[:600]):
        subject, detail = int(match[3]), int(match[4])
        found = _BY_DETAIL.get((subject, detail)) or _BY_SUBJECT.get(subject)
        if match[2] == "4" and found != "ReplyFull":
            return "ReplyLater"
        return found
    if not any(name.startswith(_SERVERS) for name in types):
        return None
    match = _BARE.match(text)
    if match is None:
        return None
    if match[1][0] == "4" and match[1] not in _BY_CODE:
        return "ReplyLater"
    return _BY_CODE.get(match[1])
