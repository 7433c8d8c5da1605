"""How a tool is pickled: as what it was made from, and made anew where it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pickle import PicklingError
from typing import Any

from selfcorrect.schema.checker import Checker


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """What a tool was made from.

    Attributes:
        maker: Makes it: a classmethod of `ToolSpec`.
        of: What it is made from.
        options: Those that decide how it runs; all else is in its fields.
        run: What runs it, to see that nobody gave it another one.
    """

    maker: Callable[..., Any]
    of: Any
    options: Mapping[str, Any]
    run: Any


def reduced(
    tool: Any, origin: Origin | None, run: Any, fields: Mapping[str, Any]
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """What `pickle` wants to know of a tool.

    Raises:
        PicklingError: If nothing says how it can be made elsewhere.
    """
    if origin is None or origin.run is not run:
        raise PicklingError(f"{tool!r} runs what it was given later: make it in the worker instead")
    return _made_anew, (origin.maker, origin.of, origin.options, fields)


def _made_anew(
    maker: Callable[..., Any], of: Any, options: Mapping[str, Any], fields: Mapping[str, Any]
) -> Any:
    made = maker(of, **options)
    checker = made._checker  # noqa: SLF001 -- a tool's own part
    if made.schema != fields["schema"]:
        checker = Checker(dict(fields["schema"]), made.name, local_times=checker.is_typed)
    return replace(made, **fields, _checker=checker)
