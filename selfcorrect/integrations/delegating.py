"""Wrappers that are, but for what they change, the object that they wrap."""

from __future__ import annotations

from itertools import takewhile
from typing import Any, ClassVar

from selfcorrect.integrations.menders import Menders


class Delegating:
    """Hands everything on to the wrapped object that no subclass defines.

    Stands before the framework's own class among the bases: what that class defines is the wrapped
    object's to answer, too.

    Args:
        wrapped: The object: a model, whose calls `_menders` mend.
        options: Those of `Mender`.
    """

    KEPT: ClassVar[str] = "__"
    """How the names begin that the wrapper's own bases answer."""

    def __init__(self, wrapped: Any, **options: Any) -> None:
        vars(self).update(_menders=Menders(**options), _wrapped=wrapped)

    def __getattribute__(self, name: str) -> Any:
        if _is_own(self, name):
            return object.__getattribute__(self, name)
        return getattr(vars(self)["_wrapped"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        is_wrappeds = not _is_own(self, name) and hasattr(vars(self)["_wrapped"], name)
        if is_wrappeds:
            setattr(vars(self)["_wrapped"], name, value)
        else:
            object.__setattr__(self, name, value)


def _is_own(wrapper: Delegating, name: str) -> bool:
    """Whether the wrapper has this of its own; before it wraps anything, all is."""
    kind, own = type(wrapper), object.__getattribute__(wrapper, "__dict__")
    if name.startswith(kind.KEPT) or name in own or "_wrapped" not in own:
        return True
    changed = takewhile(lambda base: base is not Delegating, kind.__mro__)
    return any(name in vars(base) for base in changed)
