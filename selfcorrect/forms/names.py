"""Names of tools in a history, as every provider takes them."""

from __future__ import annotations

import re
from typing import Final

NO_NAME: Final = "unknown"
"""What a call is named where nothing tells which tool was meant."""
_TAKEN: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def is_usable(name: str) -> bool:
    """Whether every provider takes this name."""
    return _TAKEN.fullmatch(name) is not None


def usable_name(name: str) -> str:
    """A name that every provider takes.

    >>> usable_name("functions.find:0"), usable_name("")
    ('functions_find_0', 'unknown')
    """
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or NO_NAME
