"""Answers of services and networks as messages: `python services.py breaks/services.txt OUT.jsonl`.

Their forms are facts of public documentation; the values in them are made up.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rows import Rows


def main(source: str, out: str) -> None:
    rows = Rows(out)
    for line in Path(source).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            system, label, status, text = line.split("|", 3)
            rows.add(
                system,
                label,
                text,
                {},
                [],
                status=int(status) if status else None,
                origin="documented form",
            )
    rows.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
