"""Finds what is probably wrong with a map that loads."""

import builtins
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from selfcorrect.model import Finding
from selfcorrect.strategy_map.document import ErrorRule, PlacedRule
from selfcorrect.strategy_map.match import fits, status_forms, suffixes
from selfcorrect.strategy_map.strategy_map import StrategyMap

_ENDS = ("give-up", "escalate")
"""Strategies that end the ladder whatever the error is."""


def lint(loaded: StrategyMap) -> list[str]:
    """Return one sentence for each thing in the map's own rules that looks like a mistake."""
    own = [each for each in loaded.rules if each.is_own]
    return [problem for placed in own for problem in _problems(placed, loaded)]


def _problems(placed: PlacedRule, loaded: StrategyMap) -> Iterator[str]:
    rule = placed.rule
    for earlier in takewhile(lambda each: each is not placed, loaded.rules):
        if _covers(earlier.rule, rule):
            yield (
                f"{placed.key}: never decides, because {earlier.key} comes first and matches "
                "the same errors; raise its priority or disable the other"
            )
            break
    if rule.match and not rule.example:
        yield f"{placed.key}: has a pattern and no example; add a text that it must match"
    ladder = list(map(str, rule.repair or ()))
    for n, name in enumerate(ladder[:-1]):
        if name in _ENDS:
            yield f"{placed.key}: {ladder[n + 1]} is never tried, because {name} comes before it"
    for text in rule.example:
        yield from _example_problems(placed, loaded, text)


def _example_problems(placed: PlacedRule, loaded: StrategyMap, text: str) -> Iterator[str]:
    rule = placed.rule
    tool = rule.tool[0].replace("*", "x") if rule.tool else None
    found = [loaded.matches(each, tool) for each in example_findings(rule, text)]
    deciding = {matches[0].key for matches in found if matches}
    if not any(placed in matches for matches in found):
        yield f"{placed.key}: does not match its own example {text!r}"
    elif placed.key not in deciding:
        yield f"{placed.key}: its example {text!r} is decided by {min(deciding)}"


def example_findings(rule: ErrorRule, text: str) -> Iterator[Finding]:
    """Yield the errors that an example may stand for: `Class: text`, and the text alone."""
    status, code = rule.status[0] if rule.status else None, rule.code[0] if rule.code else None
    finding: Finding = {
        "text": text,
        "types": _mro(rule.error[0]) if rule.error else [],
        "status": status.replace("x", "0") if isinstance(status, str) else status,
        "code": code.replace("*", "x") if code else None,
        "retry_after": 1.0 if rule.retry_after else None,
    }
    yield finding
    name, colon, rest = text.partition(": ")
    if colon and name.replace(".", "").isidentifier():
        yield {**finding, "text": rest, "types": _mro(name)}


def _mro(name: str) -> list[str]:
    known = getattr(builtins, name, None)
    return [each.__name__ for each in known.__mro__] if isinstance(known, type) else [name]


def _covers(earlier: ErrorRule, later: ErrorRule) -> bool:
    """Say whether the earlier rule matches whatever the later one matches."""
    return (
        earlier.match in (None, later.match)
        and earlier.retry_after in (None, later.retry_after)
        and _all_among([[each] for each in later.tool], earlier.tool)
        and _all_among([[each] for each in later.code], earlier.code)
        and _all_among([suffixes((each,)) for each in later.error], earlier.error)
        and _all_among([status_forms(each) for each in later.status], earlier.status)
    )


def _all_among(inner: Sequence[Iterable[str]], outer: Iterable[int | str]) -> bool:
    """Say whether each inner condition, in one of its forms, is among the outer ones."""
    names = list(map(str, outer))
    return not names or (bool(inner) and all(any(fits(f, names) for f in each) for each in inner))
