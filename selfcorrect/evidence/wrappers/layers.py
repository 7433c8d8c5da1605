"""Layers around a message, as patterns: what tools, drivers, protocols and languages print.

What a pattern matches goes; its groups are what the layer names: `type` a class, `code` a code,
`status` a status, `state` an SQLSTATE (or, where it is none, a code). With a
group `quoted`, what is wrapped is the string literal behind the match.
"""

from __future__ import annotations

import re
from typing import Final

NAME: Final = r"['\"`‘“]?[\w./-]{1,100}['\"`’”]?"
TYPE: Final = (
    r"(?:[A-Za-z_][\w]{0,80}[.:]{1,2}){0,8}[A-Z]\w{0,80}?"
    r"(?:Error|Exception|Fault|Failure|Timeout|Expired|Exit|Interrupt|NotFound|Warning|Errors"
    r"|Denied|Violation|Exists|DoesNotExist|Invalid\w{0,40}|Panic|Conflict|Unavailable)"
)
_SYMBOL: Final = r"[A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,8}"


def _form(*pattern: str) -> re.Pattern[str]:
    return re.compile("".join(pattern))


TYPED: Final = re.compile(
    rf"(?P<type>{TYPE})(?: \((?P<code>\w{{1,60}})\)| \[(?P<code2>\w{{1,60}})\])?: ?(?=\S)"
)
BARE_TYPE: Final = re.compile(rf"(?P<type>{TYPE})\s*\Z")

BEFORE: Final = (
    # MCP and JSON-RPC, AWS, gRPC
    _form(r"(?i)(?:MCP|JSON-?RPC) error:? ?\(?(?P<code>-?\d{1,6})\)?: ?"),
    _form(
        r"An error occurred \((?P<code>[\w.]{1,120})\)\s+when calling the \w{1,120} operation"
        r"(?: \(reached max retries: \d+\))?: ?"
    ),
    _form(
        r"(?:rpc error: )?(?:code|status)\s*[=:]\s*(?:StatusCode\.)?(?P<status>[A-Za-z_]{2,40})"
        r"[,;]?\s+(?:desc|details?|message)\s*[=:]\s*[\"' ]*"
    ),
    # drivers of databases: a tuple, a code
    _form(r"\(\s*(?:(?P<code>-?\d{1,6})|'(?P<state>[\w.-]{1,20})'),\s*b?(?=['\"])(?P<quoted>)"),
    _form(rf"(?P<code>{_SYMBOL})(?: [-–—:] |: ?)(?=\S)"),
    _form(rf"\((?P<type>{TYPE})\) (?=\S)"),
    # hosts that call tools, languages
    _form(
        rf"(?i)(?:invalid \w{{1,20}}|input validation error) for (?:tool|function) {NAME}: |"
        rf"(?:tool|function) {NAME} (?:failed|returned an error|error)(?: with)?: |"
        r"(?:tool|upstream|server|api) (?:call )?(?:error|failed|failure|returned): ?(?=\S)"
    ),
    _form(rf"(?P<type>{TYPE})\((?=['\"(\d])(?P<quoted>)"),
    TYPED,
    _form(rf"(?P<type>{TYPE}) at /\S{{0,200}}\s+"),
    _form(
        r"(?i)(?:error|fatal(?: error)?|err!?|failed|failure|exception|uncaught|unhandled|panic"
        r"|critical|severe)(?:[ :]\[?(?P<code>[A-Z][A-Z0-9_]{2,60}|E?\d{1,6})\]?)?"
        r"(?: \((?P<code2>[\w-]{1,60})\))?(?: at line \d+)?: ?(?=\S)"
    ),
)
"""Layers before a message, in the order in which they are looked for."""
