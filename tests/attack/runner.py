"""Runs cases of a class and counts: tried, broken, and what must still work but does not."""

from __future__ import annotations

import contextlib
import io
import logging
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from attack import (  # noqa: F401 -- each adds its attacks
    bounds,
    doing,
    laws,
    laws_of_calls,
    mcp_servers,
    meaning,
    secrets_and_code,
    validation,
    values,
)
from attack.core import ATTACKS, CLASSES, KEPT, Case, Generator, TooLong, no_waits, within

LONGEST = 300.0


@dataclass
class Figures:
    """What came out for one class."""

    name: str
    tried: Counter[str] = field(default_factory=Counter)
    broke: list[tuple[str, str, str]] = field(default_factory=list)
    kept: Counter[str] = field(default_factory=Counter)
    lost: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def cases(self) -> int:
        return self.tried.total()

    @property
    def broken(self) -> int:
        return len(self.broke)

    def told(self, show: int = 3, *, by_generator: bool = False) -> str:
        lines = [f"{self.name}  {CLASSES[self.name]}"]
        for title, total, found in (
            ("broken", self.tried, self.broke),
            ("no longer works", self.kept, self.lost),
        ):
            lines.append(f"  {title}: {len(found)} of {total.total()}")
            if by_generator:
                bad = Counter(made for made, _, _ in found)
                lines += [f"    {made}: {bad[made]} of {n}" for made, n in total.items()]
            seen: Counter[str] = Counter()
            for made, text, why in found:
                seen[made] += 1
                if seen[made] <= show:
                    lines.append(f"    [{made}] {text[:600]}\n      -> {why[:600]}")
        return "\n".join(lines)


def run(name: str, cases: int, seed: int = 0, kept: int | None = None) -> Figures:
    """So many attacks of a class, and a fifth as many cases that must still work."""
    figures = Figures(name)
    _series([*ATTACKS[name].values()], cases, seed, figures.tried, figures.broke)
    rest = kept if kept is not None else max(cases // 5, len(KEPT[name]))
    _series([*KEPT[name].values()], rest, seed, figures.kept, figures.lost)
    return figures


def _series(
    makers: Sequence[Generator],
    cases: int,
    seed: int,
    tried: Counter[str],
    bad: list[tuple[str, str, str]],
) -> None:
    for number in range(cases if makers else 0):
        make = makers[number % len(makers)]
        made = make.__name__
        case = make(Random(f"{seed}/{made}/{number}"))
        tried[made] += 1
        why = outcome(case)
        if why is not None:
            bad.append((made, case.text, why))


def outcome(case: Case) -> str | None:
    """What broke, or None."""
    quiet = io.StringIO()
    level = logging.root.manager.disable
    try:
        with (
            within(LONGEST),
            no_waits(),
            warnings.catch_warnings(),
            contextlib.redirect_stdout(quiet),
            contextlib.redirect_stderr(quiet),
        ):
            warnings.simplefilter("ignore")
            return case.run()
    except TooLong:
        return f"did not end within {LONGEST:g} s"
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"raised {type(error).__name__}: {error} ({where.filename}:{where.lineno})"
    finally:
        logging.disable(level)


def table(all_figures: Sequence[Figures]) -> str:
    """Cases, broken ones, and what must still work, by class."""
    lines = ["class  cases  broken  must work  lost"]
    lines += [
        f"{e.name:5}  {e.cases:5}  {e.broken:6}  {e.kept.total():9}  {len(e.lost):4}"
        for e in all_figures
    ]
    total = sum(each.cases for each in all_figures), sum(each.broken for each in all_figures)
    kept = sum(each.kept.total() for each in all_figures), sum(len(e.lost) for e in all_figures)
    lines.append(f"all    {total[0]:5}  {total[1]:6}  {kept[0]:9}  {kept[1]:4}")
    return "\n".join(lines)
