"""Judges one error: what its rules leave open, its own words and the witness fill in."""

from collections.abc import Callable
from dataclasses import replace

from selfcorrect.diagnosis.body import body_of
from selfcorrect.diagnosis.evidence import (
    FAULTLESS,
    Evidence,
    evidence_of,
    has_words,
    openings_of,
    plain_text,
)
from selfcorrect.diagnosis.facts import seconds_of
from selfcorrect.diagnosis.parameters import Path, Places, locate, places_of
from selfcorrect.effects.again import may_pass
from selfcorrect.model import JSON, RETRYABLE, Category, ErrorKind, Finding, JsonObject
from selfcorrect.pointer import pointer
from selfcorrect.strategy_map.match import Ruling

SURE = 0.97
"""How often a sure fact is right, measured on systems that nothing was written for."""


def judge(
    finding: Finding,
    ruling: Ruling,
    ask: Callable[[Finding], Ruling],
    *,
    args: JSON = None,
    schema: JsonObject | None = None,
    acts: bool = False,
) -> tuple[Ruling, Finding]:
    """Read an error of a tool; return what rules and its words say, and more of its finding.

    Args:
        finding: The error as it was seen.
        ruling: What the rules say of it.
        ask: Returns what the rules say of a finding.
        args: The arguments of the call.
        schema: Their schema.
        acts: Whether the tool has side effects.
    """
    places = places_of(args, schema)
    evidence, rules = gather(finding, ruling, ask, places)
    decision = _decide(evidence, rules)
    if by_words_alone(decision[0], ruling):
        # Words make a call run again only if each of their clauses says so.
        for text in openings_of(evidence):
            opening: Finding = {**finding, "text": text}
            of_opening = gather(opening, ask(opening), ask, places)
            if (doubt := _decide(*of_opening))[0] not in RETRYABLE:
                decision, rules = doubt, of_opening[1]
                break
    kind, category, confidence, witness = decision
    # A value that only an error names must not reach a tool that acts.
    constraint = {} if acts or kind in FAULTLESS else evidence.constraint
    wait = evidence.wait
    if wait is None and kind in RETRYABLE and not acts:
        wait = seconds_of(rules.captures.get("seconds")) or evidence.spoken_wait
    is_vouched = rules.first is not None and rules.first.rule.repair is not None
    by_words = kind in RETRYABLE and not _is_backed(kind, ruling) and not is_vouched
    if evidence.subject.by == "elimination" and not rules.paths:
        witness = "elimination"
    more: Finding = {
        "paths": places_at_fault(evidence, rules.paths, kind),
        "constraint": finding.get("constraint") or constraint,
        "retry_after": wait,
        "confidence": confidence,
        "witness": witness,
    }
    if not may_pass(acts=acts, by_words=by_words):
        more["ladder"] = []
    return replace(rules, kind=kind, category=category), more


def faults_of(finding: Finding, args: JSON, schema: JsonObject | None) -> list[Finding]:
    """Return a finding for each place that the body of an error names, or the finding alone."""
    text = finding.get("text", "")
    is_plain = "{" not in text and "[" not in text
    faults = () if is_plain or finding.get("paths") else body_of(plain_text(text)).faults
    if len(faults) < 2:
        return [finding]
    places = places_of(args, schema)
    findings: dict[Path, Finding] = {}
    for fault in faults:
        path = locate(fault.place, places)
        if path is not None and path not in findings:
            own: Finding = {**finding, "paths": [pointer(*path)]}
            if findings:
                # The first one speaks for the whole error; each of the others for its place.
                own |= {"text": fault.sentence, "code": fault.code}
            findings[path] = own
    return list(findings.values()) if len(findings) > 1 else [finding]


def gather(
    finding: Finding,
    ruling: Ruling,
    ask: Callable[[Finding], Ruling],
    places: Places,
) -> tuple[Evidence, Ruling]:
    """Return what an error shows, and what the rules say to that too."""
    evidence = evidence_of(finding, places)
    # What advises reads the error's own sentence, and nothing behind it.
    own: Finding = {
        **finding,
        "text": evidence.sentence.text,
        "types": list(evidence.classes),
        "status": evidence.status,
        "code": next(iter(evidence.codes), None),
    }
    rules = replace(ruling, met=()).join(ask(own))
    hints = tuple((str(each.kind), str(each.category or "")) for each in rules.advice())
    return replace(evidence, hints=hints), rules


def by_words_alone(kind: ErrorKind, ruling: Ruling) -> bool:
    """Say whether neither a rule nor what the exception carries says that a retry may succeed."""
    return kind in RETRYABLE and ruling.kind is None and not _is_backed(kind, ruling)


def _is_backed(kind: ErrorKind, ruling: Ruling) -> bool:
    return any(not each.rule.match and each.rule.kind == kind for each in ruling.met)


def _decide(evidence: Evidence, rules: Ruling) -> tuple[ErrorKind, Category, float, str]:
    """Complete what rules say; the witness is loaded only where they leave something open."""
    kind, category = rules.kind, rules.category
    if kind in FAULTLESS and category is None:
        category = Category.NONE
    if kind is not None and category is not None:
        is_rule = rules.first is not None and rules.first.rule.match
        return kind, category, SURE, "rule" if is_rule else "structure"
    is_silent = evidence.is_success or not has_words(evidence.sentence.text)
    if kind is None and not evidence.hints and is_silent:
        # Nobody can tell what it is: the fault may be the tool's.
        return ErrorKind.INTERNAL, Category.NONE, 0.0, "witness"
    from selfcorrect.diagnosis.witness import decide, features_of, load, testify

    weights = load()
    votes = testify(weights, features_of(evidence))
    own = decide(votes, weights, evidence, kind, category)
    return ErrorKind(own.kind), Category(own.category), own.confidence, "witness"


def places_at_fault(evidence: Evidence, by_rules: list[str], kind: ErrorKind) -> list[str]:
    """Return the places at fault as JSON Pointers: those that a rule says, or the error's own."""
    own = [pointer(*path) for path in evidence.subject.paths]
    if len(by_rules) == len(own) == 1 and own[0].endswith(by_rules[0].removeprefix("/args")):
        # A pattern captures a name; the error also says where it stands.
        return own
    return by_rules or ([] if kind in FAULTLESS else own)
