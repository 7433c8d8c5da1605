"""The facts of an error by which `selfcorrect.kernel.outcomes` says what its execution did."""

from __future__ import annotations

import dis
import json
import re
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import PurePath
from types import TracebackType
from typing import Any, Final

from selfcorrect.effects import Outcome
from selfcorrect.errors import NotDone, SelfCorrectError, ToolReportedError
from selfcorrect.evidence.exceptions import Facts, heard, type_names
from selfcorrect.evidence.kinds.facts import kind_of_code, speaks_of
from selfcorrect.foreign import causes
from selfcorrect.kernel.outcomes import BROKE_OFF, Ended, Layer, is_firm, what_was_done
from selfcorrect.kinds import PASSING
from selfcorrect.model import ErrorKind
from selfcorrect.ports import Ending
from selfcorrect.words import word_list

_MOST: Final = 200
_STATUS_KEYS: Final = ("status", "status_code", "statusCode", "http_status", "code")
"""Where an answer's body says how it ended."""
_BREAKS: Final = (TimeoutError, ConnectionError, EOFError, InterruptedError)
_TRANSPORT: Final = frozenset(
    word_list("""
        aiohttp anyio asyncio grpc http httpcore httpx requests socket ssl urllib urllib3
        websockets""")
)
"""Libraries whose errors say that an answer did not come, unless they carry one."""
_REFUSING_ERRORS: Final = (
    ValueError,
    LookupError,
    NotImplementedError,
    PermissionError,
    FileNotFoundError,
    FileExistsError,
)
"""Built-in classes that a tool raises in order to refuse; others announce that it broke."""
_FAULTS: Final = (
    *(ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, MemoryError),
    *(NameError, RuntimeError, SyntaxError, TypeError, ValueError),
)
"""Built-in classes that the language raises where code is wrong."""
_UNSAID: Final = (AssertionError, RuntimeError)
"""Of these, that a `raise` made them says nothing: `assert` raises, too."""
_TOOL_EXCEPTION: Final = "langchain_core.tools.base.ToolException"
_REFUSING_ERRNOS: Final = frozenset(
    word_list("""
        EACCES EEXIST EINVAL EISDIR ELOOP ENAMETOOLONG ENOENT ENOTDIR ENOTEMPTY EPERM EROFS""")
)
"""POSIX.1-2024: what a file system says before it does anything."""
_PROTOCOL_REFUSALS: Final = frozenset({"-32602", "-32601"})
"""JSON-RPC 2.0, section 5.1: invalid params, method not found."""
_ARGS: Final[Any] = BaseException.__dict__["args"]
"""Read by it, what an exception was made with runs no property of its class."""
_NUMBER: Final = re.compile(r"[1-5][0-9][0-9]")
_PROTOCOL_CODE: Final = re.compile(r"-32\d{3}")
_PARSERS: Final = frozenset(
    {("langchain_core.tools.base", "_parse_input"), ("selfcorrect.tools.signatures", "convert")}
)
_ENTRANCES: Final = frozenset({"langchain_core.tools.base", "selfcorrect.tools.spec"})
"""Where a host enters a tool."""
_BODIES: Final = frozenset({"_run", "_arun"})
"""Where LangChain leaves its own code for what was registered, which may be LangChain's too."""
_WAY: Final = re.compile(
    r"(?:asyncio|concurrent|selfcorrect|threading|langchain_core\.(?:tools|runnables\.config))(?:\.|\Z)"
)
"""Modules between a host's entrance and its parser; whatever else stands there is a body."""
_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})
_HOSTS: Final = frozenset(
    {"selfcorrect", "langchain_core", "langchain", "langgraph", "asyncio", "concurrent"}
    | {"contextlib", "contextvars", "functools", "threading"}
)
_STAND_INS: Final = "selfcorrect.testing."
"""Worlds that stand in for a tool's own code, and are no part of the host that calls it."""


def ending_of(error: BaseException, home: str = "", facts: Sequence[Facts] = ()) -> Ending:
    """What an execution that ended in this exception did. Never raises.

    Args:
        error: As it left the tool, with its traceback.
        home: The top-level package of the tool's function, whose code is the tool's own even where
            it is installed as a library.
        facts: What was read of it and of those that it wraps.
    """
    if isinstance(error, ToolReportedError) and (cause := causes(error)[0]) is not None:
        error = cause  # a host made an answer of what the tool raised
    try:
        told = {id(each.error): each for each in facts}
        chain = [told.get(id(each)) or heard(each) for each in _all(error)]
        ended = Ended(
            tuple(map(_layer, chain)),
            promised=isinstance(error, NotDone),
            unreached=_before_the_body(error),
            rejected=_refused_by_server(chain[0]),
            reported=isinstance(error, ToolReportedError) or _TOOL_EXCEPTION in type_names(error),
            on_purpose=_raised_on_purpose(error, home),
        )
        why, outcome = what_was_done(ended)
        firm = outcome is not Outcome.REFUSED or is_firm(ended)
        is_fault = why == BROKE_OFF and _is_fault(error)
        return Ending(outcome, why, is_fault, _where(error, home), firm)
    except Exception:  # a property of a hostile object may raise anything
        why, outcome = what_was_done(None)
        return Ending(outcome, why)


def _layer(told: Facts) -> Layer:
    names = (name.rpartition(".")[2] for name in told.types)
    spoken = " ".join((*names, str(told.code or ""), told.text, told.body or ""))
    bodies = (told.body, *_ARGS.__get__(told.error)[:3])
    return Layer(
        status=_status(told),
        inside=tuple(status for body in bodies for status in _statuses(body)),
        kind=_kind_of_codes(told),
        breaks=_is_break(told.error),
        passes=speaks_of(spoken, PASSING),
    )


def _before_the_body(error: BaseException) -> bool:
    """Whether the host's parser refused, and no error passed through the code of a tool.

    A host may make an error of its own of what its parser raised. So may a tool, of what the parser
    of another one that it calls raised: then its own error came through its code.
    """
    reached = [*map(_reached, (error, causes(error)[0]))]
    return "parser" in reached and "body" not in reached


def _reached(error: BaseException | None) -> str | None:
    """What of a tool comes first in a traceback: its host's parser or its body, if either."""
    in_tool = False
    for tb in _frames(error):
        module = str(tb.tb_frame.f_globals.get("__name__", ""))
        function = tb.tb_frame.f_code.co_name
        if (module, function) in _PARSERS:
            return "parser"
        in_tool = in_tool or module in _ENTRANCES
        if in_tool and (function in _BODIES or not _WAY.match(module)):
            return "body"
    return None


def _refused_by_server(told: Facts) -> bool:
    """Whether the library's own error says so; others take over what an answer's body holds."""
    error = told.error
    ours = isinstance(error, SelfCorrectError) and error.__dict__.get("trusted") is True
    return ours and told.code in _PROTOCOL_REFUSALS


def _is_break(error: BaseException) -> bool:
    """Whether its class says that no answer came."""
    if isinstance(error, _BREAKS) or type(error).__name__ == "CancelledError":
        return True
    if isinstance(error, OSError) and not isinstance(error, _REFUSING_ERRORS):
        return True
    return any(name.partition(".")[0] in _TRANSPORT for name in type_names(error)[:1])


def _raised_on_purpose(error: BaseException, home: str) -> bool:
    """Whether a `raise` of the tool's own code made it, of a class that refuses."""
    if isinstance(error, BaseExceptionGroup):
        return all(_raised_on_purpose(each, home) for each in error.exceptions)
    built_in = type(error).__module__ == "builtins"
    if built_in and type(error) is not Exception and not isinstance(error, _REFUSING_ERRORS):
        return False
    last = _last(error)
    return last is not None and _is_own(last, home) and _is_raise(last)


def _is_fault(error: BaseException) -> bool:
    """Whether an operation of the language, no `raise`, made it where the tool's code is wrong."""
    last = _last(error)
    # A bare RuntimeError may mean "not yet": as a fault it is told, and not polled by its words.
    if last is not None and _is_raise(last) and not isinstance(error, _UNSAID):
        return False
    module = type(error).__module__.partition(".")[0]
    known = module == "builtins" or module in sys.stdlib_module_names
    return known and isinstance(error, _FAULTS)


def _all(error: BaseException) -> Iterator[BaseException]:
    """The exception and everything that led to it: causes, contexts, members of groups."""
    todo, seen = [error], set[int]()
    while todo and len(seen) < _MOST:
        item = todo.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        yield item
        if isinstance(item, BaseExceptionGroup):
            todo.extend(item.exceptions)
        todo.extend(each for each in causes(item) if each is not None)


def _status(told: Facts) -> int | None:
    status = told.status
    return status if isinstance(status, int) and 400 <= status < 600 else None


def _statuses(body: Any) -> Iterator[int]:
    """What a body says of how it ended, an object or its text: at its top or in its `error`."""
    if type(body) is str and body.lstrip().startswith("{"):
        with suppress(ValueError, RecursionError):
            body = json.loads(body)
    parts: tuple[Any, ...] = (body, body.get("error")) if type(body) is dict else ()
    for part in parts:
        for key in _STATUS_KEYS if type(part) is dict else ():
            said: Any = part.get(key)
            # A subclass may do anything when it is compared or made a text.
            if type(said) in (int, str) and _NUMBER.fullmatch(str(said)):
                yield int(said)


def _kind_of_codes(told: Facts) -> ErrorKind | None:
    """What a code that the error carries (gRPC, SQLSTATE, a vendor's) says, if it has one."""
    if isinstance(told.error, OSError) and type(told.error).__module__ == "builtins":
        return ErrorKind.VALIDATION if told.code in _REFUSING_ERRNOS else None
    if str(told.code).startswith("SQLITE_ERROR"):
        return ErrorKind.VALIDATION
    if told.code and _PROTOCOL_CODE.fullmatch(told.code):
        refused = told.code in _PROTOCOL_REFUSALS
        return ErrorKind.VALIDATION if refused else ErrorKind.INTERNAL
    codes = (told.status if isinstance(told.status, str) else None, told.code)
    return next((kind for code in codes if (kind := kind_of_code(code)) is not None), None)


def _frames(error: BaseException | None) -> Iterator[TracebackType]:
    tb = error.__traceback__ if error is not None else None
    while tb is not None:
        yield tb
        tb = tb.tb_next


def _last(error: BaseException) -> TracebackType | None:
    return next(iter(deque(_frames(error), maxlen=1)), None)


def _is_raise(tb: TracebackType) -> bool:
    code = tb.tb_frame.f_code.co_code
    return 0 <= tb.tb_lasti < len(code) and dis.opname[code[tb.tb_lasti]] == "RAISE_VARARGS"


def _is_own(tb: TracebackType, home: str) -> bool:
    """Whether a frame runs the tool's own code: of its package, or of no installed library."""
    name = str(tb.tb_frame.f_globals.get("__name__", ""))
    top = name.partition(".")[0]
    if (home and top == home) or name.startswith(_STAND_INS):
        return True
    if top in _HOSTS or top in sys.stdlib_module_names - {"__main__"}:
        return False
    return _INSTALLED.isdisjoint(PurePath(tb.tb_frame.f_code.co_filename).parts)


def _where(error: BaseException, home: str) -> str | None:
    """File and line of the last frame of the tool's own code."""
    found = None
    for tb in _frames(error):
        if _is_own(tb, home):
            found = f"{tb.tb_frame.f_code.co_filename}:{tb.tb_lineno}"
    return found
