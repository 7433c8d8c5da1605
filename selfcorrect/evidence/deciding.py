"""What a finding is, by the rules of a map and then by the call: kind, category, parameters."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from selfcorrect.evidence.clean import visible
from selfcorrect.evidence.faults.category import category_at
from selfcorrect.evidence.faults.place import Places
from selfcorrect.evidence.faults.settling import settle
from selfcorrect.evidence.faults.values import by_breaking
from selfcorrect.evidence.kinds.codes import TYPES
from selfcorrect.evidence.kinds.facts import kind_of
from selfcorrect.evidence.kinds.words import spoken_name
from selfcorrect.evidence.masking import mask
from selfcorrect.evidence.reading_errors import read_error
from selfcorrect.evidence.testifying import LIKELY, last_witness, left_open, testified
from selfcorrect.mapping.certainty import borne_out, stated
from selfcorrect.mapping.files import MapSource
from selfcorrect.mapping.loading import load_map
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import JSON, Call, Category, ErrorKind, Finding, JsonObject, Source
from selfcorrect.ports import Rules

_SYMBOL: Final = re.compile(r"\b[A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,8}\b")
"""A code within a text: `NT_STATUS_ACCESS_DENIED`."""
_OF_INPUT: Final = (ErrorKind.VALIDATION, ErrorKind.NOT_FOUND)
_PLAIN: Final = ("enum", "const", "type", "pattern", "format")
"""Constraints that no number of retries, seconds or calls looks like."""
_OF_TIME: Final = ("date", "date-time", "time", "duration")


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
    rules = load_map(strategies)
    if isinstance(error, Finding):
        return rules.decide(replace(error, kind=kind_of(error))).kind
    return interpreted(
        read_error(error, Call(""), None, bodies=rules.bodies)[0], rules, None, {}
    ).kind


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
    decided = _by_constraint(finding, decide(replace(finding, text=blind)), decide)
    decided = _by_name(finding, decided, decide)
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


def interpreted(
    finding: Finding,
    rules: Rules,
    tool: str | None,
    arguments: JSON,
    schema: JsonObject | None = None,
    *,
    acts: bool = True,
) -> Finding:
    """The finding as rules decide it and, where they leave something open, the trained witness.

    Never raises. What is acted on changes only where no rule and no structure says anything, and
    the witness is likely to be right; everything else that it says informs.

    Args:
        finding: What `read_error` or `read_report` found.
        rules: The error-strategy map.
        tool: The tool that the call names.
        arguments: The arguments of the call.
        schema: Their schema, if known.
        acts: Whether something will be done about it, and not only told.
    """
    decided = diagnosed(finding, lambda item: rules.decide(item, tool), arguments, schema)
    if acts and decided.witness is not Source.NONE:
        return decided
    try:
        free = left_open(decided, rules)
        last = last_witness(rules) if free is not None else None
        said = last(finding, decided, arguments, schema, free) if last and free else None
        if said is None or (acts and said.confidence < LIKELY):
            return decided
        heard = testified(decided, said, rules, tool)
        if heard.witness is not Source.MODEL:
            return heard
        return settled(replace(heard, paths=finding.paths), arguments, schema)
    except Exception:  # a mistake of the witness must not hide what the rules say
        return decided


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
            return _taken_for(decided, found)
    return decided


def _by_constraint(
    finding: Finding, decided: Finding, decide: Callable[[Finding], Finding]
) -> Finding:
    """What the constraint that an error states says of it, where no rule knows its words.

    "must be at least 18", "one of: a, b": it is decided as an error whose code names the keyword.
    """
    if not finding.constraint or decided.category is not Category.NONE:
        return decided
    keyword, value = next(iter(finding.constraint.items()))
    unsaid = decided.witness is Source.NONE or decided.kind is ErrorKind.VALIDATION
    if not unsaid and not (keyword in _PLAIN and _only_a_class_speaks(finding, decided, decide)):
        return decided
    if keyword == "format":
        keyword = "date_parsing" if value in _OF_TIME else "url_parsing"
    found = decide(Finding("", code=keyword))
    if found.kind is not ErrorKind.VALIDATION:
        return decided
    return replace(_taken_for(decided, found), confidence=stated(), witness=Source.RULE)


def _taken_for(decided: Finding, found: Finding) -> Finding:
    """The finding, decided as another one was."""
    return replace(
        decided,
        kind=found.kind,
        category=found.category,
        rule=found.rule,
        ladder=found.ladder,
        confidence=found.confidence,
        witness=found.witness,
    )


def _only_a_class_speaks(
    finding: Finding, decided: Finding, decide: Callable[[Finding], Finding]
) -> bool:
    """Whether nothing but the words of a class's name say what sort of error it is."""
    if finding.status is not None or finding.code or decided.kind is not finding.kind:
        return False
    if finding.kind in {TYPES.get(name) for name in finding.types}:
        return False
    bare = replace(finding, text=decided.text, types=(), kind=ErrorKind.INTERNAL)
    return decide(bare).witness is Source.NONE


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
    place = Places(arguments, schema or {})
    finding = replace(finding, paths=settle(finding, hidden.text, echoes, place))
    finding = replace(finding, category=category_at(finding, place))
    return replace(finding, confidence=_borne_out(finding, place))


def _borne_out(finding: Finding, place: Places) -> float:
    """How sure a finding is: surer where the constraint that it states is broken where it says.

    So it is where one value is named, and what it should have been.
    """
    if finding.witness is not Source.RULE or not finding.paths:
        return finding.confidence
    if finding.suggestions and len(finding.paths) == 1 and finding.kind in _OF_INPUT:
        return max(finding.confidence, borne_out())
    if not finding.constraint:
        return finding.confidence
    broken = {f"/args{path}" for path in by_breaking(finding.constraint, place)}
    listed = finding.constraint.get("enum")
    if isinstance(listed, list):  # where the place is known, whatever is not listed breaks it
        broken |= {f"/args{path}" for path, value in place.leaves if value not in listed}
    own = finding.confidence
    return max(own, borne_out()) if broken.issuperset(finding.paths) else own
