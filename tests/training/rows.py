"""Labelled messages as rows of a JSON lines file, in the form that `selfcorrect train` reads."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

LABELS: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "breaks" / "labels.toml").read_text("utf-8")
)
RETRYABLE = {"transient", "rate_limit", "timeout"}
LONGEST = 2000


def labels(name: str, params: list[str] | list[list[str]]) -> dict[str, Any]:
    """What was broken, as the labels of a row; `params` may list alternatives."""
    said = LABELS[name]
    options = [p if isinstance(p, list) else [p] for p in params] or [[]]
    if params and not isinstance(params[0], list):
        options = [list(params)]
    if said["named"] != "yes":
        options = [[]] if said["named"] == "no" else [*options, []]
    again = {kind in RETRYABLE for kind in said["kind"]}
    one = {key: said[key] if len(said[key]) > 1 else said[key][0] for key in ("kind", "category")}
    return {
        **one,
        "params": options[0],
        "params_any": options,
        "constraint": None,
        "repair": None,
        "retryable": again.pop() if len(again) == 1 else None,
        "retry_after_s": None,
    }


class Rows:
    """Collects rows, each message of a system once, and says what was left out."""

    def __init__(self, out: str) -> None:
        self._out = Path(out)
        self._rows: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._left = 0

    def add(
        self,
        system: str,
        label: str,
        text: str,
        arguments: Any,
        params: Any,
        *,
        exception: str | None = None,
        status: int | str | None = None,
        schema: Any = None,
        origin: str = "ran",
    ) -> None:
        digest = hashlib.sha256(
            (text + json.dumps(arguments, default=str)).encode("utf-8", "replace")
        )
        key = (system, re.sub(r"\d+", "0", text), json.dumps(arguments, default=str))
        self._rows.setdefault(
            key,
            {
                "id": f"{system}-{digest.hexdigest()[:10]}",
                "system": system,
                "origin": origin,
                "exception": exception,
                "status": status,
                "message": text[:LONGEST],
                "schema": schema,
                "arguments": arguments,
                "broken": label,
                "labels": labels(label, params),
            },
        )

    def left_out(self, system: str, what: Any, why: str) -> None:
        self._left += 1
        print(f"left out: {system}: {str(what)[:80]} {why}", file=sys.stderr)

    def close(self) -> None:
        rows = self._rows.values()
        self._out.write_text(
            "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
            "utf-8",
            "surrogatepass",
        )
        print(
            f"{len(rows)} messages of {len({r['system'] for r in rows})} systems, {self._left} left out",
            file=sys.stderr,
        )
