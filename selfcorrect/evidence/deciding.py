"""What a finding is, by the rules of a map, the trained witness and the call: one answer for all.

The loop, `classify`, `explain`, `diagnose` and `learn` ask the same function.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from selfcorrect.evidence.clean import openings, visible
from selfcorrect.evidence.constraints.stated import category_of_constraint
from selfcorrect.evidence.faults.place import Places
from selfcorrect.evidence.faults.settling import by_elimination, settle
from selfcorrect.evidence.faults.values import by_breaking, category_by_schema
from selfcorrect.evidence.kinds.facts import kind_of
from selfcorrect.evidence.masking import mask
from selfcorrect.evidence.reading_errors import read_error
from selfcorrect.evidence.testifying import LIKELY, last_witness, left_open, testified
from selfcorrect.evidence.waits.prose import wait_in_text
from selfcorrect.kinds import RETRYABLE
from selfcorrect.mapping.certainty import borne_out
from selfcorrect.mapping.files import MapSource
from selfcorrect.mapping.loading import load_map
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import ABSENT, JSON, Call, Category, ErrorKind, Finding, JsonObject, Source
from selfcorrect.pointer import join
from selfcorrect.ports import Open, Rules

_NUMBERS: Final = (int, float)
_OWN_WORDS: Final = ("value_error", "assertion_error")
"""Codes of what a validator of the tool's own refused: its words alone say why."""
_WAITS: Final = RETRYABLE | {ErrorKind.QUOTA, ErrorKind.INTERNAL}
"""Kinds for which a wait beside the error's own sentence means something."""
_OF_INPUT: Final = (ErrorKind.VALIDATION, ErrorKind.NOT_FOUND)


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
    return decide(read_error(error, Call(""), None, bodies=rules.bodies)[0], rules, None, {}).kind


def decide(
    finding: Finding,
    rules: Rules,
    tool: str | None,
    arguments: JSON,
    schema: JsonObject | None = None,
    *,
    acts: bool = True,
) -> Finding:
    """The finding as rules decide it and, where they leave something open, the trained witness.

    Never raises. The map sees the text with its echoes masked: what a message repeats of the
    arguments never becomes a kind, a wait, a name or a rule.

    Args:
        finding: What `read_error` or `read_report` found.
        rules: The error-strategy map.
        tool: The tool that the call names.
        arguments: The arguments of the call.
        schema: Their schema, if known.
        acts: Whether something will be done about it, and not only told: then the witness speaks
            only where no rule does, or says no more than that the input is wrong, and where it is
            likely to be right.
    """
    found = _heard(finding, rules, tool, arguments, schema, acts)
    try:
        own = next(openings(_masked(found.text, arguments)))
        if found.kind not in _WAITS and wait_in_text(own) is None:
            found = replace(found, retry_after=None)
        guessed = found.witness is Source.MODEL and found.confidence < LIKELY
        wrong = found.kind is ErrorKind.VALIDATION and len(found.paths) == 1
        if wrong and (guessed or found.category is Category.NONE):
            # The schema knows, a guess does not.
            place = Places(arguments, schema or {})
            about = category_by_schema(found.paths[0].removeprefix("/args"), place)
            return replace(found, category=about or found.category)
        if acts or found.paths:
            return found
        return replace(found, paths=by_elimination(found, Places(arguments, schema or {})))
    except Exception:  # a mistake about the call must not hide what is decided
        return found


def _heard(
    finding: Finding,
    rules: Rules,
    tool: str | None,
    arguments: JSON,
    schema: JsonObject | None,
    acts: bool,
) -> Finding:
    """The finding by the rules and the witness; a mistake of the witness hides no rule."""
    decided = by_rules(finding, rules, tool, arguments, schema)
    try:
        free = left_open(decided, rules)
        if acts and free is not None and decided.witness is not Source.NONE:
            free = (
                Open(False, True)
                if _is_unsaid(decided) and finding.code not in _OWN_WORDS
                else None
            )
        last = last_witness(rules) if free is not None else None
        said = last(finding, decided, arguments, schema, free) if last and free else None
        if said is None:
            return decided
        if said.category is category_of_constraint(finding.constraint):  # two see the same
            said = replace(said, confidence=max(said.confidence, LIKELY))
        if acts and said.confidence < LIKELY:
            return decided
        heard = testified(decided, said, rules, tool)
        if heard.witness is not Source.MODEL:
            return heard
        return _placed(replace(heard, paths=finding.paths), tool, arguments, schema)
    except Exception:  # a mistake of the witness must not hide what the rules say
        return decided


def by_rules(
    finding: Finding,
    rules: Rules,
    tool: str | None,
    arguments: JSON,
    schema: JsonObject | None = None,
) -> Finding:
    """The same without the trained witness, which learns what the rules leave open."""
    try:
        blind = _masked(finding.text, arguments)
    except Exception:  # what cannot be masked is not shown to the map at all
        return replace(rules.decide(replace(finding, text=""), tool), text=finding.text)
    decided = _first_said(replace(finding, text=blind), rules, tool)
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
        return _placed(shown, tool, arguments, schema)
    except Exception:
        return shown


def _first_said(finding: Finding, rules: Rules, tool: str | None) -> Finding:
    """What the map says of the first sentence that one of its phrases knows.

    A phrase further on says no error repeatable: anybody may have put it there.
    """
    whole = rules.decide(finding, tool)
    if not rules.rests_on_words(whole.rule):
        return whole
    said = (rules.decide(replace(finding, text=text), tool) for text in openings(finding.text))
    first = next(said)
    if first.witness is Source.NONE:
        further = next((each for each in said if each.witness is not Source.NONE), first)
        first = first if further.kind in RETRYABLE else further
    return replace(first, text=finding.text)


def _masked(text: str, arguments: JSON) -> str:
    """A text as rules match it: what it echoes of the arguments says nothing."""
    hidden = mask(text, arguments, visible)
    return hidden.masked(hidden.text)


def _unmasked(value: str, blind: str, text: str) -> str:
    """What stands in the text where a masked piece of it stands."""
    start = blind.find(value)
    return text[start : start + len(value)] if start >= 0 and len(blind) == len(text) else value


def _placed(
    finding: Finding, tool: str | None, arguments: JSON, schema: JsonObject | None
) -> Finding:
    """The finding with the parameters at fault, now that its kind and category are decided."""
    place = Places(arguments, schema or {})
    hidden = mask(finding.text, arguments, visible)
    paths = settle(finding, hidden, place)
    if tool and not place.known(tool):  # a tool's own name is no parameter of it
        paths = tuple(path for path in paths if path != "/args" + join(tool))
    finding = replace(finding, paths=paths)
    values = [place.value(path.removeprefix("/args")) for path in finding.paths]
    if finding.kind is ErrorKind.NOT_FOUND and finding.category is Category.NONE:
        finding = replace(finding, category=Category.UNKNOWN_RESOURCE)
    elif finding.category is Category.LENGTH and len(values) == 1:
        stated = category_of_constraint(finding.constraint)
        if type(values[0]) in _NUMBERS or (values[0] is ABSENT and stated is Category.RANGE):
            finding = replace(finding, category=Category.RANGE)  # a number has no length
    return replace(finding, confidence=_borne_out(finding, place))


def _is_unsaid(finding: Finding) -> bool:
    """Whether all that is said is that the input is wrong."""
    return finding.kind is ErrorKind.VALIDATION and finding.category is Category.NONE


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
