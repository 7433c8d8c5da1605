"""What is loaded when it is first used: names, and tables of data. A cold start stays short."""

import sys
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


def load_names(package: str, homes: Mapping[str, str]) -> tuple[list[str], Callable[[str], Any]]:
    """Return `__all__` and `__getattr__` of a package.

    Args:
        package: The package.
        homes: Its public names by the module that holds them, with spaces between them.
    """
    modules = {name: module for module, names in homes.items() for name in names.split()}

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return list(modules), load


@cache
def load_table(name: str) -> dict[str, Any]:
    """Return a file of data that stands beside the code, as TOML."""
    return tomllib.loads((Path(__file__).parent / name).read_text("utf-8"))
