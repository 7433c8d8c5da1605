"""Halves of characters, which no provider accepts, replaced."""

from selfcorrect.model import JSON


def without_half_characters(value: JSON) -> JSON:
    """Return the value with halves of characters replaced; two that belong together are joined."""
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        items = value.items()
        return {without_half_characters(key): without_half_characters(each) for key, each in items}
    return [*map(without_half_characters, value)] if isinstance(value, list) else value
