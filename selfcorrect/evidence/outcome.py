"""What a failed execution did, from the structure of its error alone.

No word of a text counts here: what an exception says may be somebody else's sentence, and a status
in it somebody else's status. Evidence is read in the order of `EVIDENCE`; the first that holds
decides, and where none does, the execution is `lost`.
"""

from __future__ import annotations

import dis
import json
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePath
from types import TracebackType
from typing import Any, Final

from selfcorrect.effects import Outcome
from selfcorrect.errors import NotDone, SelfCorrectError, ToolReportedError
from selfcorrect.evidence.exceptions import Facts, heard, type_names
from selfcorrect.evidence.kinds.facts import kind_of_code, speaks_of
from selfcorrect.foreign import causes
from selfcorrect.kinds import PASSING
from selfcorrect.model import ErrorKind
from selfcorrect.ports import Ending
from selfcorrect.words import word_list

_MOST: Final = 200
_REFUSING_KINDS: Final = frozenset(
    {
        ErrorKind.VALIDATION,
        ErrorKind.NOT_FOUND,
        ErrorKind.AUTH,
        ErrorKind.QUOTA,
        ErrorKind.CONFLICT,
        ErrorKind.RATE_LIMIT,
    }
)
_BREAKING_KINDS: Final = frozenset(
    {ErrorKind.TRANSIENT, ErrorKind.TIMEOUT, ErrorKind.CANCELLED, ErrorKind.INTERNAL}
)
_LEFT_OPEN: Final = frozenset({408, 499})
_UNCLEAR: Final = frozenset({409, 412, 424})
"""What may be about an equal request that came before; 429 is none: it counts and does nothing."""
_STATUS_KEYS: Final = ("status", "status_code", "statusCode", "http_status", "code")
"""Where an answer's body says how it ended."""
_BREAKS: Final = (TimeoutError, ConnectionError, EOFError, InterruptedError)
_TRANSPORT: Final = frozenset(
    word_list("""
        aiohttp anyio asyncio grpc http httpcore httpx requests socket ssl urllib urllib3
        websockets""")
)
"""Libraries whose errors say that an answer did not come, unless they carry one."""
_REFUSING_ERRORS: Final = (PermissionError, FileNotFoundError, FileExistsError)
"""What of an operating system's errors refuses; the others announce that something broke."""
_FAULTS: Final = (
    *(ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, MemoryError),
    *(NameError, RuntimeError, SyntaxError, TypeError, ValueError),
)
"""Built-in classes that the language raises where code is wrong."""
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


@dataclass(frozen=True, slots=True)
class _Raised:
    """An exception, all that led to it, and whose code counts as the tool's own."""

    error: BaseException
    chain: tuple[BaseException, ...]
    home: str
    _heard: dict[int, Facts] = field(default_factory=dict)

    def told(self, error: BaseException) -> Facts:
        """What one of them says of itself, read once: a foreign one is waited for."""
        if id(error) not in self._heard:
            self._heard[id(error)] = heard(error)
        return self._heard[id(error)]


def ending_of(error: BaseException, home: str = "") -> Ending:
    """What an execution that ended in this exception did. Never raises.

    Args:
        error: As it left the tool, with its traceback.
        home: The top-level package of the tool's function, whose code is the tool's own even where
            it is installed as a library.
    """
    if isinstance(error, ToolReportedError) and (cause := causes(error)[0]) is not None:
        error = cause  # a host made an answer of what the tool raised
    try:
        raised = _Raised(error, tuple(_all(error)), home)
        where = _where(error, home)
        for why, outcome, holds in EVIDENCE:
            if holds(raised):
                # What a library found wrong may be an answer to what was done.
                is_own = holds is not _raised_by_library
                is_firm = outcome is not Outcome.REFUSED or (is_own and _is_firm(raised))
                return Ending(outcome, why, where=where, is_firm=is_firm)
        return Ending(Outcome.LOST, "it broke off", _is_fault(error), where)
    except Exception:  # a property of a hostile object may raise anything
        return Ending(Outcome.LOST, "its error cannot be read")


def _promises(raised: _Raised) -> bool:
    return isinstance(raised.error, NotDone)


def _before_the_body(raised: _Raised) -> bool:
    """Whether the host's parser refused, and no error passed through the code of a tool.

    A host may make an error of its own of what its parser raised. So may a tool, of what the parser
    of another one that it calls raised: then its own error came through its code.
    """
    reached = [*map(_reached, (raised.error, causes(raised.error)[0]))]
    return "parser" in reached and "body" not in reached


def _reached(error: BaseException | None) -> str | None:
    """What of a tool comes first in a traceback: its host's parser or its body, if either."""
    in_tool = False
    for tb in _frames(error):
        module = _module(tb)
        function = tb.tb_frame.f_code.co_name
        if (module, function) in _PARSERS:
            return "parser"
        in_tool = in_tool or module in _ENTRANCES
        if in_tool and (function in _BODIES or not _WAY.match(module)):
            return "body"
    return None


def _refused_by_server(raised: _Raised) -> bool:
    """Whether the library's own error says so; others take over what an answer's body holds."""
    error = raised.error
    ours = isinstance(error, SelfCorrectError) and error.__dict__.get("trusted") is True
    return ours and raised.told(error).code in _PROTOCOL_REFUSALS


def _broke_off(raised: _Raised) -> bool:
    return any(_is_break(raised.told(error)) for error in raised.chain)


def _is_break(told: Facts) -> bool:
    error, status = told.error, _status(told)
    if status is not None:
        return _breaks(status)
    if _is_break_told(told):
        return True
    if (kind := _kind_of_codes(told)) in _REFUSING_KINDS:
        return False
    if (
        kind in _BREAKING_KINDS
        or isinstance(error, _BREAKS)
        or type(error).__name__ == "CancelledError"
    ):
        return True
    if isinstance(error, OSError) and not isinstance(error, _REFUSING_ERRORS):
        return True
    return any(name.partition(".")[0] in _TRANSPORT for name in type_names(error)[:1])


def _reported(raised: _Raised) -> bool:
    names = type_names(raised.error)
    return isinstance(raised.error, ToolReportedError) or _TOOL_EXCEPTION in names


def _answered_no(raised: _Raised) -> bool:
    told = raised.told(raised.error)
    return _status(told) is not None or _kind_of_codes(told) in _REFUSING_KINDS


def _raised_on_purpose(raised: _Raised) -> bool:
    """Whether a `raise` of the tool's own code made it; what an `assert` finds is a fault."""
    error = raised.error
    if isinstance(error, BaseExceptionGroup):
        members = error.exceptions
        return all(_raised_on_purpose(_Raised(each, (), raised.home)) for each in members)
    last = _raising(error)
    return last is not None and _is_own(last, raised.home)


def _raised_by_library(raised: _Raised) -> bool:
    """Whether a library that the tool calls raised a class that refuses, and none of its own."""
    error, last = raised.error, _raising(raised.error)
    refuses = isinstance(error, ValueError | LookupError) and type(error).__module__ == "builtins"
    return refuses and last is not None and _is_installed(last)


EVIDENCE: Final[tuple[tuple[str, Outcome, Callable[[_Raised], bool]], ...]] = (
    ("the tool says that it did nothing", Outcome.NOT_DONE, _promises),
    ("its arguments were refused before its own code", Outcome.NOT_DONE, _before_the_body),
    ("a trusted server refused the request itself", Outcome.NOT_DONE, _refused_by_server),
    ("no answer came, or it broke off", Outcome.LOST, _broke_off),
    ("the tool answered with an error", Outcome.REFUSED, _reported),
    ("it answered with a status or code that refuses", Outcome.REFUSED, _answered_no),
    ("its own code raised it in order to refuse", Outcome.REFUSED, _raised_on_purpose),
    ("a library raised it in order to refuse", Outcome.REFUSED, _raised_by_library),
)


def _is_fault(error: BaseException) -> bool:
    """Whether an operation, and no `raise`, made it where the tool's code is wrong."""
    module = type(error).__module__.partition(".")[0]
    known = module == "builtins" or module in sys.stdlib_module_names
    return known and isinstance(error, _FAULTS) and _raising(error) is None


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


def _is_firm(raised: _Raised) -> bool:
    """Whether nothing at all speaks of a fault that passes: no class, status, code or word."""
    for told in map(raised.told, raised.chain):
        names = (name.rpartition(".")[2] for name in told.types)
        spoken = " ".join((*names, str(told.code or ""), told.text, told.body or ""))
        if _status(told) in _UNCLEAR or speaks_of(spoken, PASSING):
            return False
    return True


def _status(told: Facts) -> int | None:
    status = told.status
    return status if isinstance(status, int) and 400 <= status < 600 else None


def _is_break_told(told: Facts) -> bool:
    """Whether a body that an exception carries says so; what else a body says proves nothing."""
    bodies = (told.body, *_ARGS.__get__(told.error)[:3])
    return any(_breaks(status) for body in bodies for status in _statuses(body))


def _breaks(status: int) -> bool:
    return status >= 500 or status in _LEFT_OPEN


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


def _raising(error: BaseException) -> TracebackType | None:
    """The frame whose `raise` made it; None where an operation or an `assert` did."""
    last = next(iter(deque(_frames(error), maxlen=1)), None)
    if last is None or isinstance(error, AssertionError):
        return None
    code = last.tb_frame.f_code.co_code
    is_raise = 0 <= last.tb_lasti < len(code) and dis.opname[code[last.tb_lasti]] == "RAISE_VARARGS"
    return last if is_raise else None


def _is_own(tb: TracebackType, home: str) -> bool:
    """Whether a frame runs the tool's own code: of its package, or of no installed library."""
    name = _module(tb)
    if (home and name.partition(".")[0] == home) or name.startswith(_STAND_INS):
        return True
    return not _is_host(name) and not _is_installed(tb)


def _is_installed(tb: TracebackType) -> bool:
    """Whether a frame runs the code of an installed library, and of no host."""
    parts = PurePath(tb.tb_frame.f_code.co_filename).parts
    return not _is_host(_module(tb)) and not _INSTALLED.isdisjoint(parts)


def _is_host(name: str) -> bool:
    top = name.partition(".")[0]
    return top in _HOSTS or top in sys.stdlib_module_names - {"__main__"}


def _module(tb: TracebackType) -> str:
    return str(tb.tb_frame.f_globals.get("__name__", ""))


def _where(error: BaseException, home: str) -> str | None:
    """File and line of the last frame of the tool's own code."""
    found = None
    for tb in _frames(error):
        if _is_own(tb, home):
            found = f"{tb.tb_frame.f_code.co_filename}:{tb.tb_lineno}"
    return found
