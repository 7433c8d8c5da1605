"""The reading of one error: what rules leave open, its own words and the witness fill in."""

from collections.abc import Callable
from dataclasses import replace

from selfcorrect.diagnosis.body import body_of
from selfcorrect.diagnosis.clues import FAULTLESS, Clues, clues_of, has_words, openings_of, plain
from selfcorrect.diagnosis.facts import seconds_of
from selfcorrect.diagnosis.parameters import Places, locate, places_of
from selfcorrect.model import JSON, RETRYABLE, Category, ErrorKind, Finding, JsonObject, frozen
from selfcorrect.pointer import pointer
from selfcorrect.strategy_map.match import Answer

SURE = 0.97
"""How often a sure fact is right, measured on systems that nothing was written for."""


@frozen
class ErrorReading:
    """What an error is, how sure that is, and who saw it.

    Attributes:
        kind: What the error is.
        category: What is wrong with the call.
        rules: What the rules say to it.
        more: What a finding says beside them: who saw it, how sure that is, places, wait.
        by_words: Whether nothing but words says that the same call may succeed later.
    """

    kind: ErrorKind
    category: Category
    rules: Answer
    more: Finding
    by_words: bool


def read(
    finding: Finding,
    said: Answer,
    ask: Callable[[Finding], Answer],
    *,
    args: JSON = None,
    schema: JsonObject | None = None,
    acts: bool = False,
) -> ErrorReading:
    """Read an error of a tool.

    Args:
        finding: The error as it was seen.
        said: What the rules say to it.
        ask: Returns what the rules say to a finding.
        args: The arguments of the call.
        schema: Their schema.
        acts: Whether the tool has side effects.
    """
    places = places_of(args, schema)
    clues, rules = gather(finding, said, ask, places)
    found = _decide(clues, rules)
    if by_words_alone(found[0], said):
        # Words make a call run again only if each of their clauses says so.
        for text in openings_of(clues):
            opening: Finding = {**finding, "text": text}
            of_opening = gather(opening, ask(opening), ask, places)
            if (doubt := _decide(*of_opening))[0] not in RETRYABLE:
                found, rules = doubt, of_opening[1]
                break
    kind, category, confidence, witness = found
    # A place in the text of an error of a tool that acts is no value to run with.
    constraint = {} if acts or kind in FAULTLESS else clues.constraint
    wait = clues.wait
    if wait is None and kind in RETRYABLE and not acts:
        wait = seconds_of(rules.captures.get("seconds")) or clues.spoken_wait
    vouched = rules.first is not None and rules.first.rule.repair is not None
    by_words = kind in RETRYABLE and not _is_backed(kind, said) and not vouched
    if clues.blame.by == "elimination" and not rules.paths:
        witness = "elimination"
    more: Finding = {
        "paths": places_at_fault(clues, rules.paths, kind),
        "constraint": finding.get("constraint") or constraint,
        "retry_after": wait,
        "confidence": confidence,
        "witness": witness,
    }
    return ErrorReading(kind, category, rules, more, by_words)


def faults_of(finding: Finding, args: JSON, schema: JsonObject | None) -> list[Finding]:
    """Return a finding for each place that the body of an error names, or the finding alone."""
    text = finding.get("text", "")
    is_plain = "{" not in text and "[" not in text
    faults = () if is_plain or finding.get("paths") else body_of(plain(text)).faults
    if len(faults) < 2:
        return [finding]
    places = places_of(args, schema)
    found: dict[str, Finding] = {}
    for fault in faults:
        path = locate(fault.place, places)
        if path is not None and path not in found:
            keys = places.keys.get(path, tuple(path.split(".")))
            one: Finding = {**finding, "paths": [pointer(*keys)]}
            # The first one speaks for the whole error; each of the others for its place.
            found[path] = {**one, "text": fault.sentence, "code": fault.code} if found else one
    return list(found.values()) if len(found) > 1 else [finding]


def gather(
    finding: Finding,
    said: Answer,
    ask: Callable[[Finding], Answer],
    places: Places,
) -> tuple[Clues, Answer]:
    """Return what an error shows, and what the rules say to that too."""
    clues = clues_of(finding, places)
    # What advises reads the error's own sentence, and nothing behind it.
    own: Finding = {
        **finding,
        "text": clues.sentence.text,
        "types": list(clues.classes),
        "status": clues.status,
        "code": next(iter(clues.codes), None),
    }
    rules = replace(said, met=()).join(ask(own))
    hints = tuple((str(each.kind), str(each.category or "")) for each in rules.advice())
    return replace(clues, hints=hints), rules


def by_words_alone(kind: ErrorKind, said: Answer) -> bool:
    """Say whether neither a rule nor what the exception carries says that a retry may succeed."""
    return kind in RETRYABLE and said.kind is None and not _is_backed(kind, said)


def _is_backed(kind: ErrorKind, said: Answer) -> bool:
    return any(not each.rule.match and each.rule.kind == kind for each in said.met)


def _decide(clues: Clues, rules: Answer) -> tuple[ErrorKind, Category, float, str]:
    """Complete what rules say; the witness is loaded only where they leave something open."""
    kind, category = rules.kind, rules.category
    if kind in FAULTLESS and category is None:
        category = Category.NONE
    if kind is not None and category is not None:
        is_rule = rules.first is not None and rules.first.rule.match
        return kind, category, SURE, "rule" if is_rule else "structure"
    is_silent = clues.is_success or not has_words(clues.sentence.text)
    if kind is None and not clues.hints and is_silent:
        # Nobody can tell what it is: the fault may be the tool's.
        return ErrorKind.INTERNAL, Category.NONE, 0.0, "witness"
    from selfcorrect.diagnosis.witness import decide, features_of, load, testify

    weights = load()
    votes = testify(weights, features_of(clues))
    found = decide(votes, weights, clues, kind, category)
    return ErrorKind(found.kind), Category(found.category), found.confidence, "witness"


def places_at_fault(clues: Clues, said: list[str], kind: ErrorKind) -> list[str]:
    """Return the places at fault as JSON Pointers: those that a rule says, or the error's own."""
    keys = clues.places.keys
    own = [pointer(*keys.get(path, path.split("."))) for path in clues.blame.paths]
    if len(said) == len(own) == 1 and own[0].endswith(said[0].removeprefix("/args")):
        # A pattern captures a name; the error also says where it stands.
        return own
    return said or ([] if kind in FAULTLESS else own)
