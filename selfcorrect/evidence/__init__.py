"""Evidence: what an error says, before and after the rules of a map are asked.

`read_error` reads a live exception and `read_report` a recorded one; each gives findings with their
facts. A map then decides kind and category, and `settled` says which parameters are at fault.
`classify` answers with the kind alone; `outcome_of` says whether the tool may have acted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from selfcorrect.evidence import (
    ajv_errors,
    aws_body,
    field_map,
    github_body,
    google_rpc,
    graphql_body,
    instance_text,
    joi_details,
    json_api,
    kubernetes_status,
    listing,
    llm_api,
    mcp_result,
    odata_body,
    plain_body,
    problem_details,
    pydantic_errors,
    slack_body,
    xml_body,
    zod_issues,
)
from selfcorrect.evidence.clean import sentence, visible, windowed
from selfcorrect.evidence.constraints import constraint_in
from selfcorrect.evidence.culprits import CLASSES, culprits
from selfcorrect.evidence.exceptions import Facts, chain, facts
from selfcorrect.evidence.json_text import find_json
from selfcorrect.evidence.counts import category_of_counts
from selfcorrect.evidence.kinds import category_of, kind_of
from selfcorrect.evidence.statuses import status_in_text
from selfcorrect.evidence.masking import Masked, mask
from selfcorrect.evidence.outcomes import outcome_of
from selfcorrect.evidence.faults import Place, category_at, settle
from selfcorrect.evidence.suggestions import suggestions_in
from selfcorrect.evidence.waits import wait_in_headers, wait_in_text
from selfcorrect.evidence.wrappers import unwrap
from selfcorrect.model import ABSENT, JSON, Call, Category, ErrorKind, Finding, JsonObject
from selfcorrect.pointer import split
from selfcorrect.protocols import Tool

__all__ = ["classify", "masked", "outcome_of", "read_error", "read_report", "settled"]

BODY_READERS: Final[tuple[Callable[[JSON], tuple[Finding, ...]], ...]] = (
    pydantic_errors.read,
    zod_issues.read,
    ajv_errors.read,
    joi_details.read,
    mcp_result.read,
    kubernetes_status.read,
    google_rpc.read,
    llm_api.read,
    odata_body.read,
    json_api.read,
    graphql_body.read,
    problem_details.read,
    aws_body.read,
    github_body.read,
    slack_body.read,
    field_map.read,
    plain_body.read,
)
"""One per family of JSON error bodies; the first that knows the body reads it."""

DEPTH: Final = 4
"""How deep an error inside an error's text is read."""

DEEPEST: Final = 60
"""Deepest JSON value that is compared with the arguments."""

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
    "uniqueItems": Category.DUPLICATE,
    "pattern": Category.FORMAT_PATTERN,
    "type": Category.WRONG_TYPE,
}
"""What a constraint that a reader found in a structure is about."""

_DATE_FORMATS: Final = ("date", "date-time", "time", "duration")


def classify(error: BaseException | Finding) -> ErrorKind:
    """The kind of an error: whether repeating or changing the call can help.

    >>> classify(ConnectionResetError("peer went away"))
    <ErrorKind.TRANSIENT: 'transient'>
    >>> classify(Finding("too many requests", status=429))
    <ErrorKind.RATE_LIMIT: 'rate_limit'>
    """
    if isinstance(error, Finding):
        return kind_of(error)
    return read_error(error, Call(""), None)[0].kind


def read_error(
    error: BaseException, call: Call, tool: Tool | None, now: datetime | None = None
) -> tuple[Finding, ...]:
    """Everything that an exception says is wrong; at least one finding. Never raises."""
    schema = tool.schema if tool is not None else {}
    layers = tuple(facts(item) for item in chain(error))
    return _finish(tuple(_from_layers(layers, call.args, schema)), layers, call.args, schema, now)


def read_report(
    message: str,
    *,
    exception: str | None = None,
    status: int | str | None = None,
    schema: JsonObject | None = None,
    arguments: JSON = None,
    tool: str | None = None,
    now: datetime | None = None,
) -> tuple[Finding, ...]:
    """The same for a recorded error: an exception's name, a status and a text."""
    outer = Finding("", types=(exception,) if exception else (), status=status)
    found = _read_text(message, arguments, schema or {})
    return tuple(
        _complete(_over(outer, finding), arguments, schema or {}, now) for finding in found[:MOST]
    )


def masked(finding: Finding, arguments: JSON, schema: JsonObject | None = None) -> str:
    """The finding's text as rules should match it: what it echoes of the arguments says nothing."""
    hidden = mask(finding.text, arguments)
    return hidden.masked(hidden.text)


def settled(finding: Finding, arguments: JSON, schema: JsonObject | None = None) -> Finding:
    """The finding with the parameters at fault, now that its kind and category are decided."""
    hidden = mask(finding.text, arguments)
    echoes = {
        char: (echo.paths, echo.whole)
        for char in hidden.text
        if ord(char) >= 0xF0000 and (echo := hidden.echo(char)) is not None
    }
    place = Place(arguments, schema or {})
    finding = replace(finding, paths=settle(finding, hidden.text, echoes, place))
    return replace(finding, category=category_at(finding, place))


# --- assembling -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Source:
    hidden: Masked
    known: frozenset[str]
    arguments: JSON
    place: Place

    def is_echo(self, value: JSON) -> bool:
        """Whether a JSON value in a text is (a part of) the arguments themselves."""
        shown = _put_back(value, self.hidden, 0)
        return shown == self.arguments or any(
            shown == held for _, held in self.place.leaves if isinstance(held, dict | list)
        )


def _read_text(message: str, arguments: JSON, schema: JsonObject) -> tuple[Finding, ...]:
    hidden = mask(visible(message), arguments)
    place = Place(arguments, schema)
    known = frozenset(
        token for path in (*(p for p, _ in place.leaves), *place.declared) for token in split(path)
    )
    source = _Source(hidden, known, arguments, place)
    found = tuple(_read(hidden.text, source, 0))
    return tuple(_shown(item, hidden) for item in found) or (Finding(""),)


def _shown(finding: Finding, hidden: Masked) -> Finding:
    """The finding with what was masked put back."""
    return replace(
        finding,
        text=hidden.raw(finding.text),
        code=hidden.raw(finding.code) if finding.code else finding.code,
        paths=tuple(hidden.raw(path) for path in finding.paths),
        constraint={key: _put_back(value, hidden, 0) for key, value in finding.constraint.items()},
    )


def _put_back(value: JSON, hidden: Masked, depth: int) -> JSON:
    if isinstance(value, str):
        return hidden.raw(value)
    if isinstance(value, dict) and depth < DEEPEST:
        return {hidden.raw(k): _put_back(v, hidden, depth + 1) for k, v in value.items()}
    if isinstance(value, list) and depth < DEEPEST:
        return [_put_back(item, hidden, depth + 1) for item in value]
    return value


def _read(text: str, source: _Source, depth: int) -> Iterator[Finding]:
    embedded = find_json(text) if depth <= DEPTH else None
    if embedded is not None and not source.is_echo(embedded.value):
        found = _read_body(embedded.value)
        if found and (found[0].text or found[0].code):
            outer = unwrap(embedded.before) if embedded.before else None
            for finding in found:
                inner = tuple(_read(finding.text, source, depth + 1))
                for item in inner:
                    over = _over(finding, item)
                    yield replace(over, types=(*over.types, *outer.types)) if outer else over
            return
    xml = xml_body.read(text) if "<" in text else ()
    if xml:
        yield from xml
        return
    yield from _read_prose(text, source, depth)


def _read_prose(text: str, source: _Source, depth: int) -> Iterator[Finding]:
    blocks = instance_text.read(text)
    short = unwrap(sentence(text))
    outer = Finding(
        short.text,
        types=tuple(reversed(short.types)),
        code=next((code for code in reversed(short.codes)), None),
        status=short.status,
    )
    if blocks:
        yield from (_over(replace(outer, text=""), block) for block in blocks)
        return
    if depth <= DEPTH and short.text != text.strip() and find_json(short.text) is not None:
        yield from (_over(outer, item) for item in _read(short.text, source, depth + 1))
        return
    lines = listing.read(short.text, source.known)
    if lines:
        yield from (_over(outer, line) for line in lines)
        return
    yield outer


def _read_body(body: JSON) -> tuple[Finding, ...]:
    for read in BODY_READERS:
        if found := read(body):
            return found[:MOST]
    return ()


def _over(outer: Finding, inner: Finding) -> Finding:
    """The inner finding, with what only the outer one knows."""
    return replace(
        inner,
        text=inner.text or outer.text,
        types=(*inner.types, *(name for name in outer.types if name not in inner.types)),
        status=inner.status if inner.status is not None else outer.status,
        code=outer.code if inner.code is None else inner.code,
        paths=inner.paths or outer.paths,
        constraint=inner.constraint or outer.constraint,
        retry_after=inner.retry_after if inner.retry_after is not None else outer.retry_after,
    )


def _complete(
    finding: Finding, arguments: JSON, schema: JsonObject, now: datetime | None
) -> Finding:
    category = (
        category_of_constraint(finding.constraint)
        or category_of_counts(masked(finding, arguments))
        or category_of(finding)
    )
    constraint = finding.constraint or constraint_in(finding.text)
    wait = finding.retry_after
    if wait is None:
        wait = wait_in_text(masked(finding, arguments), now)
    status = finding.status
    if not isinstance(status, str) and not (isinstance(status, int) and status >= 300):
        status = status_in_text(masked(finding, arguments)) or status
    finding = replace(
        finding,
        status=status,
        constraint=constraint,
        suggestions=finding.suggestions or suggestions_in(finding.text),
        retry_after=wait,
        category=category,
    )
    found = _culprits(finding, arguments, schema)
    if found:
        kind, known = CLASSES[found[0]]
        return replace(finding, types=(*found, *finding.types), kind=kind, category=known)
    kind = kind_of(finding)
    counted = category in (Category.MISSING_PARAM, Category.EXTRA_PARAM)
    if counted and kind is ErrorKind.INTERNAL:
        kind = ErrorKind.VALIDATION
    return replace(finding, kind=kind)


def _culprits(finding: Finding, arguments: JSON, schema: JsonObject) -> tuple[str, ...]:
    place = Place(arguments, schema)
    hidden = mask(finding.text, arguments)
    bare = hidden.text.strip(" \n\t'\"`.[]")
    echoed = len(bare) == 1 and (echo := hidden.echo(bare)) is not None and echo.whole
    lacking = [split(path)[-1] for path in place.declared if place.value(path) is ABSENT]
    return culprits(finding.text, finding.types, echoed, place.leaves, lacking)



def category_of_constraint(constraint: JsonObject) -> Category | None:
    """What a constraint is about; none where it says nothing."""
    for keyword, value in constraint.items():
        if keyword in CATEGORIES:
            return CATEGORIES[keyword]
        if keyword == "format":
            return Category.FORMAT_DATE if value in _DATE_FORMATS else Category.FORMAT_OTHER
    return None


def _from_layers(
    layers: Sequence[Facts], arguments: JSON, schema: JsonObject
) -> Iterator[Finding]:
    first = layers[0]
    for layer in layers:
        errors = _structured(layer.error)
        if errors:
            yield from (_over(Finding(layer.text, types=layer.types), item) for item in errors)
            return
    if first.body and (embedded := find_json(visible(first.body))):
        found = _read_body(embedded.value)
        if found and found[0].text:
            yield from found
            return
    yield from _read_text(first.text, arguments, schema)


def _structured(error: BaseException) -> tuple[Finding, ...]:
    return ()


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
        types=tuple(dict.fromkeys(name for layer in layers for name in layer.types)),
        status=next((layer.status for layer in layers if layer.status is not None), None),
        code=next((layer.code for layer in layers if layer.code is not None), None),
        retry_after=wait,
    )
    items = found[:MOST] or (outer,)
    return tuple(_complete(_over(outer, item), arguments, schema, now) for item in items)
