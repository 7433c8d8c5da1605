"""What applications say, in many languages: `python sayings.py OUT.jsonl`.

The sentences are our own (`breaks/sayings.toml`, `breaks/applications.toml`). Each is said by three systems, with other values
in its places: what one system alone says is not learned.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from rows import Rows

BREAKS = Path(__file__).parent / "breaks"
SAID: dict[str, dict[str, Any]] = tomllib.loads((BREAKS / "sayings.toml").read_text("utf-8"))
MORE: dict[str, dict[str, Any]] = tomllib.loads((BREAKS / "applications.toml").read_text("utf-8"))
SYSTEMS = 8
EACH = 3
NAMES = ("customer_id", "email", "start", "amount", "title", "code")
VALUES = ("42", "A-17", "north", "7781", "blue-9")
NUMBERS = ("3", "10", "120", "5", "64", "9")


def drawn(items: Sequence[str], number: int) -> str:
    return items[number % len(items)]


def say(rows: Rows, system: str, said: dict[str, Any]) -> None:
    things = said["things"]
    for label, sentences in said.items():
        if label == "things":
            continue
        for sentence in sentences:
            start = crc32(sentence.encode())
            for number in range(start // SYSTEMS, start // SYSTEMS + EACH):
                name, value = drawn(NAMES, number), drawn(VALUES, number)
                text = sentence.format(
                    name=name, value=value, thing=drawn(things, number), n=drawn(NUMBERS, number)
                )
                given = {} if label == "mis" and name in text else {name: value}
                rows.add(
                    f"{system}-{number % SYSTEMS}",
                    label,
                    text[:1].upper() + text[1:] if number % 2 else text,
                    {**given, "note": "n"} if number % 3 else given,
                    [name] if name in text or value in text else [],
                    origin="our own words",
                )


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("out")
    args = ap.parse_args()
    rows = Rows(args.out)
    for language, said in SAID.items():
        if language != "behind":
            say(rows, f"sayings-{language}", said)
    for language, said in MORE.items():
        say(rows, f"applications-{language}", said)
    rows.close()


if __name__ == "__main__":
    main()
