"""Unwrap a message: "Error executing tool x: …", "ValueError('…')", tracebacks, "caused by".

Each layer that is taken off may name an exception class, a status or a code; what is left is the
sentence of the innermost emitter.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from selfcorrect.evidence.wrappers.printed import unprinted

DEPTH: Final = 8

_NAME: Final = r"['\"`‘“]?[\w./-]{1,100}['\"`’”]?"
_TYPE: Final = (
    r"(?:[A-Za-z_][\w]{0,80}[.:]{1,2}){0,8}[A-Z]\w{0,80}?"
    r"(?:Error|Exception|Fault|Failure|Timeout|Expired|Exit|Interrupt|NotFound|Warning|Errors"
    r"|Denied"
    r"|Violation|Exists|DoesNotExist|Invalid\w{0,40}|Panic|Conflict|Unavailable)"
)
_TYPED: Final = re.compile(rf"({_TYPE})(?: \((\w{{1,60}})\)| \[(\w{{1,60}})\])?: ?(?=\S)")
_BARE_TYPE: Final = re.compile(rf"({_TYPE})\s*\Z")
_REPR: Final = re.compile(rf"({_TYPE})\((?=['\"(\d])")
_TOOL: Final = re.compile(
    r"(?:an? )?(?:error|exception|failure|failed)(?: occurred)?(?: while| when| in| from| to| "
    r"during)?"
    rf" (?:execut|call|invok|runn?|evaluat|us|process)\w{{0,4}} (?:the )?"
    rf"(?:(?:mcp )?(?:tool|function|action|command|plugin|method|skill)(?: call)?\b ?)?(?:{_NAME})?"
    r"(?: on server [\w.-]{1,60})?(?: with (?:kwargs|args|arguments|input|parameters)\b)?",
    re.IGNORECASE,
)
_RPC: Final = re.compile(r"(?:MCP|JSON-?RPC) error:? ?\(?(-?\d{1,6})\)?: ?", re.IGNORECASE)
_VALIDATION: Final = re.compile(
    r"(?:input )?validation error(?: in| for)?: |"
    rf"(?:input validation error: )?invalid (?:arguments|input|params|parameters) for (?:the )?"
    rf"(?:tool|function) {_NAME}: |"
    rf"(?:tool|function) {_NAME} (?:failed|returned an error|error)(?: with)?: ",
    re.IGNORECASE,
)
_AWS: Final = re.compile(
    r"An error occurred \(([\w.]{1,120})\)\s+when calling the (\w{1,120}) operation"
    r"(?: \(reached max retries: \d+\))?: ?"
)
_PLAIN: Final = re.compile(
    r"(?:error|fatal(?: error)?|err!?|failed|failure|exception|uncaught|unhandled|panic"
    r"|critical|severe)"
    r"(?:[ :]\[?([A-Z][A-Z0-9_]{2,60}|E?\d{1,6})\]?)?(?: \(([\w-]{1,60})\))?(?: at line \d+)?: "
    r"?(?=\S)",
    re.IGNORECASE,
)
_PASSED_ON: Final = re.compile(
    r"(?:(?:tool|backend|upstream|server|remote|downstream|provider|agent|api) (?:call )?"
    r"(?:error|failed|failure|exception|returned)|(?:call|request) (?:to \S{1,60} )?failed): "
    r"?(?=\S)",
    re.IGNORECASE,
)
_GRPC: Final = re.compile(
    r"(?:rpc error: )?(?:code|status)\s*[=:]\s*(?:StatusCode\.)?([A-Za-z_]{2,40})[,;]?\s+"
    r"(?:desc|details?|message)\s*[=:]\s*",
)
_TRAILING: Final = re.compile(rf" \(({_TYPE}|Errno::[A-Z]+)\)\s*\Z")
_LATER_TYPED: Final = re.compile(
    r"\n(?:Uncaught )?((?:Type|Reference|Range|Syntax|URI|Eval|Aggregate|Internal)?Error(?: "
    r"\[\w{1,60}\])?: \S)"
)
_RAISED: Final = re.compile(rf"\b(?:[Cc]aused by|raised|due to)[ :]{{1,2}}({_TYPE})\b")
_AT_URL: Final = re.compile(rf"({_TYPE}) at /\S{{0,200}}\s+")
_HEADER: Final = "Traceback (most recent call last)"
_BETWEEN: Final = ("During handling of the above", "The above exception was the direct")
_RPC_ERROR: Final = re.compile(r"status = StatusCode\.(\w{2,30})\s+details = ")
_SQLALCHEMY: Final = re.compile(rf"\(({_TYPE})\) (?=\S)")
_SQL_TAIL: Final = re.compile(r"\n\[(?:SQL|parameters):|\n\(Background on this error")
_ERRNO: Final = re.compile(r"\[Errno (-?\d{1,4})\] (?=\S)|\A(?:\w+: )?(E[A-Z]{3,14}): (?=\S)")
_ARROW: Final = re.compile(r"\bCaused by: (?=\S)|\bcaused by: (?=\S)")
_QUOTES: Final = "'\""


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """The innermost sentence, and what the layers around it named, outermost first."""

    text: str
    types: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    status: int | str | None = None


def unwrap(text: str) -> Unwrapped:
    """Take off what tools, hosts and languages put around an error. Bounded, never raises.

    >>> unwrap("Error executing tool add: ValueError('no such unit')")
    Unwrapped(text='no such unit', types=('ValueError',), codes=(), status=None)
    """
    text = text.strip()
    if (match := _LATER_TYPED.search(text[:2000])) is not None:
        text = text[match.start(1) :]
    done = Unwrapped(text)
    for _ in range(DEPTH):
        before = done.text
        for peel in _PEELERS:
            done = peel(done)
        text = done.text.strip()
        if text == before or not text:
            done = replace(done, text=text or before)
            break
        done = replace(done, text=text)
    raised = [_dotted(match[1]) for match in list(_RAISED.finditer(done.text[:4000]))[:3]]
    return replace(done, types=(*done.types, *raised))


def _off(
    done: Unwrapped, text: str, *, kind: str | None = None, codes: Iterable[str | None] = ()
) -> Unwrapped:
    """One layer less: the text that is left, and what the layer named."""
    types = (*done.types, _dotted(kind)) if kind else done.types
    return replace(done, text=text, types=types, codes=(*done.codes, *filter(None, codes)))


def _peel_traceback(done: Unwrapped) -> Unwrapped:
    if _HEADER not in done.text and _HEADER.replace(" (", " \u2500(") not in done.text:
        return done
    text, found = _traceback(done.text)
    return replace(done, text=text, types=(*done.types, *found))


def _peel_protocol(done: Unwrapped) -> Unwrapped:
    """The prefixes of MCP, AWS and gRPC, which name a code or a status."""
    for pattern in (_RPC, _AWS):
        if match := pattern.match(done.text):
            done = _off(done, done.text[match.end() :], codes=[match[1]])
    if match := _GRPC.match(done.text):
        done = replace(done, text=done.text[match.end() :].strip("\"' "), status=match[1])
    if match := _RPC_ERROR.search(done.text[:500]):
        text = _literal(done.text, match.end()) or done.text
        done = replace(done, text=text, status=match[1])
    return done


def _peel_print(done: Unwrapped) -> Unwrapped:
    """What database drivers and brokers print around a message."""
    layer = unprinted(done.text)
    if layer is None:
        return done
    status = layer.status if layer.status is not None else done.status
    return replace(_off(done, layer.text, codes=[layer.code]), status=status)


def _peel_library(done: Unwrapped) -> Unwrapped:
    """What SQLAlchemy and the operating system put around a message."""
    if match := _SQLALCHEMY.match(done.text):
        inner = _SQL_TAIL.split(done.text[match.end() :], maxsplit=1)[0]
        done = _off(done, inner, kind=match[1])
    if (match := _ERRNO.search(done.text[:200])) and (code := _errno(match)):
        text = done.text[match.end() :] if match.start() == 0 else done.text
        done = done if code in done.codes else _off(done, text, codes=[code])
    return done


def _peel_tool(done: Unwrapped) -> Unwrapped:
    if match := _TOOL.match(done.text):
        done = replace(done, text=_after_tool(done.text, match.end()))
    if match := _VALIDATION.match(done.text):
        done = replace(done, text=done.text[match.end() :])
    return done


def _peel_class(done: Unwrapped) -> Unwrapped:
    """The name of an exception's class: `ValueError('…')`, `ValueError: …`, `… (ValueError)`."""
    match = _REPR.match(done.text)
    if match and (inner := _literal(done.text, match.end())) is not None:
        done = _off(done, inner, kind=match[1])
    if match := _TYPED.match(done.text):
        return _off(done, done.text[match.end() :], kind=match[1], codes=match.groups()[1:])
    if match := _TRAILING.search(done.text[-200:]):
        return _off(done, done.text[: len(done.text) - len(match[0])], kind=match[1])
    if match := _AT_URL.match(done.text):
        return _off(done, done.text[match.end() :], kind=match[1])
    if (match := _BARE_TYPE.match(done.text)) and _dotted(match[1]) not in done.types:
        return _off(done, done.text, kind=match[1])
    return done


def _peel_plain(done: Unwrapped) -> Unwrapped:
    if match := _PLAIN.match(done.text):
        return _off(done, done.text[match.end() :], codes=match.groups())
    if match := _PASSED_ON.match(done.text):
        return replace(done, text=done.text[match.end() :])
    return done


_PEELERS: Final = (
    _peel_traceback,
    _peel_protocol,
    _peel_print,
    _peel_library,
    _peel_tool,
    _peel_class,
    _peel_plain,
)


def _traceback(text: str) -> tuple[str, list[str]]:
    found: list[tuple[str, str]] = []
    message: list[str] = []
    inside = False
    for line in [*text.split("\n"), _HEADER]:
        if _HEADER in line or line.startswith(_BETWEEN):
            if message and (
                match := _TYPED.match("\n".join(message)) or _BARE_TYPE.match(message[0])
            ):
                body = "\n".join(message)[match.end() :]
                found.append((_dotted(match[1]), body.strip()))
            message, inside = [], True
            if line.startswith(_BETWEEN[0]):
                found.clear()  # what came before was being handled; it is no cause
        elif inside and (line[:1].isspace() or not line.strip()) and not message:
            continue
        elif inside:
            message.append(line)
    if not found:
        return text.replace(_HEADER, "", 4).strip(": \n"), []
    kind, body = found[-1]
    return (body or kind), [kind] + [name for name, _ in reversed(found[:-1])]


def _after_tool(text: str, end: int) -> str:
    rest = text[end:].lstrip()
    if rest[:1] in "{[(" and rest:
        closing = rest.find(" with error", 1)
        if closing < 0 or closing > 8000:
            return text
        rest = rest[closing + len(" with error") :]
    head = rest.lstrip()
    if not head.startswith(":"):
        return text
    return head[1:].lstrip() or text


def _literal(text: str, start: int) -> str | None:
    """The first string literal at `start`, with its escapes undone, if it closes."""
    while (text[start : start + 1] and text[start] in "( ") or text[
        start : start + 2
    ].strip().isdigit():
        start += 1
        if start >= len(text) or start > 200:
            return None
    if text[start : start + 1] == ",":
        start += 1
        while text[start : start + 1] == " ":
            start += 1
    quote = text[start : start + 1]
    if not quote or quote not in _QUOTES:
        return None
    out: list[str] = []
    index = start + 1
    while index < len(text):
        char = text[index]
        if char == "\\" and index + 1 < len(text):
            follow = text[index + 1]
            out.append({"n": "\n", "t": "\t", "r": ""}.get(follow, follow))
            index += 2
            continue
        if char == quote:
            return "".join(out)
        out.append(char)
        index += 1
    return None


def _errno(match: re.Match[str]) -> str | None:
    if match[2]:
        return match[2]
    number = int(match[1])
    return _RESOLVER.get(number) if number < 0 else errno.errorcode.get(number)


_RESOLVER: Final = {-2: "EAI_NONAME", -3: "EAI_AGAIN", -5: "EAI_NODATA", -8: "EAI_SERVICE"}


def _dotted(name: str) -> str:
    return name.replace("::", ".")
