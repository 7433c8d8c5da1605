"""Breaks Python libraries on purpose: `python python_libraries.py breaks/python.toml OUT.jsonl`.

Each block runs in a process of its own; what cannot be imported is left out and listed.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import sys
import tomllib
from pathlib import Path
from typing import Any

from rows import Rows

SECONDS = 40


def name_of(error: BaseException) -> str:
    kind = type(error)
    return (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )


def said(block: dict[str, Any], send: Any) -> None:
    """What each case of one block raised: class and text, or None."""
    scope: dict[str, Any] = {}
    answers: list[Any] = []
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            exec(block["setup"], scope)
        except BaseException as error:
            send.send(f"{name_of(error)}: {error}"[:120])
            return
        for case in block["cases"]:
            try:
                eval(block["run"], scope | case[1] | {"args": case[1]})
                answers.append(None)
            except BaseException as error:
                answers.append((name_of(error), str(error)))
    send.send(answers)


def main(source: str, out: str) -> None:
    rows = Rows(out)
    for system, block in tomllib.loads(Path(source).read_text("utf-8")).items():
        receive, send = multiprocessing.Pipe(duplex=False)
        child = multiprocessing.get_context("fork").Process(target=said, args=(block, send))
        child.start()
        answers = receive.recv() if receive.poll(SECONDS) else "did not end"
        child.kill()
        if isinstance(answers, str):
            rows.left_out(system, "all", answers)
            continue
        for case, answer in zip(block["cases"], answers, strict=True):
            if answer is None or not answer[1].strip():
                rows.left_out(system, case[1], "did not fail" if answer is None else "said nothing")
                continue
            params = case[2] if len(case) > 2 else list(case[1])
            rows.add(
                block.get("system", system),
                case[0],
                answer[1],
                case[1],
                params,
                exception=answer[0],
            )
    rows.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
