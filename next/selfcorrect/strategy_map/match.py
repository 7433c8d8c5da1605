"""Compiled rules: finds those that an error meets, in the order in which they are tried."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from selfcorrect.model import Finding
from selfcorrect.strategy_map.document import ErrorRule
from selfcorrect.strategy_map.patterns import PatternSet


@dataclass(frozen=True, slots=True)
class PlacedRule:
    """A rule and the map that it comes from.

    Attributes:
        key: `map/id`, as `disable`, `explain` and reports name it.
        rule: The rule.
        is_own: Whether it stands in the map that was loaded, and not in one that it extends.
    """

    key: str
    rule: ErrorRule
    is_own: bool = True


class Matcher:
    """An index of rules by code, status, class and pattern.

    Each rule stands in the index once for each value of its most telling condition; a finding
    looks its own values up there, and only the rules found so are compared with it.
    """

    def __init__(self, rules: Sequence[PlacedRule]) -> None:
        self._rules = rules
        self._patterned = [n for n, each in enumerate(rules) if each.rule.match]
        self._patterns = PatternSet([rules[n].rule.match or "" for n in self._patterned])
        self._positions = {rules[n].key: at for at, n in enumerate(self._patterned)}
        self._index: dict[Any, list[int]] = {}
        self._always: list[int] = []
        for n, each in enumerate(rules):
            for key in _index_keys(each.rule):
                self._index.setdefault(key, []).append(n)
            if not _index_keys(each.rule) and not each.rule.match:
                self._always.append(n)

    def matching(self, finding: Finding, tool: str | None) -> Iterator[PlacedRule]:
        """Yield the rules that an error meets, the deciding one first."""
        text = finding.get("text", "")
        met = {self._patterned[n] for n in self._patterns.matching(text)}
        classes = suffixes(tuple(finding.get("types", ())))
        statuses = status_forms(finding.get("status"))
        code = finding.get("code")
        keys = [("code", code), *(("error", name) for name in classes)]
        keys += [("status", form) for form in statuses]
        found = {*self._always, *met}
        for key in keys:
            found.update(self._index.get(key, ()))
        names_wait = finding.get("retry_after") is not None
        for n in sorted(found):
            rule = self._rules[n].rule
            if (
                (not rule.match or n in met)
                and (not rule.error or not classes.isdisjoint(rule.error))
                and (not rule.status or not statuses.isdisjoint(map(str, rule.status)))
                and (not rule.code or fits(code, rule.code))
                and (not rule.tool or fits(tool, rule.tool))
                and (rule.retry_after is None or rule.retry_after is names_wait)
            ):
                yield self._rules[n]

    def captures(self, placed: PlacedRule, finding: Finding) -> dict[str, str]:
        """Return the named groups of a rule's pattern in the text of an error that it matches."""
        position = self._positions.get(placed.key)
        return {} if position is None else self._patterns.captures(position, finding["text"])


@lru_cache(maxsize=1024)
def suffixes(types: tuple[str, ...]) -> frozenset[str]:
    """Return every dotted end of class names.

    >>> sorted(suffixes(("httpx.HTTPError",)))
    ['HTTPError', 'httpx.HTTPError']
    """
    return frozenset(
        ".".join(parts[n:])
        for parts in (name.split(".") for name in types)
        for n in range(len(parts))
    )


@lru_cache(maxsize=1024)
def status_forms(status: int | str | None) -> frozenset[str]:
    """Return a status and the classes that it belongs to, as texts.

    >>> sorted(status_forms(503))
    ['503', '50x', '5xx']
    """
    text = "" if status is None else str(status)[:20]
    return frozenset(text[:n] + "x" * (len(text) - n) for n in range(1, len(text) + 1))


def fits(name: str | None, wanted: Iterable[str]) -> bool:
    """Say whether a name is one of these names or globs."""
    return name is not None and any(name == each or fnmatchcase(name, each) for each in wanted)


def _index_keys(rule: ErrorRule) -> list[tuple[str, str]]:
    if rule.code and set("*?[").isdisjoint("".join(rule.code)):
        return [("code", code) for code in rule.code]
    if rule.status:
        return [("status", str(status)) for status in rule.status]
    return [("error", name) for name in rule.error]
