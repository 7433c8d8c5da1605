"""How large arguments may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from selfcorrect.pointer import join


def json_bytes(value: Any) -> int:
    """How many bytes a value is when it is written as JSON; 0 for what cannot be written.

    >>> json_bytes({"to": "ann", "ids": [1, 2]}), json_bytes("é")
    (24, 4)
    """
    from pydantic_core import to_json

    try:
        return len(to_json(value))
    except (ValueError, RecursionError):  # what is no JSON is refused for that
        return 0


def too_large(value: Any, most: int, place: str = "/args") -> str | None:
    """Why arguments are not taken: what is too large, where, and what to do; or None.

    Args:
        value: The arguments, or the text in which they are written.
        most: The bound, in bytes: `Limits.argument_bytes`.
        place: Where they stand.
    """
    size = json_bytes(value)
    if size <= most:
        return None
    if isinstance(value, Mapping) and value:
        sizes = {name: json_bytes(item) for name, item in value.items()}
        place += join(str(max(sizes, key=lambda name: sizes[name]))[:200])
    return (
        f"{place}: the arguments take {size:,} bytes, and may take {most:,}; pass what is large by "
        "reference, such as a path, a URL or an id, or raise the limit argument_bytes"
    )
