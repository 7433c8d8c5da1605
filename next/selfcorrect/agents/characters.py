"""Halves of characters, which no provider accepts: found, and replaced."""

import re
from typing import Final

from selfcorrect.model import JSON

_HALF: Final = re.compile("[\ud800-\udfff]")


def has_half_characters(value: JSON) -> bool:
    """Say whether a value holds halves of characters, which no provider accepts."""
    if isinstance(value, str):
        return not value.isascii() and _HALF.search(value) is not None
    if isinstance(value, dict):
        return any(has_half_characters(each) for pair in value.items() for each in pair)
    return isinstance(value, list) and any(map(has_half_characters, value))


def without_half_characters(value: JSON) -> JSON:
    """Return the value with halves of characters replaced; two that belong together are joined."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        items = value.items()
        return {without_half_characters(key): without_half_characters(each) for key, each in items}
    return [*map(without_half_characters, value)] if isinstance(value, list) else value
