"""What is loaded when it is first used: names, and tables of data. A cold start stays short."""

import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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
        with name_extra():
            value = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return list(modules), load


@contextmanager
def name_extra() -> Iterator[None]:
    """Say of an optional library that is missing inside which command installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (extra := load_table("extras.toml").get((error.name or "").split(".")[0])) is None:
            raise
        say = f"{error.msg}; install it with: pip install 'selfcorrect[{extra}]'"
        raise ModuleNotFoundError(say, name=error.name) from None


@cache
def load_table(name: str) -> dict[str, Any]:
    """Return a file of data that stands beside the code, as TOML."""
    return tomllib.loads((Path(__file__).parent / name).read_text("utf-8"))
