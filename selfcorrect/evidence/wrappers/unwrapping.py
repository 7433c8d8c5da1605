"""Unwrap a message: "Error executing tool x: …", "ValueError('…')", tracebacks, "caused by".

Each layer that is taken off may name an exception class, a status or a code; what is left is the
sentence of the innermost emitter.
"""

from __future__ import annotations

import errno
import re
from dataclasses import dataclass, replace
from typing import Final

from selfcorrect.evidence.wrappers.layers import BARE_TYPE, BEFORE, NAME, TYPE, TYPED

DEPTH: Final = 8
_TOOL: Final = re.compile(
    r"(?:an? )?(?:error|exception|failure|failed)(?: occurred)?(?: while| when| in| from| to| "
    r"during)?"
    rf" (?:execut|call|invok|runn?|evaluat|us|process)\w{{0,4}} (?:the )?"
    rf"(?:(?:mcp )?(?:tool|function|action|command|plugin|method|skill)(?: call)?\b ?)?(?:{NAME})?"
    r"(?: on server [\w.-]{1,60})?(?: with (?:kwargs|args|arguments|input|parameters)\b)?",
    re.IGNORECASE,
)
_RAISED: Final = re.compile(rf"\b(?:[Cc]aused by|raised|due to)[ :]{{1,2}}({TYPE})\b")
_HEADER: Final = "Traceback (most recent call last)"
_BETWEEN: Final = ("During handling of the above", "The above exception was the direct")
_ERRNO: Final = re.compile(r"\[Errno (-?\d{1,4})\] (?=\S)|\A(?:\w+: )?(E[A-Z]{3,14}): (?=\S)")
_RESOLVER: Final = {-2: "EAI_NONAME", -3: "EAI_AGAIN", -5: "EAI_NODATA", -8: "EAI_SERVICE"}


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """The innermost sentence, and what the layers around it named, outermost first."""

    text: str
    types: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    status: int | str | None = None


def unwrap(text: str) -> Unwrapped:
    r"""Take off what tools, hosts and languages put around an error. Bounded, never raises.

    >>> unwrap("Error executing tool add: ValueError('no such unit')")
    Unwrapped(text='no such unit', types=('ValueError',), codes=(), status=None)
    >>> unwrap("(1146, \"Table 'shop.ordrs' doesn't exist\")").codes
    ('1146',)
    """
    text = text.strip()
    done = Unwrapped(text)
    for _ in range(DEPTH):
        before = done.text
        done = _peeled(done)
        if done.text == before or not done.text:
            done = replace(done, text=done.text or before)
            break
    if (match := BARE_TYPE.match(done.text)) and _dotted(match[1]) not in done.types:
        done = replace(done, types=(*done.types, _dotted(match[1])))
    raised = [_dotted(match[1]) for match in list(_RAISED.finditer(done.text[:4000]))[:3]]
    return replace(done, types=(*done.types, *raised))


def _peeled(done: Unwrapped) -> Unwrapped:
    """One round: each layer once."""
    if _HEADER in done.text:
        text, found = _traceback(done.text)
        done = replace(done, text=text, types=(*done.types, *found))
    done = _without_errno(done)
    if match := _TOOL.match(done.text):
        done = replace(done, text=_after_tool(done.text, match.end()))
    for layer in BEFORE:
        if match := layer.match(done.text):
            done = _off(done, match)
    return replace(done, text=done.text.strip())


def _off(done: Unwrapped, match: re.Match[str]) -> Unwrapped:
    """One layer less: the text that is left, and what the layer named."""
    named = {name: said for name, said in match.groupdict().items() if said}
    is_quoted = "quoted" in match.re.groupindex
    inner = _literal(done.text, match.end()) if is_quoted else done.text[match.end() :]
    if inner is None or not inner.strip():
        return done
    kind = named.get("type")
    state = named.get("state", "")
    is_state = len(state) == 5 and any(map(str.isdigit, state))
    codes = (named.get("code"), named.get("code2"), None if is_state else state)
    return Unwrapped(
        inner,
        types=(*done.types, _dotted(kind)) if kind else done.types,
        codes=(*done.codes, *filter(None, codes)),
        status=state if is_state else named.get("status", done.status),
    )


def _without_errno(done: Unwrapped) -> Unwrapped:
    match = _ERRNO.search(done.text[:200])
    code = _errno(match) if match else None
    if match is None or code is None or code in done.codes:
        return done
    text = done.text[match.end() :] if match.start() == 0 else done.text
    return replace(done, text=text, codes=(*done.codes, code))


def _errno(match: re.Match[str]) -> str | None:
    if match[2]:
        return match[2]
    number = int(match[1])
    return _RESOLVER.get(number) if number < 0 else errno.errorcode.get(number)


def _traceback(text: str) -> tuple[str, list[str]]:
    found: list[tuple[str, str]] = []
    message: list[str] = []
    inside = False
    for line in [*text.split("\n"), _HEADER]:
        if _HEADER in line or line.startswith(_BETWEEN):
            if message and (
                match := TYPED.match("\n".join(message)) or BARE_TYPE.match(message[0])
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


_LITERAL: Final = re.compile(
    r"[( ]{0,10}(?:\d{1,6}, *)?(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\")", re.DOTALL
)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": ""}


def _literal(text: str, start: int) -> str | None:
    """The string literal at `start`, behind no more than a number, if it closes."""
    match = _LITERAL.match(text, start)
    if match is None:
        return None
    return _ESCAPE.sub(lambda each: _ESCAPED.get(each[1], each[1]), match[match.lastindex or 1])


def _dotted(name: str) -> str:
    return name.replace("::", ".")
