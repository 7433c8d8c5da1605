"""What a finding is, by the rules of a map, the trained witness and the call: one answer for all.

The loop, `classify`, `explain`, `diagnose`, `audit` and the notebook ask the same function.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal, TypeAlias

from selfcorrect.evidence.clean import WORD, openings
from selfcorrect.evidence.faults.place import Places
from selfcorrect.evidence.faults.settling import by_elimination, settle
from selfcorrect.evidence.faults.values import by_breaking, category_by_schema
from selfcorrect.evidence.keywords import category_of_constraint
from selfcorrect.evidence.kinds.codes import TYPES
from selfcorrect.evidence.kinds.facts import kind_of
from selfcorrect.evidence.parts import ErrorReading, Part
from selfcorrect.evidence.reading import read
from selfcorrect.evidence.testifying import LIKELY, last_witness, left_open, testified
from selfcorrect.evidence.waits.prose import wait_in_text
from selfcorrect.kinds import RETRYABLE
from selfcorrect.mapping.certainty import borne_out
from selfcorrect.mapping.files import MapSource
from selfcorrect.mapping.loading import load_map
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import ABSENT, Call, Category, ErrorKind, Finding, Source
from selfcorrect.pointer import join
from selfcorrect.ports import Open, Rules

Heard: TypeAlias = Literal["likely", "any"]
_NUMBERS: Final = (int, float)
_OWN_WORDS: Final = ("value_error", "assertion_error")
"""Codes of what a validator of the tool's own refused: its words alone say why."""
_PLAIN: Final = ("enum", "const", "type", "pattern")
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
    return decide(read(error, Call(""), bodies=rules.bodies), rules)[0].kind


def decide(reading: ErrorReading, rules: Rules, witness: Heard = "likely") -> tuple[Finding, ...]:
    """What was read of an error, as rules decide it and, where they are silent, the witness.

    Never raises. The map sees the text with its echoes masked: what a message repeats of the
    arguments never becomes a kind, a wait, a name or a rule.

    Args:
        reading: Of the error.
        rules: The error-strategy map.
        witness: Which word of the trained witness counts: where something will be done about the
            error, a likely one, and only where no rule speaks or says no more than that the input
            is wrong; where it is only told, any.
    """
    return tuple(_decided(part, rules, acts=witness == "likely") for part in reading.parts)


def _decided(part: Part, rules: Rules, *, acts: bool) -> Finding:
    found = _heard(part, rules, acts=acts)
    try:
        if (stated := _by_constraint(found, part, rules)) is not found:
            found = _placed(replace(stated, paths=part.finding.paths), part)
        own = next(openings(part.blind))
        if found.kind not in _WAITS and wait_in_text(own) is None:
            found = replace(found, retry_after=None)
        guessed = found.witness is Source.MODEL and found.confidence < borne_out()
        wrong = found.kind is ErrorKind.VALIDATION and len(found.paths) == 1
        if wrong and (guessed or found.category is Category.NONE):
            # The schema knows, a guess does not.
            about = category_by_schema(found.paths[0].removeprefix("/args"), part.place)
            return replace(found, category=about or found.category)
        if acts or found.paths:
            return found
        return replace(found, paths=by_elimination(found, part.place))
    except Exception:  # a mistake about the call must not hide what is decided
        return found


def _heard(part: Part, rules: Rules, *, acts: bool) -> Finding:
    """The finding by the rules and the witness; a mistake of the witness hides no rule."""
    decided = by_rules(part, rules)
    try:
        own_words = acts and part.finding.code in _OWN_WORDS
        free = None if own_words else left_open(decided, rules)
        if free is not None and says_little(part):
            free = None if acts else Open(free.kind, False)
        last = last_witness(rules) if free is not None else None
        said = last(part, decided, free) if last and free else None
        if said is None:
            return decided
        if said.category is category_of_constraint(part.finding.constraint):  # two see the same
            said = replace(said, confidence=max(said.confidence, LIKELY))
        if acts and said.confidence < LIKELY:
            return decided
        heard = testified(decided, said, rules, part.tool)
        if heard.witness is not Source.MODEL:
            return heard
        return _placed(replace(heard, paths=part.finding.paths), part)
    except Exception:  # a mistake of the witness must not hide what the rules say
        return decided


def says_little(part: Part) -> bool:
    """Whether an error has a word at most, and nothing else: what that is about is a guess."""
    finding, words = part.finding, WORD.findall(part.blind)
    told = finding.code or finding.types or finding.status or part.hidden.echoes
    return not told and part.blind.isascii() and len(words) < 2


def by_rules(part: Part, rules: Rules) -> Finding:
    """The same without the trained witness, which learns what the rules leave open."""
    finding, blind = part.finding, part.blind
    decided = _first_said(replace(finding, text=blind), rules, part.tool)
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
        return _placed(shown, part)
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


def _by_constraint(found: Finding, part: Part, rules: Rules) -> Finding:
    """What a constraint that an error states says of it, where at most its class's name speaks.

    "one of: a, b" of a `Throttled` is decided as an error whose code names the keyword.
    """
    keyword = next(iter(found.constraint), "")
    is_open = keyword in _PLAIN and found.category is Category.NONE
    if not is_open or not _is_silent(found, part, rules):
        return found
    meant = rules.decide(Finding("", code=keyword), part.tool)
    if meant.kind is not ErrorKind.VALIDATION:
        return found
    names = ("kind", "category", "rule", "ladder", "confidence")
    return replace(found, **{name: getattr(meant, name) for name in names}, witness=Source.RULE)


def _is_silent(found: Finding, part: Part, rules: Rules) -> bool:
    """Whether nothing but the words of a class's name say what sort of error it is."""
    if found.witness is Source.NONE:
        return True
    is_told = found.status is not None or found.code or found.witness is Source.MODEL
    if is_told or found.kind in {TYPES.get(name) for name in found.types}:
        return False
    bare = replace(found, text=part.blind, types=(), kind=ErrorKind.INTERNAL)
    return rules.decide(bare, None).witness is Source.NONE


def _unmasked(value: str, blind: str, text: str) -> str:
    """What stands in the text where a masked piece of it stands."""
    start = blind.find(value)
    return text[start : start + len(value)] if start >= 0 and len(blind) == len(text) else value


def _placed(finding: Finding, part: Part) -> Finding:
    """The finding with the parameters at fault, now that its kind and category are decided."""
    place, tool = part.place, part.tool
    paths = settle(finding, part.hidden, place)
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
