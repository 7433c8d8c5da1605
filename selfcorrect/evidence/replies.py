"""Replies of mail and file servers: `550 5.1.1 …`, `(452, b'4.2.2 …')`, `530 Login incorrect`.

The three digits are those of RFC 5321 (SMTP) and RFC 959 (FTP), which use the same scheme: 4yz may
work if repeated, 5yz will not. The dotted code of RFC 3463 says more, and comes first. What is
found is a class, put in front of the exception's own, so that a rule of a map can ask for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from selfcorrect.words import by_word

_DOTTED: Final = re.compile(
    r"(?<![\d.])([45]\d\d)[ ,-]{1,2}(?:b?['\"])?[45]\.((\d{1,3})\.\d{1,3})(?![\d.])"
)
_PLAIN: Final = re.compile(r"\A\W{0,3}(?:error: )?([45]\d\d)(?=[ ,-])", re.IGNORECASE)
_OF_A_COMMAND: Final = re.compile(
    r"\A(50[0-4])[ -].{0,60}\b(?:command|syntax|parameters?)\b", re.IGNORECASE
)
"""What only a server of commands says with these digits: HTTP says by 500 that it broke itself."""
_SERVERS: Final = ("smtplib.", "aiosmtplib.", "ftplib.", "aioftp.", "nntplib.")
_CLASSES: Final = by_word(
    {
        "ReplyUnknownMailbox": "1",
        "ReplyBadAddress": "1.3 1.7 1.8 553",
        "ReplyMailboxClosed": "2",
        "ReplyFull": "2.2 3.1 452",
        "ReplyTooLarge": "2.3 3.4 552",
        "ReplySyntax": "5 503",
        "ReplyUnknownCommand": "5.1 500",
        "ReplyNotImplemented": "502",
        "ReplyTooMany": "5.3",
        "ReplyBadArgument": "5.4 6 501 504 555",
        "ReplyRefused": "7",
        "ReplyAuth": "7.8 7.9 530 532 534 535 538",
    }
)
"""Subject and detail, subject, or code of a reply, and the class of what it says."""


def reply_class(text: str, types: Sequence[str]) -> str | None:
    """The class of a mail or file server's reply; None for what is no such reply.

    >>> reply_class("(550, b'5.1.1 User unknown')", ())
    'ReplyUnknownMailbox'
    >>> reply_class("530 Login incorrect.", ("ftplib.error_perm",))
    'ReplyAuth'
    """
    if match := _DOTTED.search(text[:600]):
        code, *told = match.groups()
    else:
        is_server = any(name.startswith(_SERVERS) for name in types)
        match = (_PLAIN if is_server else _OF_A_COMMAND).match(text)
        if match is None:
            return None
        code, told = match[1], [match[1]]
    found = next((_CLASSES[each] for each in told if each in _CLASSES), None)
    return "ReplyLater" if code[0] == "4" and found != "ReplyFull" else found
