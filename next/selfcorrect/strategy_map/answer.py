"""What the rules that an error meets say together."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from selfcorrect.model import Category, ErrorKind, Finding
from selfcorrect.pointer import pointer
from selfcorrect.strategy_map.document import ErrorRule
from selfcorrect.strategy_map.match import PlacedRule

OWN: Final = frozenset({"InvalidArgs", "UnknownTool", "MalformedCall", "HeldCall", "NoReceipt"})
"""Classes of what the library finds itself."""


def is_own(finding: Finding) -> bool:
    """Say whether the library found this itself: no text has to be read."""
    types = finding.get("types", ())
    return len(types) == 1 and types[0] in OWN


@dataclass(frozen=True, slots=True)
class Answer:
    """What rules say, the first one first.

    Attributes:
        first: The first rule that decides.
        captures: The named groups of its pattern.
        kind: The first kind that one of them says.
        category: The first category that one of them says.
        paths: The first places that one of them says.
        hints: Rules that only advise.
        met: All rules.
    """

    first: PlacedRule | None = None
    captures: dict[str, str] = field(default_factory=dict)
    kind: ErrorKind | None = None
    category: Category | None = None
    paths: list[str] = field(default_factory=list)
    hints: tuple[PlacedRule, ...] = ()
    met: tuple[PlacedRule, ...] = ()

    def take(self, placed: PlacedRule, captures: dict[str, str]) -> "Answer":
        """Return the answer with the word of one more rule."""
        rule, met = placed.rule, (*self.met, placed)
        if rule.hint:
            return replace(self, hints=(*self.hints, placed), met=met)
        return replace(
            self,
            first=self.first or placed,
            captures=self.captures if self.first else captures,
            kind=self.kind or rule.kind,
            category=self.category or rule.category,
            paths=self.paths or _paths(rule, captures),
            met=met,
        )

    def join(self, other: "Answer") -> "Answer":
        """Return this answer, completed by another about the same error."""
        return replace(
            self,
            first=self.first or other.first,
            captures=self.captures if self.first else other.captures,
            kind=self.kind or other.kind,
            category=self.category or other.category,
            paths=self.paths or other.paths,
            hints=tuple({each.key: each for each in (*self.hints, *other.hints)}.values()),
        )

    def advice(self) -> list[ErrorRule]:
        """Return the first hint of each sort: a status, a class, a code, a pattern."""
        found: dict[tuple[bool, ...], ErrorRule] = {}
        for each in self.hints:
            rule = each.rule
            sort = (bool(rule.status), bool(rule.error), bool(rule.code), bool(rule.match))
            found.setdefault(sort, rule)
        return list(found.values())

    def rule_for(self, kind: ErrorKind) -> PlacedRule | None:
        """Return the rule that decided, or a hint that was followed."""
        followed = (each for each in self.hints if each.rule.kind == kind)
        return self.first or next(followed, None)


def _paths(rule: ErrorRule, captures: Mapping[str, str]) -> list[str]:
    names = rule.params or ((captures["param"],) if "param" in captures else ())
    return [pointer(*name.rstrip(".").split(".")) for name in names]
