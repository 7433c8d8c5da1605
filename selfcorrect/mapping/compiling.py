"""The conditions of rules, made ready for use."""

from __future__ import annotations

from collections.abc import Sequence

from selfcorrect.errors import MapFault
from selfcorrect.mapping.matching import Conditions
from selfcorrect.mapping.merging import MapRule
from selfcorrect.mapping.patterns import PatternError, compile_pattern


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
