"""Runs a command over a file of JSON Lines: a line out for each line in, in order."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from selfcorrect.cli.lines import UNUSABLE, open_file, read_lines, why_unusable
from selfcorrect.cli.screen import InputError, say
from selfcorrect.model import JsonDict, JsonObject

Make = Callable[[JsonDict], JsonDict]
"""Makes what is written of an object that is read."""


def run_batch(options: argparse.Namespace, make: Make, empty: JsonObject) -> Counter[str | None]:
    """Write a line for each line that is read; name those that are unusable.

    Args:
        options: The arguments `jsonl` and `out`.
        make: Makes the output of a line; `id` is added to it.
        empty: What the output of an unusable line holds beside its reason.

    Returns:
        How many lines have each `outcome`; of an unusable line without one, its `reason`.
    """
    counts = Counter[str | None]()
    with ExitStack() as stack:
        out = open_file(options.out, "w", stack)
        for line, place in read_lines(options.jsonl):
            output = _make_line(make, empty, line)
            print(json.dumps(output), file=out, flush=out is sys.stdout)
            counts[output.get("outcome") or output.get("reason")] += 1
            if output.get("reason") == "invalid_input":
                say(f"{place}: {output['detail']}", stderr=True)
    return counts


def _make_line(make: Make, empty: JsonObject, line: str) -> JsonDict:
    item: Any = None
    try:
        item = json.loads(line)
        if not isinstance(item, dict):
            raise InputError("a line must be an object")
        output = make(item)
    except UNUSABLE as error:
        output = {**empty, "reason": "invalid_input", "detail": why_unusable(error)}
    return {"id": item.get("id") if isinstance(item, dict) else None, **output}
