"""The call after the changes of a strategy, if they can be made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from selfcorrect.model import ABSENT, Call, Finding, Safety
from selfcorrect.plain import problem, storable
from selfcorrect.pointer import apply, look


def mended(call: Call, changes: tuple[Any, ...], group: list[Finding]) -> Call | str:
    """The call after these changes, or why they cannot be made."""
    if not changes:
        return "changed nothing"
    now = call
    for change in changes:
        if look(now, change.path) != change.before:
            return f"{change.path} is not what the strategy took it for"
        if not storable(change.after):
            return f"{change.path}: a number of more than 64 bits"
        if change.after is not ABSENT and (wrong := problem(change.after)) is not None:
            return f"{change.path}: {wrong[1]}"
        if change.safety is Safety.MODEL and not _within(change.path, group):
            return f"the model changed {change.path}, which it was not asked about"
        try:
            now = apply(now, (change,))
        except (LookupError, ValueError) as error:
            return str(error)
    args: Any = now.args
    if not isinstance(args, Mapping):
        return "the arguments would no longer be an object"
    return now


def _within(path: str, group: list[Finding]) -> bool:
    """Whether a model was asked about this place; of a call that cannot be read, about all."""
    if any(place == "/raw" for item in group for place in item.paths):
        return True
    return any(
        path == place or path.startswith(place + "/") for item in group for place in item.paths
    )
