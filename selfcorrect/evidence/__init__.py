"""Evidence: what an error says, before and after the rules of a map are asked.

`read_error` reads a live exception and `read_report` a recorded one; each gives findings with their
facts. A map then decides kind and category, and `settled` says which parameters are at fault.
`classify` answers with the kind alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final

from selfcorrect.evidence import structured
from selfcorrect.evidence.clean import visible, windowed
from selfcorrect.evidence.constraints import constraint_in
from selfcorrect.evidence.counts import category_of_counts
from selfcorrect.evidence.culprits import CLASSES, culprits
from selfcorrect.evidence.exceptions import Facts, chain, facts, type_names
from selfcorrect.evidence.faults import Place, category_at, from_wire, settle
from selfcorrect.evidence.json_text import find_json
from selfcorrect.evidence.kinds import category_of, kind_of, spoken_name
from selfcorrect.evidence.masking import Masked, mask
from selfcorrect.evidence.messages import over, put_back, read_body, read_text
from selfcorrect.evidence.replies import reply_class
from selfcorrect.evidence.statuses import status_in_text
from selfcorrect.evidence.suggestions import suggestions_in
from selfcorrect.evidence.waits import wait_in_headers, wait_in_text
from selfcorrect.foreign import is_plain, told, unreadable
from selfcorrect.mapping.files import MapSource
from selfcorrect.mapping.loading import load_map
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import ABSENT, JSON, Call, Category, ErrorKind, Finding, JsonObject
from selfcorrect.pointer import split
from selfcorrect.protocols import Tool

__all__ = ["classify", "diagnosed", "masked", "read_error", "read_report", "settled"]

MOST: Final = 50
"""Findings of one error."""

CATEGORIES: Final = {
    "required": Category.MISSING_PARAM,
    "additionalProperties": Category.EXTRA_PARAM,
    "enum": Category.ENUM,
    "minimum": Category.RANGE,
    "maximum": Category.RANGE,
    "exclusiveMinimum": Category.RANGE,
    "exclusiveMaximum": Category.RANGE,
    "multipleOf": Category.RANGE,
    "minLength": Category.LENGTH,
    "maxLength": Category.LENGTH,
    "minItems": Category.LENGTH,
    "maxItems": Category.LENGTH,
    "minProperties": Category.LENGTH,
    "maxProperties": Category.LENGTH,
    "uniqueItems": Category.LENGTH,
    "pattern": Category.FORMAT_PATTERN,
    "type": Category.WRONG_TYPE,
}
"""What a constraint that a reader found in a structure is about."""

_SYMBOL: Final = re.compile(r"\b[A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,8}\b")
"""A code within a text: `NT_STATUS_ACCESS_DENIED`."""
_DATE_FORMATS: Final = ("date", "date-time", "time", "duration")


def classify(
    error: BaseException | Finding, strategies: MapSource | StrategyMap | None = None
) -> ErrorKind:
    """The kind of an error, as the loop decides it: whether repeating or changing can help.

    Only the loop sees where an exception came from: what it takes for a fault of the tool's own
    code is internal there, whatever its text says.

    Args:
        error: An exception, or a finding of your own.
        strategies: The error-strategy map: an object, a name or a path; by default the same one
            that a graph takes.

    Raises:
        MapError: If the map is unusable.

    >>> classify(ConnectionResetError("peer went away"))
    <ErrorKind.TRANSIENT: 'transient'>
    >>> classify(Finding("too many requests", status=429))
    <ErrorKind.RATE_LIMIT: 'rate_limit'>
    """
    decide = load_map(strategies).decide
    if isinstance(error, Finding):
        return decide(replace(error, kind=kind_of(error))).kind
    return diagnosed(read_error(error, Call(""), None)[0], decide, {}).kind


def read_error(
    error: BaseException, call: Call, tool: Tool | None, now: datetime | None = None
) -> tuple[Finding, ...]:
    """Everything that an exception says is wrong; at least one finding. Never raises."""
    schema = tool.schema if tool is not None else {}
    read = partial(_heard, error)
    heard = read() if is_plain(error) else told(read, None)
    if heard is None:
        return (Finding(unreadable(error), types=type_names(error)),)
    layers, carried = heard
    try:
        found = _from_error(layers, carried, call.args, schema)
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
            return layers, tuple(
                over(Finding(layer.text, types=layer.types), item) for item in found
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
) -> tuple[Finding, ...]:
    """The same for a recorded error: an exception's name, a status and a text."""
    outer = Finding("", types=(exception,) if exception else (), status=status)
    found = read_text(message, arguments, schema or {})
    return tuple(
        _complete(over(outer, finding), arguments, schema or {}, now) for finding in found[:MOST]
    )


def diagnosed(
    finding: Finding,
    decide: Callable[[Finding], Finding],
    arguments: JSON,
    schema: JsonObject | None = None,
) -> Finding:
    """The finding as a map decides it, with the parameters at fault settled.

    The map sees the text with its echoes masked: what a message repeats of the arguments never
    becomes a kind, a wait, a name or a rule. Captured text is put back afterwards. Never raises.

    Args:
        finding: What `read_error` or `read_report` found.
        decide: Asks the map: `lambda finding: strategies.decide(finding, tool)`.
        arguments: The arguments of the call.
        schema: Their schema, if known.
    """
    try:
        blind = masked(finding, arguments)
    except Exception:  # what cannot be masked is not shown to the map at all
        return replace(decide(replace(finding, text="")), text=finding.text)
    decided = _by_name(finding, decide(replace(finding, text=blind)), decide)
    captures = {
        key: _unmasked(value, blind, finding.text) for key, value in decided.captures.items()
    }
    if captures != decided.captures:  # what the map made of a masked capture means nothing
        decided = replace(
            decided,
            constraint=finding.constraint,
            suggestions=finding.suggestions,
            retry_after=finding.retry_after,
        )
    named = captures.get("param")
    if named is not None and named != decided.captures["param"]:
        decided = replace(decided, paths=finding.paths)
        captures.pop("param")
    shown = replace(decided, text=finding.text, captures=captures)
    try:
        return settled(shown, arguments, schema)
    except Exception:
        return shown


def _by_name(finding: Finding, decided: Finding, decide: Callable[[Finding], Finding]) -> Finding:
    """What the words of the error's code or class say, where its text said nothing in particular.

    `EMAIL_EXISTS`, `WorkflowAlreadyStartedError`: names that the emitter chose are text of its own.
    """
    told = decided.kind not in (ErrorKind.VALIDATION, ErrorKind.INTERNAL)
    if told or decided.category is not Category.NONE:
        return decided
    symbols = [match[0] for match in list(_SYMBOL.finditer(decided.text[:2000]))[:2]]
    for name in (finding.code, *symbols, *(name for name in finding.types[:1] if "." in name)):
        spoken = spoken_name(name) if name else ""
        if not spoken:
            continue
        found = decide(Finding(spoken))
        if found.kind is ErrorKind.INTERNAL or found.rule is None:
            continue
        if found.kind is not ErrorKind.VALIDATION or found.category is not Category.NONE:
            return replace(
                decided,
                kind=found.kind,
                category=found.category,
                rule=found.rule,
                ladder=found.ladder,
            )
    return decided


def masked(finding: Finding, arguments: JSON) -> str:
    """The finding's text as rules should match it: what it echoes of the arguments says nothing."""
    hidden = mask(finding.text, arguments, visible)
    return hidden.masked(hidden.text)


def _unmasked(value: str, blind: str, text: str) -> str:
    """What stands in the text where a masked piece of it stands."""
    start = blind.find(value)
    return text[start : start + len(value)] if start >= 0 and len(blind) == len(text) else value


def settled(finding: Finding, arguments: JSON, schema: JsonObject | None = None) -> Finding:
    """The finding with the parameters at fault, now that its kind and category are decided."""
    hidden = mask(finding.text, arguments, visible)
    echoes = {
        char: (echo.paths, echo.whole)
        for char in hidden.text
        if ord(char) >= 0xF0000 and (echo := hidden.echo(char)) is not None
    }
    place = Place(arguments, schema or {})
    finding = replace(finding, paths=settle(finding, hidden.text, echoes, place))
    return replace(finding, category=category_at(finding, place))


# --- assembling -----------------------------------------------------------------------------------


def _complete(
    finding: Finding, arguments: JSON, schema: JsonObject, now: datetime | None
) -> Finding:
    """The finding with all that its sentence says, and the kind that its facts speak for."""
    hidden = mask(finding.text, arguments, visible)
    blind = hidden.masked(hidden.text)
    stated = category_of_constraint(finding.constraint)
    category = stated or category_of_counts(blind) or category_of(finding)
    place = Place(arguments, schema)
    placed = (from_wire(path, place) for path in finding.paths)
    status, wait = finding.status, finding.retry_after
    if not isinstance(status, str) and not (isinstance(status, int) and status >= 300):
        status = status_in_text(blind) or status
    finding = replace(
        finding,
        paths=tuple(dict.fromkeys("/args" + path for path in placed if path)),
        status=status,
        constraint=finding.constraint or put_back(constraint_in(hidden.text), hidden),
        suggestions=finding.suggestions or tuple(map(hidden.raw, suggestions_in(hidden.text))),
        retry_after=wait if wait is not None else wait_in_text(blind, now),
        category=category,
    )
    number = finding.code if finding.code and len(finding.code) == 3 else ""
    reply = reply_class(f"{number} {blind}".lstrip(), finding.types)
    if reply is not None:
        finding = replace(finding, types=(reply, *finding.types))
    found = _culprits(finding, hidden, place)
    if found:
        kind, known = CLASSES[found[0]]
        return replace(finding, types=(*found, *finding.types), kind=kind, category=known)
    kind = ErrorKind.VALIDATION if stated else kind_of(finding)
    counted = category in (Category.MISSING_PARAM, Category.EXTRA_PARAM)
    if counted and kind is ErrorKind.INTERNAL:
        kind = ErrorKind.VALIDATION
    if kind is ErrorKind.INTERNAL:
        category = Category.NONE
    return replace(finding, kind=kind, category=category)


def _culprits(finding: Finding, hidden: Masked, place: Place) -> tuple[str, ...]:
    bare = hidden.text.strip(" \n\t'\"`.[]")
    echo = hidden.echo(bare) if len(bare) == 1 else None
    lacking = [split(path)[-1] for path in place.declared if place.value(path) is ABSENT]
    if echo is not None and echo.whole:
        return culprits("", finding.types, place.leaves, lacking, echoed=True)
    text = hidden.masked(hidden.text)
    return culprits(text, finding.types, place.leaves, lacking, echoed=False)


def category_of_constraint(constraint: JsonObject) -> Category | None:
    """What a constraint is about; none where it says nothing."""
    for keyword, value in constraint.items():
        if keyword in CATEGORIES:
            return CATEGORIES[keyword]
        if keyword == "format":
            return Category.FORMAT_DATE if value in _DATE_FORMATS else Category.FORMAT_OTHER
    return None


def _from_error(
    layers: Sequence[Facts],
    carried: tuple[Finding, ...],
    arguments: JSON,
    schema: JsonObject,
) -> tuple[Finding, ...]:
    """The findings of an exception and what it wraps; those that carry data come first."""
    if carried:
        return carried
    for layer in layers:
        if layer.body and find_json(visible(layer.body)) is not None:
            return read_text(layer.body, arguments, schema)
    outer = _until_group(layers)
    members = [layer for layer in layers[len(outer) :] if not _is_group(layer)]
    if members:
        return tuple(
            over(Finding("", types=layer.types, code=layer.code, status=layer.status), item)
            for layer in members
            for item in read_text(layer.text, arguments, schema)
        )
    return read_text(_telling(layers).text, arguments, schema)


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
    outer = Finding(
        windowed(layers[0].text),
        types=tuple(dict.fromkeys(name for layer in _until_group(layers) for name in layer.types)),
        status=next((layer.status for layer in layers if layer.status is not None), None),
        code=next((layer.code for layer in layers if layer.code is not None), None),
        retry_after=wait,
    )
    items = found[:MOST] or (outer,)
    return tuple(_complete(over(outer, item), arguments, schema, now) for item in items)
