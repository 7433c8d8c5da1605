"""The call that a provider's error holds: what the model wrote, and the provider could not read."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from selfcorrect.reading.choose import Chosen, read_text

_DEPTH: Final = 4
_MOST: Final = 50


def text_in(error: Exception, is_tool: Callable[[str], bool]) -> str | None:
    """Return the text in an error's body that is a call of an offered tool and nothing else.

    Args:
        error: What a client of a provider raised.
        is_tool: Whether a name is the name of a tool.
    """
    for text in _texts(getattr(error, "body", None), _DEPTH):
        chosen = read_text(text, is_tool)
        if isinstance(chosen, Chosen) and not chosen.around:
            names = [call.name for call in chosen.calls]
            return text if all(map(is_tool, names)) else None
    return None


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, Mapping | list):
        items = list(value.values()) if isinstance(value, Mapping) else value
        for each in items[:_MOST]:
            yield from _texts(each, depth - 1)
