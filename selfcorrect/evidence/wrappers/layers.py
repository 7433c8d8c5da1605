"""Layers around a message, as patterns: what tools, drivers, protocols and languages print.

What a pattern matches goes; its groups are what the layer names: `type` a class, `code` a code,
`status` a status, `state` an SQLSTATE (or, where it is none, a code). `rest` is a part that stays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

NAME: Final = r"['\"`‘“]?[\w./-]{1,100}['\"`’”]?"
TYPE: Final = (
    r"(?:[A-Za-z_][\w]{0,80}[.:]{1,2}){0,8}[A-Z]\w{0,80}?"
    r"(?:Error|Exception|Fault|Failure|Timeout|Expired|Exit|Interrupt|NotFound|Warning|Errors"
    r"|Denied|Violation|Exists|DoesNotExist|Invalid\w{0,40}|Panic|Conflict|Unavailable)"
)
_SYMBOL: Final = r"[A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,8}"


@dataclass(frozen=True, slots=True)
class Layer:
    """One form of wrapping."""

    pattern: re.Pattern[str]
    quoted: bool = False
    """Whether what is wrapped is the string literal behind the match."""


def _form(*pattern: str, quoted: bool = False, flags: int = 0) -> Layer:
    return Layer(re.compile("".join(pattern), flags), quoted)


TYPED: Final = re.compile(
    rf"(?P<type>{TYPE})(?: \((?P<code>\w{{1,60}})\)| \[(?P<code2>\w{{1,60}})\])?: ?(?=\S)"
)
BARE_TYPE: Final = re.compile(rf"(?P<type>{TYPE})\s*\Z")

BEFORE: Final = (
    # MCP and JSON-RPC, AWS, gRPC
    _form(r"(?:MCP|JSON-?RPC) error:? ?\(?(?P<code>-?\d{1,6})\)?: ?", flags=re.IGNORECASE),
    _form(
        r"An error occurred \((?P<code>[\w.]{1,120})\)\s+when calling the \w{1,120} operation"
        r"(?: \(reached max retries: \d+\))?: ?"
    ),
    _form(
        r"(?:rpc error: )?(?:code|status)\s*[=:]\s*(?:StatusCode\.)?(?P<status>[A-Za-z_]{2,40})"
        r"[,;]?\s+(?:desc|details?|message)\s*[=:]\s*[\"' ]*"
    ),
    _form(r"(?s:.{0,500}?)status = StatusCode\.(?P<status>\w{2,30})\s+details = ", quoted=True),
    # drivers of databases and brokers: a tuple, a record, braces, tags of who speaks, a code
    _form(
        r"(?:\{\s*'[^'\n]{1,200}': )?\(\s*(?:(?P<code>-?\d{1,6})|'(?P<state>[\w.-]{1,20})'),\s*b?"
        r"(?=['\"])",
        quoted=True,
    ),
    _form(
        r"[A-Za-z]\w{1,60}[({](?:(?:name|code|error_?code)=(?P<code>[A-Za-z][\w.-]{2,60}), ?"
        r"|\w{1,20}=[\w.-]{1,60}, ?){0,4}(?:message|msg|str|reason|detail)=(?=[\"'])",
        quoted=True,
    ),
    _form(
        r"\{code: (?P<code>[\w.-]{1,120})\}\s*\{message: (?P<rest>.{1,4000})\}\s*\Z",
        flags=re.DOTALL,
    ),
    _form(r"\[(?P<status>(?=\w*\d)[0-9A-Z]{5})\] (?=\S)"),
    _form(r"(?:\[[^\]\n]{1,80}\] ?){2,8}(?=\S)"),
    _form(rf"(?P<code>{_SYMBOL})(?: [-–—:] |: ?)(?=\S)"),
    _form(r"(?:\w{1,12} )?\((?P<status>(?=\w*\d)[0-9A-Z]{5})\): (?=\S)"),
    # SQLAlchemy
    _form(
        rf"\((?P<type>{TYPE})\) (?=\S)(?P<rest>(?s:.*?))"
        r"(?:\n\[(?:SQL|parameters):|\n\(Background on this error|\Z)"
    ),
    # hosts that call tools
    _form(
        r"(?:input )?validation error(?: in| for)?: |"
        rf"(?:input validation error: )?invalid (?:arguments|input|params|parameters) for (?:the )?"
        rf"(?:tool|function) {NAME}: |"
        rf"(?:tool|function) {NAME} (?:failed|returned an error|error)(?: with)?: ",
        flags=re.IGNORECASE,
    ),
    # languages
    _form(rf"(?P<type>{TYPE})\((?=['\"(\d])", quoted=True),
    Layer(TYPED),
    _form(rf"(?P<type>{TYPE}) at /\S{{0,200}}\s+"),
    _form(
        r"(?:error|fatal(?: error)?|err!?|failed|failure|exception|uncaught|unhandled|panic"
        r"|critical|severe)(?:[ :]\[?(?P<code>[A-Z][A-Z0-9_]{2,60}|E?\d{1,6})\]?)?"
        r"(?: \((?P<code2>[\w-]{1,60})\))?(?: at line \d+)?: ?(?=\S)",
        flags=re.IGNORECASE,
    ),
    _form(
        r"(?:(?:tool|backend|upstream|server|remote|downstream|provider|agent|api) (?:call )?"
        r"(?:error|failed|failure|exception|returned)|(?:call|request) (?:to \S{1,60} )?failed): "
        r"?(?=\S)",
        flags=re.IGNORECASE,
    ),
)
"""Layers before a message, in the order in which they are looked for."""

BEHIND: Final = (
    _form(rf" \((?P<code>{_SYMBOL})\)(?: \(version [^)\n]{{1,80}}\))?\s*\Z"),
    _form(rf" \((?P<type>{TYPE}|Errno::[A-Z]+)\)\s*\Z"),
)
"""Layers behind a message."""
