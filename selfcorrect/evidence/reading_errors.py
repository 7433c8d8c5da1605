"""What a live exception or a recorded error says is wrong, before any map is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final

from selfcorrect.evidence import structured
from selfcorrect.evidence.clean import visible, windowed
from selfcorrect.evidence.completing import ANSWER, complete
from selfcorrect.evidence.exceptions import Facts, chain, facts, type_names
from selfcorrect.evidence.faults.place import Places
from selfcorrect.evidence.json_text import find_json
from selfcorrect.evidence.kinds.facts import kind_of
from selfcorrect.evidence.messages import over, read_body, read_text
from selfcorrect.evidence.waits.fields import wait_in_headers
from selfcorrect.foreign import is_plain, told, unreadable
from selfcorrect.mapping.bodies import BodyRow
from selfcorrect.model import JSON, Call, ErrorKind, Finding, JsonObject, Source
from selfcorrect.protocols import Tool

MOST: Final = 50
"""Findings of one error."""


def read_error(
    error: BaseException,
    call: Call,
    tool: Tool | None,
    now: datetime | None = None,
    bodies: Sequence[BodyRow] = (),
) -> tuple[Finding, ...]:
    """Everything that an exception says is wrong; at least one finding. Never raises."""
    schema = tool.schema if tool is not None else {}
    read = partial(_heard, error)
    heard = read() if is_plain(error) else told(read, None)
    if heard is None:
        return (Finding(unreadable(error), types=type_names(error)),)
    layers, carried = heard
    try:
        found = _from_error(
            layers, carried, lambda text: read_text(text, call.args, schema, bodies)
        )
        return _finish(found, layers, call.args, schema, now)
    except Exception:  # a mistake in reading must not hide the tool's own error
        return (Finding(layers[0].text, types=layers[0].types),)


def _heard(error: BaseException) -> tuple[tuple[Facts, ...], tuple[Finding, ...]]:
    """All that an exception and what it wraps say of themselves; runs code of theirs."""
    layers = tuple(facts(item) for item in chain(error))
    for layer in layers:
        found = structured.violations(layer.error)
        data = structured.carried(layer.error) if not found else None
        found = found or (read_body(data) if data else ())
        if found:
            outer = Finding(layer.text, types=layer.types)
            return layers, tuple(
                replace(over(outer, item), witness=Source.STRUCTURE) for item in found
            )
    return layers, ()


def read_report(
    message: str,
    *,
    exception: str | None = None,
    status: int | str | None = None,
    schema: JsonObject | None = None,
    arguments: JSON = None,
    tool: str | None = None,  # noqa: ARG001 -- recorded beside the error; maps ask for it
    now: datetime | None = None,
    bodies: Sequence[BodyRow] = (),
) -> tuple[Finding, ...]:
    """The same for a recorded error: an exception's name, a status and a text."""
    outer = Finding("", types=(exception,) if exception else (), status=status)
    found = read_text(message, arguments, schema or {}, bodies)
    return tuple(
        complete(_joined(outer, finding), arguments, schema or {}, now) for finding in found[:MOST]
    )


def _joined(outer: Finding, inner: Finding) -> Finding:
    """A finding with what its error carries; it is structure where its text adds no fact to that.

    A class, status or code that stands in a text may be somebody else's.
    """
    joined = over(outer, inner)
    own = (joined.types, joined.status, joined.code) == (outer.types, outer.status, outer.code)
    return replace(joined, witness=Source.STRUCTURE) if own else joined


def _from_error(
    layers: Sequence[Facts],
    carried: tuple[Finding, ...],
    read: Callable[[str], tuple[Finding, ...]],
) -> tuple[Finding, ...]:
    """The findings of an exception and what it wraps; those that carry data come first."""
    if carried:
        return carried
    for layer in layers:
        if layer.body and find_json(visible(layer.body)) is not None:
            return read(layer.body)
    outer = _until_group(layers)
    members = [layer for layer in layers[len(outer) :] if not _is_group(layer)]
    if members:
        return tuple(
            over(Finding("", types=layer.types, code=layer.code, status=layer.status), item)
            for layer in members
            for item in read(layer.text)
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
    first = layers[0]
    alone = Finding("", types=first.types, status=first.status, code=first.code)
    if kind_of(alone) is not ErrorKind.INTERNAL:
        return first
    for layer in layers[1:]:
        inner = Finding("", types=layer.types, status=layer.status, code=layer.code)
        if kind_of(inner) is not ErrorKind.INTERNAL and layer.text:
            return layer
    return first


def _of_answer(first: Facts, arguments: JSON) -> tuple[str, ...]:
    """The class of a parser's failure that stands in no argument: what a tool was answered."""
    written = (value for _, value in Places(arguments).leaves if isinstance(value, str))
    if first.parsed is None or not first.types[0].endswith("JSONDecodeError"):
        return ()
    mine = any(first.parsed in text for text in written) if first.parsed else "" in written
    return () if mine else (ANSWER,)


def _finish(
    found: Sequence[Finding],
    layers: Sequence[Facts],
    arguments: JSON,
    schema: JsonObject,
    now: datetime | None,
) -> tuple[Finding, ...]:
    wait = next(
        (w for layer in layers if (w := wait_in_headers(layer.headers, now)) is not None), None
    )
    named = (name for layer in _until_group(layers) for name in layer.types)
    outer = Finding(
        windowed(layers[0].text),
        types=tuple(dict.fromkeys((*_of_answer(layers[0], arguments), *named))),
        status=next((layer.status for layer in layers if layer.status is not None), None),
        code=next((layer.code for layer in layers if layer.code is not None), None),
        retry_after=wait,
    )
    items = found[:MOST] or (outer,)
    return tuple(complete(_joined(outer, item), arguments, schema, now) for item in items)
