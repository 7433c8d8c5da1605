"""What a rule does to the maps that its map extends: another cure is meant, another finding rarely.

A map extends another one so that its own rules come first. One that tries something else for the
same error does what it is there for. One that takes the error for something else than the rule
that it overrules, or reads less out of its text, is most likely broader than its author knows;
unless one of its own examples shows that the author knew: an error that the overruled rule would
take as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from selfcorrect.mapping.merging import MapRule
from selfcorrect.model import Category, Finding

_MOST: Final = 5
"""Overruled rules that are named."""
_NAMES: Final = re.compile(r"\(\?P<(param|hint|seconds)>")
"""What a pattern reads that every finding has a place for."""


def overruled_by(
    winner: MapRule, losers: Mapping[str, tuple[MapRule, Finding]], known: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """What is told of a rule that decides examples of others, each as level and message.

    Args:
        winner: The rule.
        losers: The rules that it overrules, by id, each with the error of the example.
        known: The rules that match an example of its own: it is meant to overrule these.
    """
    odd = {
        name: why
        for name, (loser, finding) in losers.items()
        if name not in known and (why := _otherwise(winner, loser, finding))
    }
    plain = [name for name in losers if name not in odd]
    if odd:
        whys = _listed([f"{name} ({why})" for name, why in odd.items()])
        hint = "narrow it, or give it an example that shows that this is meant"
        yield "warning", f"it decides examples of {whys}: {hint}"
    if plain:
        yield "note", f"it decides examples of {_listed(plain)}"


def _otherwise(winner: MapRule, loser: MapRule, finding: Finding) -> str:
    """What the overruled rule says of its own example and the other does not, in a few words."""
    rule, other = winner.rule, loser.rule
    kind, category = rule.kind or finding.kind, rule.category or finding.category
    whys = []
    if other.kind is not None and kind is not other.kind:
        whys.append(f"not {other.kind}")
    if other.category not in (None, Category.NONE) and category is not other.category:
        whys.append(f"not {other.category}")
    lost = _read_by(loser) - _read_by(winner) - ({"param"} if rule.params else set())
    return ", ".join([*whys, *(f"without its <{name}>" for name in sorted(lost))])


def _read_by(placed: MapRule) -> set[str]:
    return set(_NAMES.findall(placed.rule.match or ""))


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return f"{', '.join(names[:_MOST])}{more}"
