"""How sure a finding is that a rule decides: as sure as what the rule hangs on.

Certain are our own checks and rules of a deployment's own. A rule of a built-in map, also one that
hangs on a class, a status or a code, is as sure as it was on messages that it was not written for;
`maps/confidence.json` holds that, measured by `tests/training/rule_confidence.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from selfcorrect.mapping.merging import MapRule
from selfcorrect.model import OWN_CHECKS, Category, ErrorKind, Finding, Source

MEASURED: Final = Path(__file__).parents[1] / "maps" / "confidence.json"

SURE: Final = 1.0
BORNE_OUT: Final = "borne out"
"""Stands in the file for what the arguments bear out."""
FACTS: Final = "facts"
"""Stands in the file for a class, status or code of which no rule says anything."""


def certainty(finding: Finding, placed: MapRule) -> tuple[float, Source]:
    """How sure the decision of a rule is, and who saw it.

    Args:
        finding: As it was read; its `witness` says whether its facts are the error's own.
        placed: The rule that decides.
    """
    rule = placed.rule
    if not placed.source.built_in:
        return SURE, Source.RULE
    facts = bool(rule.error or rule.status or rule.code)
    if rule.kind is None and finding.kind is ErrorKind.INTERNAL:
        return 0.0, Source.NONE  # neither the rule nor the error says what it is
    sure = measured().get(placed.id, 0.0)
    if finding.witness is Source.STRUCTURE:
        if not OWN_CHECKS.isdisjoint(finding.types[:1]):
            return SURE, Source.STRUCTURE
        said = rule.category is not None or finding.category is Category.NONE
        if said and facts and rule.match is None:
            return sure, Source.STRUCTURE
    return sure, Source.RULE


def certainty_without_rule(finding: Finding) -> tuple[float, Source]:
    """How sure a finding is about which no rule says anything."""
    known = finding.kind is not ErrorKind.INTERNAL and finding.category is Category.NONE
    seen = known and finding.witness is Source.STRUCTURE
    return (measured().get(FACTS, 0.0), Source.STRUCTURE) if seen else (0.0, Source.NONE)


def rests_on_words(placed: MapRule) -> bool:
    """Whether nothing but a phrase in the text decides, in a rule of a built-in map."""
    rule = placed.rule
    return placed.source.built_in and not (rule.error or rule.status or rule.code or rule.tool)


def borne_out() -> float:
    """How sure a reading is where an argument breaks the very constraint that the text states."""
    return measured().get(BORNE_OUT, 0.0)


@cache
def measured() -> Mapping[str, float]:
    """How often each built-in rule was right, by its full name; `BORNE_OUT` and `FACTS`."""
    found: dict[str, float] = json.loads(MEASURED.read_text(encoding="utf-8"))
    return found
