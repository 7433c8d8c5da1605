"""Public names of a package, each loaded when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for the `__init__` of a package.

    Args:
        package: Its name.
        homes: The module of each public name.

    >>> load = lazily("selfcorrect", {"Limits": "selfcorrect.limits"})
    >>> load("Limits").__name__
    'Limits'
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(homes[name]), name)
        setattr(import_module(package), name, found)  # found at once from now on
        return found

    return load
