"""How sure the rules of the built-in maps are: how often each was right on labelled messages.

    python tests/training/rule_confidence.py NEW.jsonl[.gz]… [--known OLD.jsonl]… [--write]

The messages should be of systems that the rules were not written for. A line is an object with
`system`, `message`, and as far as known `exception`, `status`, `schema`, `arguments`; its `labels`
hold `kind` and `category`, each a word or a list of accepted words. `--known` are messages of
systems that rules were written for: one of those that a rule is right on may be the one that it was
made for, and does not count.

A rule is right where all that it says is: the kind, and the category if it says one. What it was
right on counts once per system, so that no system outvotes another, and is drawn towards what rules
of its form came to: `WEIGHT` systems' worth.

Printed is how well the numbers hold, each system judged by the others alone. `--write` stores them
in `selfcorrect/maps/confidence.json`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from asked import by_rules, read_report

from selfcorrect.mapping import certainty
from selfcorrect.mapping.certainty import BORNE_OUT, FACTS, MEASURED
from selfcorrect.mapping.rules import ErrorRule
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import Category, Source

WEIGHT: Final = 3.0
"""Systems' worth of what rules of the same form came to."""
MOST: Final = 0.99
BARS: Final = (0.5, 0.7, 0.9)
MARKS: Final[dict[float | None, str]] = {1.0: BORNE_OUT}
"""Confidences that stand for what they are measured for, while nothing is known yet."""


class Judged(NamedTuple):
    """One message: whose, by which rule it was decided, and whether that was right.

    Where the arguments bear a rule out, `BORNE_OUT` stands for it.
    """

    system: str
    rule: str
    right: bool
    witness: Source
    known: bool = False


def records(files: Iterable[Path]) -> Iterator[Mapping[str, Any]]:
    """The labelled messages of files, packed or not."""
    for file in files:
        opened = gzip.open if file.suffix == ".gz" else open
        with opened(file, "rt", encoding="utf-8", errors="surrogatepass") as lines:
            yield from (json.loads(line) for line in lines if line.strip())


def judged(record: Mapping[str, Any], strategies: StrategyMap) -> Judged:
    """What the rules make of a message, and whether it is what its labels say."""
    given = {key: record.get(key) for key in ("exception", "status", "schema", "arguments")}
    first = read_report(record["message"], **given)[0]
    found = by_rules(first, strategies, None, record.get("arguments"), record.get("schema"))
    labels = record["labels"]
    right = found.kind in _many(labels["kind"])
    if labels["category"] != "none" and found.category is not Category.NONE:
        said = {found.category}
        if found.category is Category.PRECONDITION:  # younger than many labels
            said.add(Category.BUSINESS_RULE)
        right = right and not said.isdisjoint(_many(labels["category"]))
    said = found.confidence if found.witness is Source.RULE else None
    rule = MARKS.get(said, found.rule or FACTS)
    return Judged(record["system"], rule, right, found.witness)


def _many(label: Any) -> Sequence[str]:
    return label if isinstance(label, list) else (label,)


def form(rule: ErrorRule) -> tuple[bool, bool, bool]:
    """What a rule hangs on, and whether it says a category."""
    facts = bool(rule.error or rule.status or rule.code)
    return facts, rule.match is not None, rule.category is not None


def measured(found: Iterable[Judged], strategies: StrategyMap) -> dict[str, float]:
    """How sure each rule is, from 0 to 1, by its full name."""
    found = list(found)
    known = {item.system: item.known for item in found}
    shares: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for item in found:
        if item.witness is not Source.NONE:
            shares[item.rule][item.system].append(item.right)
    sums = {}
    for rule, by in shares.items():
        origin = int(any(known[system] for system in by))
        right = sum(sum(each) / len(each) for each in by.values())
        sums[rule] = max(0.0, right - origin), len(by) - origin
    everything = _share([sums.get(placed.id, (0.0, 0)) for placed in strategies.rules], 0.5)
    groups = {
        kind: _share(
            [sums.get(each.id, (0.0, 0)) for each in strategies.rules if form(each.rule) == kind],
            everything,
        )
        for kind in {form(placed.rule) for placed in strategies.rules}
    }
    means = {placed.id: groups[form(placed.rule)] for placed in strategies.rules}
    return {
        rule: min(MOST, round(_share([sums.get(rule, (0.0, 0))], mean), 3))
        for rule, mean in {
            **means,
            BORNE_OUT: everything,
            FACTS: everything,
        }.items()
    }


def _share(sums: Iterable[tuple[float, int]], mean: float) -> float:
    """The share of what was right, drawn towards a mean."""
    pairs = list(sums)
    right, number = sum(r for r, _ in pairs), sum(n for _, n in pairs)
    return (right + WEIGHT * mean) / (number + WEIGHT)


def left_out(found: Sequence[Judged], strategies: StrategyMap) -> list[tuple[float, bool]]:
    """Confidence and truth of every message, its system judged by all other systems."""
    out: list[tuple[float, bool]] = []
    for system in sorted({item.system for item in found if not item.known}):
        numbers = measured([item for item in found if item.system != system], strategies)
        for item in found:
            if item.system == system:
                sure = numbers.get(item.rule, 0.0) if item.witness is not Source.NONE else 0.0
                out.append((sure, item.right))
    return out


def told(pairs: Sequence[tuple[float, bool]]) -> Iterator[str]:
    """How many are sure enough, and how many of those are right."""
    for bar in BARS:
        above = [right for sure, right in pairs if sure >= bar]
        share, right = len(above) / len(pairs), sum(above) / max(1, len(above))
        yield f"confidence >= {bar}: {share:.1%} of {len(pairs)} messages, {right:.1%} right"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and store if asked."""
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("files", nargs="+", type=Path)
    ap.add_argument("--known", action="append", default=[], type=Path)
    ap.add_argument("--write", action="store_true")
    args = ap.parse_args(argv)
    strategies = StrategyMap.load("default")
    certainty.measured = lambda: {name: mark for mark, name in MARKS.items() if mark}
    found = [judged(record, strategies) for record in records(args.files)]
    own = {item.system for item in found}
    others = (judged(record, strategies) for record in records(args.known))
    found += [item._replace(known=True) for item in others if item.system not in own]
    sys.stdout.writelines(f"{line}\n" for line in told(left_out(found, strategies)))
    for witness in Source:
        new = [item.right for item in found if item.witness is witness and not item.known]
        if new:
            sys.stdout.write(f"{witness}: {len(new)} messages, {sum(new) / len(new):.1%} right\n")
    if args.write:
        numbers = dict(sorted(measured(found, strategies).items()))
        MEASURED.write_text(f"{json.dumps(numbers, indent=1)}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
