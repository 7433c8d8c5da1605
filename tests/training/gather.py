"""Puts the training data together: `python gather.py MESSAGES.jsonl… [--hashed FILE… [--known FILE…]]`.

Our own messages, and the examples of the maps, are written as text to `data/messages.jsonl.gz`.
What may not be shipped as text is written as hashed rows to `data/rows.jsonl.gz`: features as
numbers, labels, and what the rules said; no word of it is left. Every fifth message is there once
more, with a sentence behind it (`breaks/sayings.toml`) that says nothing of the error. `--known` names files that the
rules were written with, so that they tell nothing of how good rules are.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from asked import by_rules
from sayings import SAID

from selfcorrect.mapping.linting import example_finding
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import ErrorKind
from selfcorrect.training.rows import row_of, to_json

OWN_WORDS = "our own words"
EVERY = 5
JOINS = (" ", "\n", "\n\n")
DATA = Path(__file__).parent / "data"
KEPT = (
    "system",
    "origin",
    "exception",
    "status",
    "message",
    "schema",
    "arguments",
    "labels",
    "known",
)
_HOST = re.compile(r"(?<= on node )[\w.-]+")
_OURS = re.compile(r"(/tmp|/home|/root|/work)/\S*?(?=/node_modules/|/site-packages/|[\s:)'\"]|$)")


def records(files: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for file in files:
        opened = gzip.open if file.suffix == ".gz" else open
        with opened(file, "rt", encoding="utf-8", errors="surrogatepass") as lines:
            yield from (json.loads(line) for line in lines if line.strip())


def owned(record: dict[str, Any], systems: set[str]) -> dict[str, Any]:
    """A message of our own, without where it was made; a part of a system counts as the system."""
    name = record["system"]
    while "-" in name and name.rpartition("-")[0] in systems:
        name = name.rpartition("-")[0]
    told = record["labels"]
    labels = {key: told[key] for key in ("kind", "category", "params", "params_any") if key in told}
    kept = {key: record.get(key) for key in KEPT if record.get(key) is not None}
    return {
        **kept,
        "system": name,
        "message": _HOST.sub("host", _OURS.sub("/srv/app", record["message"])),
        "labels": labels,
        **({"known": True} if record.get("origin") == OWN_WORDS else {}),
    }


def behind(rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Every fifth message once more, with a sentence behind it that says nothing of the error."""
    told = [row for row in rows if "message" in row]
    for number, row in enumerate(told[::EVERY]):
        text, join = row["message"].rstrip(), JOINS[number % len(JOINS)]
        stop = "." if join == " " and text[-1:] not in ".!?" else ""
        more = SAID["behind"]["said"][number % len(SAID["behind"]["said"])]
        origin = f"{row.get('origin')}, more behind it"
        yield {**row, "message": f"{text}{stop}{join}{more}", "origin": origin, "known": True}


def examples(rules: StrategyMap) -> Iterator[dict[str, Any]]:
    """The examples of the built-in maps, as the maps decide them."""
    for placed in rules.rules:
        for example in placed.rule.example:
            finding, tool = example_finding(placed.rule, example)
            decided = by_rules(finding, rules, tool, {})
            if decided.kind is ErrorKind.INTERNAL:
                continue
            yield {
                "system": f"map {placed.source.name}",
                "origin": f"example of {placed.id}",
                "status": finding.status,
                "message": example,
                "known": True,
                "labels": {"kind": decided.kind, "category": decided.category},
            }


def write(file: Path, lines: Iterable[Any]) -> None:
    """Packed without a time in it: the same lines give the same file."""
    file.parent.mkdir(exist_ok=True)
    with (
        gzip.GzipFile(file, "wb", mtime=0) as packed,
        io.TextIOWrapper(packed, "utf-8", "surrogatepass") as text,
    ):
        for line in lines:
            text.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("messages", nargs="+", type=Path)
    ap.add_argument("--hashed", nargs="*", type=Path, default=[])
    ap.add_argument("--known", nargs="*", type=Path, default=[])
    args = ap.parse_args()
    rules = StrategyMap.load("default")
    own = list(records(args.messages))
    systems = {record["system"] for record in own}
    own = [owned(record, systems) for record in own]
    write(DATA / "messages.jsonl.gz", [*own, *behind(own), *examples(rules)])
    hashed, known = list(records(args.hashed)), list(records(args.known))
    rows = [row_of(record, rules) for record in hashed]
    known = [*known, *behind(hashed), *behind(known)]
    rows += [replace(row_of(record, rules), known=True) for record in known]
    write(DATA / "rows.jsonl.gz", map(to_json, rows))


if __name__ == "__main__":
    main()
