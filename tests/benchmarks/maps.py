"""How matching grows with the number of rules. Prints a table; run it as a script.

Distinct messages after a warm-up; beside the map, a loop of Python's `re` and one alternation of
all patterns. Then what loading costs, and what a hostile message costs.
"""

from __future__ import annotations

import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from selfcorrect.mapping.rules import ErrorRule
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import Finding, GiveUp

WARM_UPS = 2_000
MESSAGES = 600
RULES = (50, 500, 5_000)
SIZES = (200, 5_000)

WORDS = """the a of to and in is not for with value argument parameter field must be one required
missing invalid unknown expected got string integer number request failed error server response
while calling endpoint resource user order booking account table column row key constraint violates
relation does exist permission denied token expired limit exceeded quota rate seconds retry after
connection refused reset timeout deadline unavailable service internal format date time pattern
match length minimum maximum allowed values list object array null undefined cannot read property
file directory path open write disk space memory process exit code signal command option flag usage
help version syntax near line position unexpected end input json parse body header content type"""
COMMON = WORDS.split()
SYLLABLES = [a + b for a in "bcdfghjklmnprstvwz" for b in "aeiou"]


def name(chance: random.Random) -> str:
    """A name such as systems give to their things."""
    return "".join(chance.choice(SYLLABLES) for _ in range(chance.randint(2, 4)))


def rule(number: int) -> tuple[str, str]:
    """A pattern, and a message that it matches."""
    chance = random.Random(number)
    one, two = name(chance), name(chance)
    forms = (
        (
            rf"(?i)\b{one} '(?P<param>[\w.]+)' must be one of \[(?P<allowed>[^\]]+)\]",
            f"{one} 'cabin' must be one of [a, b]",
        ),
        (
            rf"(?i)no {one} .* on (?P<got>\d{{4}}-\d\d-\d\d)",
            f"no {one} from LHR to CDG on 2024-10-26",
        ),
        (
            rf"{one.upper()}-(?P<limit>\d+): {two} exceeded",
            f"{one.upper()}-42: {two} exceeded",
        ),
        (rf'(?i)relation "{one}" does not exist', f'relation "{one}" does not exist'),
        (rf"(?i){one}[ _-]?{two}: (?P<hint>[^']+) expected", f"{one}_{two}: integer expected"),
        (
            rf"(?i)(?:cannot|could not) {one} (?P<param>\w+): retry after (?P<seconds>\d+)",
            f"could not {one} it: retry after 12",
        ),
    )
    return forms[number % len(forms)]


def messages(number: int, size: int, seed: int) -> list[str]:
    """Messages, all different; every other one holds what one of the first 50 rules is about."""
    made = []
    for index in range(number):
        chance = random.Random(seed + index)
        parts: list[str] = []
        while sum(map(len, parts)) + len(parts) < size:
            parts += [
                chance.choice(COMMON) if chance.random() < 0.85 else name(chance) for _ in range(20)
            ]
        if index % 2:
            parts.insert(chance.randrange(10), rule(chance.randrange(50))[1])
        made.append(" ".join(parts)[:size])
    return made


def strategy_map(number: int) -> StrategyMap:
    """A map of so many rules, every fifth without a pattern."""
    rules = [
        ErrorRule(id=f"r{n}", repair="none", code=f"CODE_{n}")
        if n % 5 == 4
        else ErrorRule(id=f"r{n}", repair="none", match=rule(n)[0])
        for n in range(number)
    ]
    return StrategyMap(rules, use={"none": lambda call, diagnosis, context: GiveUp("")})


def median(function: Callable[[str], object], texts: Sequence[str]) -> float:
    """Microseconds per call, the median."""
    spent = []
    for text in texts:
        started = time.perf_counter()
        function(text)
        spent.append(time.perf_counter() - started)
    return statistics.median(spent) * 1e6


def seconds(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def growth() -> Iterator[str]:
    """The table of matching times."""
    yield "| text | rules | map, µs | growth | loop of re, µs | one alternation, µs |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for size in SIZES:
        texts = messages(MESSAGES, size, 10**6)
        warm = messages(WARM_UPS, size, 2 * 10**6)
        first = None
        for number in RULES:
            strategies = strategy_map(number)
            decide = _decider(strategies)
            median(decide, warm)
            ours = median(decide, texts)
            first = first or ours
            few = texts[: max(5, 2_000 // number)]
            patterns = [re.compile(rule(n)[0]) for n in range(number) if n % 5 != 4]
            loop = median(lambda text: any(p.search(text) for p in patterns), few)  # noqa: B023
            plain = [re.sub(r"\?P<\w+>", "?:", p.pattern).removeprefix("(?i)") for p in patterns]
            joined = re.compile("(?i)" + "|".join(f"(?:{p})" for p in plain))
            one = median(joined.search, few)
            yield (
                f"| {size} B | {number} | {ours:.0f} | {ours / first:.1f}-fold "
                f"| {loop:.0f} | {one:.0f} |"
            )


def _decider(strategies: StrategyMap) -> Callable[[str], object]:
    return lambda text: strategies.decide(Finding(text, ("ToolError", "Exception")), "search")


COLD = """
import time
started = time.perf_counter()
from selfcorrect.mapping.loading import load_map
imported = time.perf_counter()
load_map()
loaded = time.perf_counter()
print((imported - started) * 1e3, (loaded - imported) * 1e3)
"""


def costs() -> Iterator[str]:
    """What a start costs, and what a hostile message costs."""
    cold = [[float(word) for word in _run(COLD).split()] for _ in range(5)]
    imported, loaded = (statistics.median(column) for column in zip(*cold, strict=True))
    yield f"cold start: import {imported:.0f} ms, default map {loaded:.0f} ms"
    for number in RULES:
        spent = seconds(lambda: strategy_map(number))  # noqa: B023
        strategies = strategy_map(number)
        first = seconds(lambda: strategies.decide(Finding("no rule yet")))  # noqa: B023
        yield f"{number} rules: linked in {spent * 1e3:.0f} ms, first match {first * 1e3:.0f} ms"
    half = " ".join(rule(n)[1][:20] for n in range(500))
    hostile = {
        "one letter": "x" * 10_000_000,
        "half matches": half * (10_000_000 // len(half)),
        "brackets": "[" * 10_000_000,
    }
    from selfcorrect.mapping.loading import load_map

    for title, text in hostile.items():
        for label, strategies in (("default map", load_map()), ("500 rules", strategy_map(500))):
            strategies.decide(Finding("warm"))
            spent = seconds(lambda: strategies.decide(Finding(text)))  # noqa: B023
            yield f"10 MB of {title}, {label}: {spent * 1e3:.1f} ms"


def _run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    for line in chain(growth(), [""], costs()):
        print(line)
