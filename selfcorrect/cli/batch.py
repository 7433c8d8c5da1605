"""Runs a command over a file of JSON Lines: a line out for each line in, in order."""

import argparse
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import islice
from multiprocessing import parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from selfcorrect.cli.lines import UNUSABLE, open_file, read_lines, why_unusable
from selfcorrect.cli.screen import InputError, say
from selfcorrect.model import JsonDict, JsonObject

Make = Callable[[JsonDict], JsonDict]
"""Makes what is written of an object that is read; a function of a module: processes import it."""
_BLOCK = 128
"""Lines that each process gets before more are read: memory stays constant."""
_CHUNK = 8


def run_batch(options: argparse.Namespace, make: Make, empty: JsonObject) -> Counter[str | None]:
    """Write a line for each line that is read; name those that are unusable.

    With `--resume` the lines that the output holds already are kept, and the rest follows:
    whenever a batch was killed, its output becomes what it would have been.

    Args:
        options: The arguments `jsonl`, `out`, `processes` and `resume`.
        make: Makes the output of a line; `id` is added to it.
        empty: What the output of an unusable line holds beside its reason.

    Returns:
        How many lines have each `outcome`; of an unusable line without one, its `reason`.
    """
    counts = Counter[str | None]()
    lines = read_lines(options.jsonl)
    with ExitStack() as stack:
        for output in _whole_lines(options.out) if options.resume else ():
            if next(lines, None) is None:
                raise InputError(f"{options.out} has more lines than {options.jsonl}")
            counts[_outcome_of(output)] += 1
        out = open_file(options.out, "a" if options.resume else "w", stack)
        make_all = _runner(partial(_make_line, make, empty), options.processes, stack)
        while block := [*islice(lines, _BLOCK * max(1, options.processes))]:
            for output, (_, place) in zip(make_all(line for line, _ in block), block, strict=True):
                print(json.dumps(output), file=out, flush=out is sys.stdout)
                counts[_outcome_of(output)] += 1
                if output.get("reason") == "invalid_input":
                    say(f"{place}: {output['detail']}", stderr=True)
            if sys.stderr.isatty():
                print(f"\r{counts.total()} lines", end="", file=sys.stderr, flush=True)
    return counts


def _outcome_of(output: JsonObject) -> str | None:
    return output.get("outcome") or output.get("reason")


def _whole_lines(name: str) -> Iterator[JsonObject]:
    """Yield the lines of an output; what a killed process has written of one more is cut off."""
    if name == "-":
        raise InputError("--resume needs a file: give it by --out")
    with Path(name).open("a+b") as file:
        file.seek(0)
        size = 0
        for line in file:
            if line.endswith(b"\n"):
                size += len(line)
                yield json.loads(line)
        file.truncate(size)


def _make_line(make: Make, empty: JsonObject, line: str) -> JsonDict:
    item: Any = None
    try:
        item = json.loads(line)
        if not isinstance(item, dict):
            raise InputError("a line must be an object")
        return {"id": item.get("id"), **make(item)}
    except UNUSABLE as error:
        about = item.get("id") if isinstance(item, dict) else None
        return {"id": about, **empty, "reason": "invalid_input", "detail": why_unusable(error)}


def _runner(make_line: Callable[[str], JsonDict], processes: int, stack: ExitStack) -> Any:
    """Return what makes the outputs of several lines, in order."""
    if processes < 2:
        return partial(map, make_line)
    pool = stack.enter_context(ProcessPoolExecutor(processes, initializer=_follow_parent))
    return partial(pool.map, make_line, chunksize=_CHUNK)


def _follow_parent() -> None:
    """Have this process end with its parent, however that ends."""
    # Ctrl-C reaches every process, and only the parent has something to say of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent: Any = parent_process()
    parent.join()
    os._exit(1)
