"""Rows out of what the Node scripts print: `node node_….mjs … | python node_rows.py OUT.jsonl`.

A system keeps so many messages, of each label some; the same words are kept from a few systems only.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from rows import Rows

MOST = 12
OF_A_LANGUAGE = 8
OF_A_FORM = 16
MANY = 18
SYSTEMS_WITH_THE_SAME_WORDS = 4


def kept(lines: Iterable[dict[str, Any]], most: int, turn: int) -> list[dict[str, Any]]:
    """At most so many, every label before a second of one; which of a label differs from system to system."""
    by_label: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        by_label[line["label"]].append(line)
    shifted = [some[turn % len(some) :] + some[: turn % len(some)] for some in by_label.values()]
    shifted = shifted[turn % len(shifted) :] + shifted[: turn % len(shifted)]
    rounds = max(map(len, shifted))
    return [some[i] for i in range(rounds) for some in shifted if i < len(some)][:most]


def settled(line: dict[str, Any]) -> dict[str, Any]:
    """A name that neither the message nor the arguments say cannot be asked for; what is inside one
    value may be told by the value."""
    text, params = line["text"], line["params"]
    options = [p if isinstance(p, list) else [p] for p in params]
    if params and not isinstance(params[0], list):
        options = [list(params)]
    if line["label"] in ("mis", "ext"):
        unsaid = [o for o in options if o and not any(p.rpartition(".")[2] in text for p in o)]
        options += [[]] if unsaid and unsaid == [o for o in options if o] else []
    return {**line, "params": options}


def main(out: str) -> None:
    rows = Rows(out)
    systems: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in map(json.loads, sys.stdin):
        if "left_out" in line:
            rows.left_out(line["system"], line.get("arguments", "all"), line["left_out"])
        else:
            systems[line["system"]].append(settled(line))
    words: Counter[tuple[str, str]] = Counter()
    for turn, (system, lines) in enumerate(sorted(systems.items())):
        most = OF_A_FORM if len(lines) > MANY else MOST
        if system.startswith("ajv-i18n"):
            most = OF_A_LANGUAGE
        for line in kept(lines, most, turn):
            same = (line["label"], re.sub(r"\d+", "0", line["text"]))
            words[same] += 1
            if words[same] <= SYSTEMS_WITH_THE_SAME_WORDS:
                row = {k: v for k, v in line.items() if k not in ("system", "label", "text")}
                rows.add(
                    system,
                    line["label"],
                    line["text"],
                    row.pop("arguments"),
                    row.pop("params"),
                    **row,
                )
    rows.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
