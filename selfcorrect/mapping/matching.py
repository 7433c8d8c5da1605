"""Which rules an error meets: conditions, and an index that makes their number unimportant."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache, partial
from itertools import chain
from typing import Final, TypeAlias, TypeVar

from selfcorrect.errors import MapFault
from selfcorrect.mapping.merging import MapRule
from selfcorrect.mapping.patterns import (
    Pattern,
    PatternError,
    PatternSet,
    compile_pattern,
    window,
)
from selfcorrect.mapping.rules import MOST_NAME_PARTS, ErrorRule
from selfcorrect.model import Finding

T = TypeVar("T")

_MOST_TYPES: Final = 100
_LONGEST_TYPE: Final = 500
_LONGEST_TOOL: Final = 500
_FEW: Final = 16
"""Up to so many patterns are tried one by one."""
_MOST_TOOLS: Final = 1_000
"""Tool names whose globs are remembered."""


def error_names(types: Iterable[str]) -> frozenset[str]:
    """Every name that a rule may call these classes by: the ends of their dotted names.

    >>> sorted(error_names(["httpx.HTTPStatusError"]))
    ['HTTPStatusError', 'httpx.HTTPStatusError']
    """
    names: set[str] = set()
    for name in list(types)[:_MOST_TYPES]:
        parts = name[-_LONGEST_TYPE:].split(".")[-MOST_NAME_PARTS:]
        names.update(".".join(parts[start:]) for start in range(len(parts)))
    return frozenset(names)


def status_names(status: int | str | None) -> frozenset[str]:
    """Every way in which a rule may write this status.

    >>> sorted(status_names(404)), sorted(status_names("23505")), sorted(status_names(7))
    (['404', '4xx'], ['23505', '23xxx'], ['7'])
    """
    if isinstance(status, int) and not isinstance(status, bool):
        text = str(status) if abs(status) < 10**6 else ""
    else:
        text = status.strip()[:200] if isinstance(status, str) else ""
    if not text:
        return frozenset()
    if len(text) == 3 and text.isdecimal() and text.isascii() and "1" <= text[0] <= "5":
        return frozenset((text, f"{text[0]}xx"))
    if len(text) == 5 and text.isalnum() and text.isascii() and any(c.isdecimal() for c in text):
        return frozenset((text, f"{text[:2]}xxx"))
    return frozenset((text,))


@dataclass(eq=False)
class Evidence:
    """What is known of one error, in the form in which rules ask for it.

    Attributes:
        named: What may be asked for by name, by condition.
    """

    named: Mapping[str, frozenset[str]]
    _text: str

    @classmethod
    def of(cls, finding: Finding, tool: str | None) -> Evidence:
        """The evidence that a finding carries, for a call of this tool."""
        named = {
            "tool": frozenset(() if tool is None else (tool[:_LONGEST_TOOL],)),
            "error": error_names(finding.types),
            "status": status_names(finding.status),
            "code": frozenset(() if finding.code is None else (finding.code,)),
        }
        return cls(named, finding.text)

    @cached_property
    def text(self) -> bytes:
        """What is read of the text."""
        return window(self._text)


@dataclass(frozen=True, slots=True, eq=False)
class Conditions:
    """The conditions of one rule.

    Attributes:
        named: What has to be known by name, any of each; in the order in which they are tried.
        pattern: What has to stand in the text, if anything.
    """

    named: Mapping[str, frozenset[str]]
    pattern: Pattern | None

    @classmethod
    def of(cls, rule: ErrorRule, pattern: Pattern | None) -> Conditions:
        """The conditions of a rule, whose pattern has been compiled."""
        named = {
            "tool": rule.tool,
            "error": [name.removeprefix("builtins.") for name in rule.error],
            "status": map(str, rule.status),
            "code": rule.code,
        }
        kept = {name: frozenset(values) for name, values in named.items()}
        return cls({name: values for name, values in kept.items() if values}, pattern)

    def met(self, evidence: Evidence) -> Mapping[str, str] | str:
        """The captures where all conditions hold, else the name of the first that does not."""
        for name, wanted in self.named.items():
            known = evidence.named[name]
            if name == "tool":
                if not any(takes(wanted, tool) for tool in known):
                    return name
            elif wanted.isdisjoint(known):
                return name
        if self.pattern is None:
            return {}
        captures = self.pattern.captures(evidence.text)
        return "match" if captures is None else captures


def compiled(rules: Sequence[MapRule]) -> tuple[list[Conditions], list[MapFault]]:
    """The conditions of every rule, and the patterns that cannot be used."""
    conditions, faults = [], []
    for placed in rules:
        pattern = None
        if placed.rule.match is not None:
            try:
                own = placed.source.built_in
                pattern = compile_pattern(placed.rule.match, built_in=own, tried=own)
            except PatternError as error:
                faults.append(placed.source.fault(str(error), rule=placed.rule.id, key="match"))
        conditions.append(Conditions.of(placed.rule, pattern))
    return conditions, faults


def takes(globs: Iterable[str], tool: str) -> bool:
    """Whether a tool's name fits one of the globs."""
    return any(glob == tool or fnmatchcase(tool, glob) for glob in globs)


def entry_of(table: Mapping[str, T], tool: str) -> T | None:
    """What a table by names and globs says of a tool, or None.

    The exact name comes before globs; among globs the first that fits decides.

    >>> entry_of({"get_*": "read_only", "get_lost": "destructive"}, "get_lost")
    'destructive'
    """
    if tool in table:
        return table[tool]
    return next((entry for glob, entry in table.items() if takes((glob,), tool)), None)


Key: TypeAlias = tuple[str, str]
"""A condition by name, and what it names."""
ANY: Final = range(10**9)
"""Positions of rules, all of them."""
_ALWAYS: Final = ("", "")
"""Where rules are found that ask for nothing by name."""


def _shelved(rules: Sequence[tuple[int, Conditions]]) -> dict[Key, list[int]]:
    """Rules by their rarest condition, so that a look-up yields few that do not apply."""
    keys = {
        position: [[(name, value) for value in values] for name, values in rule.named.items()]
        for position, rule in rules
    }
    often = Counter(key for each in keys.values() for key in chain.from_iterable(each))
    shelf: dict[Key, list[int]] = {}
    for position, each in keys.items():
        rarest = min(each, key=lambda names: sum(often[key] for key in names), default=[_ALWAYS])
        for key in rarest:
            shelf.setdefault(key, []).append(position)
    return shelf


class RuleIndex:
    """Finds the first rule that an error meets, among thousands, without trying them all."""

    def __init__(self, rules: Sequence[Conditions]) -> None:
        self._rules = tuple(rules)
        textual = [(n, rule) for n, rule in enumerate(rules) if rule.pattern is not None]
        self._plain = _shelved([(n, rule) for n, rule in enumerate(rules) if not rule.pattern])
        self._textual = _shelved(textual)
        self._with_text = [n for n, _ in textual]
        self._patterns = PatternSet([rule.pattern for _, rule in textual if rule.pattern])
        globs = {glob for name, glob in (*self._plain, *self._textual) if name == "tool"}
        self._globs_of = lru_cache(maxsize=_MOST_TOOLS)(partial(_fitting, globs))

    def first(
        self, evidence: Evidence, among: Container[int] = ANY
    ) -> tuple[int, Mapping[str, str]] | None:
        """The position of the first of these rules that is met, and its captures."""
        named = {**evidence.named, "tool": chain(*map(self._globs_of, evidence.named["tool"]))}
        keys = [_ALWAYS, *((name, value) for name, values in named.items() for value in values)]
        plain = {n for key in keys for n in self._plain.get(key, ()) if n in among}
        met = (n for n in sorted(plain) if not isinstance(self._rules[n].met(evidence), str))
        end = next(met, len(self._rules))
        for position in self._textual_before(end, evidence, keys):
            captures = self._rules[position].met(evidence)
            if position in among and not isinstance(captures, str):
                return position, captures
        return (end, {}) if end < len(self._rules) else None

    def each(self, evidence: Evidence) -> Iterator[Mapping[str, str] | str]:
        """For every rule in order, its captures, or the first condition that does not hold."""
        return (rule.met(evidence) for rule in self._rules)

    def _textual_before(self, end: int, evidence: Evidence, keys: Iterable[Key]) -> Sequence[int]:
        """Rules before this position whose pattern may match, in order."""
        buckets = (self._textual.get(key, []) for key in keys)
        near = [bucket[: bisect_left(bucket, end)] for bucket in buckets]
        if sum(map(len, near)) <= _FEW:
            return sorted({n for bucket in near for n in bucket})
        found = (self._with_text[n] for n in self._patterns.matching(evidence.text))
        return [n for n in found if n < end]


def _fitting(globs: Iterable[str], tool: str) -> tuple[str, ...]:
    """The globs that a tool's name fits."""
    return tuple(glob for glob in globs if takes((glob,), tool))
