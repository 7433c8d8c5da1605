"""What an error says is wrong, read once, before a map is asked.

`read` takes an exception, a recorded error, or findings that were read before and come out of a
state.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import Final, TypeAlias

from selfcorrect.evidence import structured
from selfcorrect.evidence.clean import openings, visible, windowed
from selfcorrect.evidence.exceptions import Facts, chain, facts, type_names
from selfcorrect.evidence.faults.place import Places, from_wire
from selfcorrect.evidence.frames import constraint_in, order_in, suggestions_in, unknown_in
from selfcorrect.evidence.json_text import find_json
from selfcorrect.evidence.keywords import category_of_constraint
from selfcorrect.evidence.kinds.facts import kind_of
from selfcorrect.evidence.masking import Masked
from selfcorrect.evidence.messages import over, put_back, read_body, read_text
from selfcorrect.evidence.parts import ErrorReading, Part, part_of
from selfcorrect.evidence.replies import reply_class
from selfcorrect.evidence.statuses import status_in_text
from selfcorrect.evidence.waits.fields import wait_in_headers
from selfcorrect.evidence.waits.prose import wait_in_text
from selfcorrect.foreign import is_plain, told, unreadable
from selfcorrect.mapping.bodies import BodyRow
from selfcorrect.model import ABSENT, JSON, Call, Category, ErrorKind, Finding, JsonObject, Source
from selfcorrect.protocols import Tool

MOST: Final = 50
"""Findings of one error."""
ANSWER: Final = "AnswerNotJson"
"""The class in front of a JSON parser's own where no argument holds the text that it read."""
NOT_FOUND: Final = "ArgumentNotFound"
"""The class in front of an error's own where its text is but the value that was looked up."""
UNKNOWN: Final = "ArgumentUnknown"
"""The class in front of an error's own where an argument's name is said to be unknown."""
OUT_OF_ORDER: Final = "ArgumentsOutOfOrder"
"""The class in front of an error's own where one argument has to come before another."""
_WRAPPERS: Final = ("ToolException", "ToolError", "ToolExecutionError", "ToolInvocationError")
_LOOKUPS: Final = ("KeyError", "IndexError", "AttributeError", "LookupError")
Sentence: TypeAlias = tuple[Finding, Masked | None]
"""A finding, and its text masked; None where it has none of its own."""


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """An error of which only a record is left: its text, its class's name, its status."""

    message: str
    exception: str | None = None
    status: int | str | None = None


def read(
    error: BaseException | ErrorReport | Sequence[Finding],
    call: Call,
    tool: Tool | None = None,
    *,
    schema: JsonObject | None = None,
    now: datetime | None = None,
    bodies: Sequence[BodyRow] = (),
) -> ErrorReading:
    """Everything that an error says is wrong. Never raises.

    Args:
        error: An exception, a recorded error, or findings that were read before.
        call: The call that failed, as far as it is known.
        tool: The tool that it names.
        schema: The schema of its arguments, where there is no tool.
        now: The time from which moments are counted, by default this one.
        bodies: A deployment's own rows for error bodies.
    """
    place = Places(call.args, tool.schema if tool is not None else schema or {})
    name = call.name or None
    if isinstance(error, BaseException):
        return _of_exception(error, place, name, now, bodies)
    if isinstance(error, ErrorReport):
        types = (error.exception,) if error.exception else ()
        outer = Finding("", types=types, status=error.status)
        found = read_text(error.message, place, bodies)[:MOST]
        return ErrorReading(tuple(_complete(outer, each, place, name, now) for each in found))
    return ErrorReading(tuple(part_of(each, place, name) for each in error))


def _of_exception(
    error: BaseException,
    place: Places,
    tool: str | None,
    now: datetime | None,
    bodies: Sequence[BodyRow],
) -> ErrorReading:
    heard = partial(_heard, error)
    read = heard() if is_plain(error) else told(heard, None)
    if read is None:
        bare = Finding(unreadable(error), types=type_names(error))
        return ErrorReading((part_of(bare, place, tool),))
    layers, carried = read
    try:
        found = carried or _from_error(layers, lambda text: read_text(text, place, bodies))
        outer = _outer(layers, place.arguments, now)
        items = found[:MOST] or ((outer, None),)
        return ErrorReading(
            tuple(_complete(outer, each, place, tool, now) for each in items), layers
        )
    except Exception:  # a mistake in reading must not hide the tool's own error
        bare = Finding(layers[0].text, types=layers[0].types)
        return ErrorReading((part_of(bare, place, tool),), layers)


def _heard(error: BaseException) -> tuple[tuple[Facts, ...], tuple[Sentence, ...]]:
    """All that an exception and what it wraps say of themselves; runs code of theirs."""
    layers = tuple(facts(item) for item in chain(error))
    for layer in layers:
        found = structured.violations(layer.error)
        data = structured.carried(layer.error) if not found else None
        found = found or (read_body(data) if data else ())
        if found:
            outer = Finding(layer.text, types=layer.types)
            return layers, tuple(
                (replace(over(outer, item), witness=Source.STRUCTURE), None) for item in found
            )
    return layers, ()


def _joined(outer: Finding, inner: Finding) -> Finding:
    """A finding with what its error carries; it is structure where its text adds no fact to that.

    A class, status or code that stands in a text may be somebody else's.
    """
    joined = over(outer, inner)
    own = (joined.types, joined.status, joined.code) == (outer.types, outer.status, outer.code)
    return replace(joined, witness=Source.STRUCTURE) if own else joined


def _from_error(
    layers: Sequence[Facts], read: Callable[[str], tuple[Sentence, ...]]
) -> tuple[Sentence, ...]:
    """The findings of an exception and what it wraps; those that carry data come first."""
    for layer in layers:
        if layer.body and find_json(visible(layer.body)) is not None:
            return read(layer.body)
    outer = _until_group(layers)
    members = [layer for layer in layers[len(outer) :] if not _is_group(layer)]
    if members:
        return tuple(
            (over(Finding("", layer.types, layer.status, layer.code), item), hidden)
            for layer in members
            for item, hidden in read(layer.text)
        )
    return read(_telling(layers).text)


def _is_group(layer: Facts) -> bool:
    return isinstance(layer.error, BaseExceptionGroup)


def _until_group(layers: Sequence[Facts]) -> Sequence[Facts]:
    """The exceptions down to the first group, itself included; all where there is none."""
    at = next((n for n, layer in enumerate(layers) if _is_group(layer)), len(layers))
    return layers[: at + 1]


def _telling(layers: Sequence[Facts]) -> Facts:
    """The exception whose text says most: not a mere wrapper, if what it wraps says what it is."""
    for layer in layers:
        alone = Finding("", types=layer.types, status=layer.status, code=layer.code)
        if kind_of(alone) is not ErrorKind.INTERNAL and (layer.text or layer is layers[0]):
            return layer
    return layers[0]


def _of_answer(first: Facts, arguments: JSON) -> tuple[str, ...]:
    """The class of a parser's failure that stands in no argument: what a tool was answered."""
    written = (value for _, value in Places(arguments).leaves if isinstance(value, str))
    if first.parsed is None or not first.types[0].endswith("JSONDecodeError"):
        return ()
    mine = any(first.parsed in text for text in written) if first.parsed else "" in written
    return () if mine else (ANSWER,)


def _outer(layers: Sequence[Facts], arguments: JSON, now: datetime | None) -> Finding:
    """What an exception and those that it wraps carry, whatever their texts say."""
    waits = (wait_in_headers(layer.headers, now) for layer in layers)
    named = (name for layer in _until_group(layers) for name in layer.types)
    return Finding(
        windowed(layers[0].text),
        types=tuple(dict.fromkeys((*_of_answer(layers[0], arguments), *named))),
        status=next((layer.status for layer in layers if layer.status is not None), None),
        code=next((layer.code for layer in layers if layer.code is not None), None),
        retry_after=next((wait for wait in waits if wait is not None), None),
    )


def _complete(
    outer: Finding, said: Sentence, place: Places, tool: str | None, now: datetime | None
) -> Part:
    """One finding with all that its sentence says, and the kind that its facts speak for."""
    finding = _joined(outer, said[0])
    hidden = said[1] if said[0].text else None
    part = part_of(finding, place, tool, hidden)
    return replace(part, finding=_told(finding, part, now))


def _told(finding: Finding, part: Part, now: datetime | None) -> Finding:
    hidden, blind, place = part.hidden, part.blind, part.place
    placed = (from_wire(path, place) for path in finding.paths)
    category = category_of_constraint(finding.constraint)  # as a body has it, not as a text says
    status, wait = finding.status, finding.retry_after
    if not isinstance(status, str) and not (isinstance(status, int) and status >= 300):
        status = status_in_text(next(openings(blind))) or status
    if status == HTTPStatus.BAD_GATEWAY:  # what it passed on says more
        status = status_in_text(blind, most=499) or status
    seen = finding.witness if status == finding.status else Source.NONE
    finding = replace(
        finding,
        witness=seen,
        paths=tuple(dict.fromkeys("/args" + path for path in placed if path)),
        status=status,
        constraint=finding.constraint or put_back(constraint_in(hidden.text), hidden),
        suggestions=finding.suggestions or tuple(map(hidden.raw, suggestions_in(hidden.text))),
        retry_after=wait if wait is not None else wait_in_text(blind, now),
    )
    number = finding.code if finding.code and len(finding.code) == 3 else ""
    seen_as, paths = _framed(finding, hidden, place)
    seen_as = reply_class(f"{number} {blind}".lstrip(), finding.types) or seen_as
    if seen_as is not None:
        finding = replace(
            finding,
            types=(seen_as, *finding.types),
            witness=Source.NONE,
            paths=finding.paths or paths,
        )
    if seen_as == NOT_FOUND:
        return replace(finding, kind=ErrorKind.NOT_FOUND, category=Category.UNKNOWN_RESOURCE)
    kind = ErrorKind.VALIDATION if category is not None else kind_of(finding)
    return replace(finding, kind=kind, category=category or Category.NONE)


def _framed(finding: Finding, hidden: Masked, place: Places) -> tuple[str | None, tuple[str, ...]]:
    """The class that a sentence's form gives an error, and the arguments that it speaks of."""
    if _is_of_an_answer(finding, place):
        return ANSWER, ()
    if _is_looked_up(finding, hidden):
        return NOT_FOUND, ()
    text = hidden.text
    if (unknown := unknown_in(text)) is not None and not finding.constraint:
        name, marked = unknown
        held = [path for path in place.known(name) if place.value(path) is not ABSENT]
        echo = hidden.echo(name) if len(name) == 1 else None
        if len(held) == 1 or (echo is not None and echo.whole):
            extra = marked or not {*held} <= {*place.declared}  # a key that nobody declared
            return (UNKNOWN if extra else NOT_FOUND), tuple("/args" + path for path in held)
    if (order := order_in(text)) is not None:
        both = [place.known(name) for name in order]
        if all(len(paths) == 1 for paths in both) and both[0] != both[1]:
            return OUT_OF_ORDER, tuple("/args" + path for (path,) in both)
    return None, ()


def _is_of_an_answer(finding: Finding, place: Places) -> bool:
    """Whether a parser of JSON failed, and on nothing that the caller wrote."""
    first = finding.types[0] if finding.types else ""
    return first.endswith("JSONDecodeError") and not any(_unreadable(v) for _, v in place.leaves)


def _unreadable(value: JSON) -> bool:
    """Whether a value is a text that a parser of JSON refuses, and no place to read one from."""
    if not isinstance(value, str) or value.startswith(("http://", "https://", "/")):
        return False
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return True
    return False


def _is_looked_up(finding: Finding, hidden: Masked) -> bool:
    """Whether an error says nothing but an argument's value: `KeyError: 'zed'`."""
    bare = hidden.text.strip(" \n\t'\"`.[]")
    echo = hidden.echo(bare) if len(bare) == 1 else None
    first = finding.types[0] if finding.types else ""
    silent = not first or first.startswith(("ToolMessage", "CallToolResult"))
    told = silent or first.endswith(_WRAPPERS) or first.rpartition(".")[2] in _LOOKUPS
    return told and echo is not None and echo.whole
