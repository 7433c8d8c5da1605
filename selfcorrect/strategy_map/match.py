"""Compiled rules: finds those that an error meets, in the order in which they are tried."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase

from selfcorrect.model import Category, ErrorKind, Finding, frozen
from selfcorrect.patterns import PatternSet, captures_of
from selfcorrect.pointer import pointer
from selfcorrect.strategy_map.document import ErrorRule, PlacedRule


@frozen
class Ruling:
    """What rules say, the first one first.

    Attributes:
        first: The first rule that decides.
        captures: The named groups of its pattern.
        kind: The first kind that one of them says.
        category: The first category that one of them says.
        paths: The first places that one of them says.
        met: All rules, with those that only advise.
    """

    first: PlacedRule | None = None
    captures: dict[str, str] = field(default_factory=dict)
    kind: ErrorKind | None = None
    category: Category | None = None
    paths: list[str] = field(default_factory=list)
    met: tuple[PlacedRule, ...] = ()

    @classmethod
    def of(cls, placed: PlacedRule, text: str) -> "Ruling":
        """Return what one rule says of an error with this text, which it matches."""
        rule = placed.rule
        if rule.hint:
            return cls(met=(placed,))
        captures = captures_of(rule.match, text) if rule.match else {}
        paths = _paths(rule, captures)
        return cls(placed, captures, rule.kind, rule.category, paths, met=(placed,))

    def join(self, other: "Ruling") -> "Ruling":
        """Return this ruling, completed by another about the same error."""
        return Ruling(
            self.first or other.first,
            self.captures if self.first else other.captures,
            self.kind or other.kind,
            self.category or other.category,
            # A category of "none" says that no argument is at fault.
            self.paths or ([] if self.category == Category.NONE else other.paths),
            (*self.met, *other.met),
        )

    def advice(self) -> list[ErrorRule]:
        """Return the first hint of each sort: a status, a class, a code, a pattern."""
        hints: dict[tuple[bool, ...], ErrorRule] = {}
        for rule in (placed.rule for placed in self.met if placed.rule.hint):
            sort = (bool(rule.status), bool(rule.error), bool(rule.code), bool(rule.match))
            hints.setdefault(sort, rule)
        return list(hints.values())

    def rule_for(self, kind: ErrorKind) -> PlacedRule | None:
        """Return the rule that decided, or a hint that was followed."""
        followed = (placed for placed in self.met if placed.rule.hint and placed.rule.kind == kind)
        return self.first or next(followed, None)


def _paths(rule: ErrorRule, captures: Mapping[str, str]) -> list[str]:
    names = rule.params or ((captures["param"],) if "param" in captures else ())
    return [pointer(*name.rstrip(".").split(".")) for name in names]


class Matcher:
    """Compares an error with every rule; all patterns are searched in one pass over its text."""

    def __init__(self, rules: Sequence[PlacedRule]) -> None:
        self._rules = rules
        self._patterned = [placed for placed in rules if placed.rule.match]
        self._patterns = PatternSet([placed.rule.match or "" for placed in self._patterned])

    def matching(self, finding: Finding, tool: str | None) -> tuple[PlacedRule, ...]:
        """Return the rules that an error meets, the deciding one first."""
        numbers = self._patterns.matching(finding.get("text", ""))
        met = {self._patterned[at].key for at in numbers}
        classes = suffixes(finding.get("types", ()))
        statuses, code = status_forms(finding.get("status")), finding.get("code")
        names_wait = finding.get("retry_after") is not None
        return tuple(
            placed
            for placed in self._rules
            if (not (rule := placed.rule).match or placed.key in met)
            and (not rule.error or not classes.isdisjoint(rule.error))
            and (not rule.status or not statuses.isdisjoint(map(str, rule.status)))
            and (not rule.code or fits(code, rule.code))
            and (not rule.tool or fits(tool, rule.tool))
            and (rule.retry_after is None or rule.retry_after is names_wait)
        )


def suffixes(types: Sequence[str]) -> frozenset[str]:
    """Return every dotted end of class names.

    >>> sorted(suffixes(("httpx.HTTPError",)))
    ['HTTPError', 'httpx.HTTPError']
    """
    return frozenset(
        ".".join(parts[n:])
        for parts in (name.split(".") for name in types)
        for n in range(len(parts))
    )


def status_forms(status: int | str | None) -> frozenset[str]:
    """Return a status and the classes that it belongs to, as texts.

    >>> sorted(status_forms(503))
    ['503', '50x', '5xx']
    """
    text = "" if status is None else str(status)[:20]
    return frozenset(text[:n] + "x" * (len(text) - n) for n in range(1, len(text) + 1))


def fits(name: str | None, wanted: tuple[str, ...]) -> bool:
    """Say whether a name is one of these names or globs."""
    return name is not None and any(name == glob or fnmatchcase(name, glob) for glob in wanted)
