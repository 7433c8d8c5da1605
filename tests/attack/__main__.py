"""`python -m tests.attack` or `python tests/attack`: attack, and print what broke."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]


def main() -> int:
    from attack.core import CLASSES
    from attack.runner import run, table

    parser = argparse.ArgumentParser(prog="attack")
    parser.add_argument("--cases", type=int, default=200, help="attacks per class")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--class", dest="classes", action="append", choices=list(CLASSES))
    parser.add_argument("--show", type=int, default=3, help="broken cases shown per class")
    parser.add_argument("--by", action="store_true", help="a line per generator, too")
    given = parser.parse_args()
    figures = []
    for name in given.classes or CLASSES:
        figures.append(run(name, given.cases, given.seed))
        sys.stdout.write(f"{figures[-1].told(given.show, by_generator=given.by)}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{table(figures)}\n")
    return int(any(each.broken for each in figures))


if __name__ == "__main__":
    sys.exit(main())
