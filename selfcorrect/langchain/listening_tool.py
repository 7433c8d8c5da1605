"""Tools that tell the call that runs them what their own code returned or raised."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache, wraps
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, cast

from langchain_core.tools import BaseTool

from selfcorrect.context import run_sync
from selfcorrect.tools.spec import ToolSpec

if TYPE_CHECKING:
    from selfcorrect.langchain.tool_call import ToolRun

LISTENER: ContextVar["ToolRun | None"] = ContextVar("selfcorrect_listener", default=None)
"""The call that is being made."""


def spec_of(tool: BaseTool, *, is_async: bool) -> ToolSpec:
    """Return a tool as the loop takes it: its schema as the model saw it, run by LangChain."""
    copy = copy_tool(tool)
    spec = ToolSpec.from_langchain(tool)
    # LangChain would answer with a message that does not show whether the tool ran.
    check = spec.bind or dict

    async def acall(**args: Any) -> Any:
        check(deepcopy(args))
        return await cast("ToolRun", LISTENER.get()).execute(copy, args)

    def call(**args: Any) -> Any:
        return run_sync(acall(**args))

    # A tool that is only async is refused by the loop where the agent is sync.
    is_coroutine = is_async or iscoroutinefunction(spec.call)
    return replace(spec, call=acall if is_coroutine else call)


def copy_tool(tool: BaseTool) -> BaseTool:
    """Return a tool that shares everything with another one, and tells the listener."""
    copy = object.__new__(_listening(type(tool)))
    # The same fields, not equal ones: a tool may count its calls in itself.
    for name in BaseTool.__slots__:
        object.__setattr__(copy, name, getattr(tool, name))
    return copy


@lru_cache(maxsize=256)
def _listening(base: type[BaseTool]) -> type[BaseTool]:
    """Return the class whose tools tell the listener."""
    inner, ainner = base._run, base._arun  # noqa: SLF001 -- what LangChain has a tool define

    # LangChain looks at the signature: some tools take its config.
    @wraps(inner)
    def run(*args: Any, **options: Any) -> Any:
        with _noted() as values:
            values.append(inner(*args, **options))
        return values[0]

    @wraps(ainner)
    async def arun(*args: Any, **options: Any) -> Any:
        with _noted() as values:
            values.append(await ainner(*args, **options))
        return values[0]

    body = {"_run": run, "_arun": arun, "run": _announced(base.run), "arun": _announced(base.arun)}
    body |= {"__module__": base.__module__, "__doc__": base.__doc__}
    metaclass: Any = type(base)
    listening: type[BaseTool] = metaclass(base.__name__, (base,), body)
    return listening


@contextmanager
def _noted() -> Iterator[list[Any]]:
    """Have the present call take note of the value that is put into the list, or of the error."""
    call, values = LISTENER.get(), list[Any]()
    try:
        yield values
    except BaseException as error:
        if call is not None:
            call.errors.append(error)
        raise
    if call is not None:
        call.note_value(values[0])


def _announced(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a tool's method that tells the present call its arguments before it begins."""

    def run(self: Any, tool_input: Any, *args: Any, **options: Any) -> Any:
        if (call := LISTENER.get()) is not None:
            call.note_args(tool_input)
        return method(self, tool_input, *args, **options)

    return run
