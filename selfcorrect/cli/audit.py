"""The command `audit`: what would have become of the calls of a log; nothing is executed."""

import argparse
import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from selfcorrect.cli.lines import take_lines
from selfcorrect.cli.logged_calls import LoggedCall, read_calls, read_tools
from selfcorrect.cli.screen import InputError, say, say_lines
from selfcorrect.diagnosis.facts import recorded_finding
from selfcorrect.drawing.html import static, table
from selfcorrect.drawing.text import align
from selfcorrect.effects.equal import canonical
from selfcorrect.mender import Mender
from selfcorrect.model import JsonObject
from selfcorrect.nodes.diagnose import diagnose_faults
from selfcorrect.strategy_map.strategy_map import StrategyMap, load_default


@dataclass
class Audit:
    """What an audit has counted.

    Attributes:
        calls: All calls.
        failed: Those that failed.
        outcomes: What would have become of those: `mended`, `asked`, `told`.
        confirmed: Those mended to what the run itself wrote later, and with success.
        kinds: The kinds of their errors.
        strategies: What would have mended them.
    """

    calls: int = 0
    failed: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    confirmed: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    strategies: Counter[str] = field(default_factory=Counter)

    def lines(self) -> list[str]:
        """Return the counts as sentences."""
        return [
            f"{self.calls} calls, {self.failed} failed",
            f"mended without a model: {self.outcomes['mended']}",
            f"as the run itself did later: {self.confirmed}",
            f"asked of a person: {self.outcomes['asked']}",
            f"told to the model, with a diagnosis: {self.outcomes['told']}",
        ]


def audit(options: argparse.Namespace) -> int:
    """Count what would have become of the calls that failed; write a page where one is wanted."""
    tools: dict[str, JsonObject] = {}
    calls: list[LoggedCall] = []

    def take(line: str) -> None:
        record = json.loads(line)
        calls.extend(read_calls(record, f"line {len(calls)}"))
        for tool in read_tools(record):
            tools[str(tool.get("name") or tool["function"]["name"])] = tool

    failed = take_lines(options.calls, take)
    if not calls:
        raise InputError(f"{options.calls}: there is no call in it")
    rules = StrategyMap.load(options.strategies) if options.strategies else load_default()
    counts = count_calls(calls, tools, rules)
    say_lines("\n".join(counts.lines()))
    rows = [[name, str(number)] for name, number in counts.kinds.most_common()]
    say_lines(align([["kind of error", "calls"], *rows]))
    if options.html:
        Path(options.html).write_text(_page(counts), "utf-8")
        say(f"Written: {options.html}")
    return 1 if failed else 0


def count_calls(calls: list[LoggedCall], tools: dict[str, JsonObject], rules: StrategyMap) -> Audit:
    """Return what would have become of the calls."""
    mender, counts = Mender(tools.values(), strategies=rules), Audit(len(calls))
    later: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    # What ended well behind a call is known before the call is looked at.
    for call in reversed(calls):
        if call.error is None:
            later[call.run, call.name].add(canonical(call.args))
            continue
        counts.failed += 1
        finding = recorded_finding(call.error)
        counts.kinds[diagnose_faults(rules, finding, call.name, args=call.args)[0]["kind"]] += 1
        mending = mender.call({"name": call.name, "args": call.args})
        counts.outcomes[_OUTCOMES[mending.outcome]] += 1
        if mending.outcome == "repaired":
            counts.strategies.update(str(change.strategy) for change in mending.changes)
            (ready,) = mending.ready
            counts.confirmed += canonical(ready.args) in later[call.run, ready.name]
    return counts


_OUTCOMES = {"repaired": "mended", "ask": "asked", "valid": "told", "failed": "told"}


def _page(counts: Audit) -> str:
    """Return the counts as a page that needs nothing beside it."""
    shares: list[Any] = [("kind of error", counts.kinds), ("mended by", counts.strategies)]
    tables = (
        table([title, "calls"], [[name, str(number)] for name, number in share.most_common()])
        for title, share in shares
    )
    lines = "".join(f"<p>{line}</p>\n" for line in counts.lines())
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Audit</title>\n'
        f'<style>\n{static("style.css")}</style>\n</head>\n<body class="selfcorrect">\n'
        f"<h1>Audit</h1>\n{lines}{''.join(tables)}</body>\n</html>\n"
    )
