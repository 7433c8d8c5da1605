"""`on_error`: what the author of a tool says, next to the tool, about its errors."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, TypeAlias, TypeVar

from selfcorrect.errors import GraphSetupError
from selfcorrect.model import (
    DeserializationError,
    ExecutionError,
    InvalidArgs,
    Repair,
    ToolError,
)
from selfcorrect.tools.declarations import ON_ERROR_MARK

F = TypeVar("F", bound=Callable[..., Any])
Handler: TypeAlias = Callable[[Any], Any] | Repair
"""Takes the error and returns a `Repair`, or None to decline; or the `Repair` itself."""


@dataclass(frozen=True, slots=True)
class OnError:
    """A whole handler: one decision for each kind of error; made with `on_error`.

    Called with a tool function it marks the function and returns it, so it is a decorator, too.
    """

    invalid_args: Handler | None = None
    deserialization_error: Handler | None = None
    execution_error: Handler | None = None

    def __post_init__(self) -> None:
        """Refuse what can never decide.

        Raises:
            GraphSetupError: If a handler is neither callable nor a `Repair`.
        """
        for name in ("invalid_args", "deserialization_error", "execution_error"):
            given = getattr(self, name)
            if given is not None and not callable(given) and not isinstance(given, Repair):
                raise GraphSetupError(f"{name} must be callable or a Repair, not {given!r:.80}")

    def __call__(self, fn: F) -> F:
        """Mark a tool function; `ToolSpec.from_function` and `@tool` keep the mark.

        Raises:
            GraphSetupError: If this is not a plain function or method.
        """
        function: Any = fn
        if not inspect.isroutine(function):
            raise GraphSetupError(
                f"@on_error stands on a function, not on {type(fn).__name__}: put it below @tool"
            )
        setattr(function, ON_ERROR_MARK, self)
        return fn

    def of(self, error: ToolError) -> Handler | None:
        """The handler of this error, or None."""
        match error:
            case InvalidArgs():
                return self.invalid_args
            case DeserializationError():
                return self.deserialization_error
            case ExecutionError():
                return self.execution_error
            case _:
                return None


def on_error(
    *,
    invalid_args: Handler | None = None,
    deserialization_error: Handler | None = None,
    execution_error: Handler | None = None,
) -> OnError:
    """Say how a tool's errors are handled, before the rules of the error-strategy map.

    As a decorator it belongs to one tool; as a value it goes to `ToolSpec(on_error=…)` or to
    `build_graph(on_error=…)`. A handler takes the error and returns a `Repair`: `Retry(n)`,
    `Fix(fixer, retries)`, `Result(value)`, `Escalate(reason)`, `Terminal(reason)` …; None or
    `GiveUp` declines, and the map decides. A tool's own handler holds whole: a kind of error that
    it does not name goes to the map, not to the graph's handler.

    Not the right tool for what differs per deployment: that belongs into a map.

    Args:
        invalid_args: For arguments that do not fit the schema: gets an `InvalidArgs`.
        deserialization_error: For arguments that the tool's own types refuse.
        execution_error: For a tool that ran and failed: gets an `ExecutionError`.

    >>> from selfcorrect import Retry
    >>> @on_error(execution_error=lambda error: Retry(3))
    ... def fetch(url: str) -> str:
    ...     '''Fetch a page.'''
    >>> fetch.__selfcorrect_on_error__.invalid_args is None
    True
    """
    return OnError(invalid_args, deserialization_error, execution_error)


def as_handler(given: Any, where: str) -> OnError | None:
    """A handler out of what a caller gave: an `OnError`, or one callable for every kind.

    Raises:
        GraphSetupError: If it is anything else.
    """
    if given is None or isinstance(given, OnError):
        return given
    if callable(given):
        return OnError(given, given, given)
    raise GraphSetupError(f"{where}: on_error must come from on_error(…), not {given!r:.80}")


_LOCK: Final = Lock()
_IN_FORCE: Final[list[OnError | None]] = [None]
"""The handler of this process for tools that nobody gave one."""


def default_on_error(handler: OnError | None) -> OnError | None:
    """Set the handler for graphs built from now on, for tools that have no other.

    Returns:
        The handler that was in force, so that it can be put back.

    >>> before = default_on_error(on_error(execution_error=lambda error: None))
    >>> default_on_error(before) is not None
    True
    """
    new = as_handler(handler, "default_on_error")
    with _LOCK:
        before, _IN_FORCE[0] = _IN_FORCE[0], new
    return before


def defaults() -> OnError | None:
    """The handler of this process, or None."""
    return _IN_FORCE[0]
