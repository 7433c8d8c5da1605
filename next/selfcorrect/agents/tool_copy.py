"""A copy of a LangChain tool that notes what its own code returned or raised.

LangChain makes a message of both: an object becomes text, an exception becomes the words of
whatever handler stands around the tool. What an execution did is read from what it was.
"""

from contextvars import ContextVar
from functools import lru_cache, wraps
from typing import Any

from langchain_core.tools import BaseTool


class Listener:
    """Takes note of what a tool is called with, and of what its code came to."""

    def note_call(self, args: Any) -> None:
        """Take note of the arguments with which LangChain calls the tool; may forbid the call."""

    def note_value(self, value: Any) -> None:
        """Take note of what the code returned."""

    def note_error(self, error: BaseException) -> None:
        """Take note of what the code raised."""


LISTENER = ContextVar("selfcorrect_listener", default=Listener())  # noqa: B039
"""Who listens to the call that is being made."""


def copy_tool(tool: BaseTool) -> BaseTool:
    """Return a tool that shares everything with another one, and tells the listener."""
    copy = object.__new__(_listening(type(tool)))
    # The same fields, not equal ones: a tool may count its calls in itself.
    for name in BaseTool.__slots__:
        object.__setattr__(copy, name, getattr(tool, name))
    return copy


@lru_cache(maxsize=256)
def _listening(kind: type[BaseTool]) -> type[BaseTool]:
    """Return the class whose tools tell the listener."""
    inner, ainner = kind._run, kind._arun  # noqa: SLF001 -- what LangChain has a tool define

    # LangChain looks at the signature: some tools take its config.
    @wraps(inner)
    def run(self: Any, *args: Any, **options: Any) -> Any:
        try:
            value = inner(self, *args, **options)
        except BaseException as error:
            LISTENER.get().note_error(error)
            raise
        LISTENER.get().note_value(value)
        return value

    @wraps(ainner)
    async def arun(self: Any, *args: Any, **options: Any) -> Any:
        try:
            value = await ainner(self, *args, **options)
        except BaseException as error:
            LISTENER.get().note_error(error)
            raise
        LISTENER.get().note_value(value)
        return value

    metaclass: Any = type(kind)

    def call(self: Any, tool_input: Any, *args: Any, **options: Any) -> Any:
        LISTENER.get().note_call(tool_input)
        return kind.run(self, tool_input, *args, **options)

    async def acall(self: Any, tool_input: Any, *args: Any, **options: Any) -> Any:
        LISTENER.get().note_call(tool_input)
        return await kind.arun(self, tool_input, *args, **options)

    body = {"run": call, "arun": acall, "_run": run, "_arun": arun}
    body |= {"__module__": kind.__module__, "__doc__": kind.__doc__}
    made: type[BaseTool] = metaclass(kind.__name__, (kind,), body)
    return made
