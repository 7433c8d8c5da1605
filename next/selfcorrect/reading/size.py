"""Bounds the size of a call: nothing larger is copied, compared or written into a report."""

from collections.abc import Mapping
from typing import Any, Final

MAX_BYTES: Final = 1 << 20
MAX_CHARACTERS: Final = 1 << 23
MAX_VALUES: Final = 100_000
MAX_DEPTH: Final = 64
MAX_BITS: Final = 13_000
"""Of an integer: Python writes no more than 4,300 digits as a text."""


def oversize(given: Any) -> str | None:
    """Say which bound a call breaks, as a text or an object, or return None.

    What breaks one is never taken: it could neither be copied nor written into a report.
    """
    if isinstance(given, str):
        is_long = len(given) > MAX_BYTES
        return f"The text is longer than {MAX_BYTES} characters." if is_long else None
    level, values, characters = [given], 0, 0
    for _ in range(MAX_DEPTH):
        inner: list[Any] = []
        for each in level:
            if isinstance(each, str):
                characters += len(each)
            elif isinstance(each, int) and each.bit_length() > MAX_BITS:
                return f"A number of the call has more than {MAX_BITS} bits."
            elif isinstance(each, Mapping):
                inner += each.values()
                characters += sum(len(key) for key in each if isinstance(key, str))
            elif isinstance(each, list | tuple):
                inner += each
            if values + len(inner) > MAX_VALUES or characters > MAX_CHARACTERS:
                return f"The call has more than {MAX_VALUES} values or {MAX_CHARACTERS} characters."
        if not inner:
            return None
        level, values = inner, values + len(inner)
    return f"The call is nested more than {MAX_DEPTH} levels deep."
