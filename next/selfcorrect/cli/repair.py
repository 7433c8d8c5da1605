"""The command `repair`: repairs calls of a JSON Lines file, and executes nothing."""

import argparse
import json
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from selfcorrect.cli.screen import InputError
from selfcorrect.errors import SelfCorrectError
from selfcorrect.mender import Mender, Mending
from selfcorrect.model import ABSENT, JSON, Change, JsonDict, JsonObject

_MENDERS = 64
"""How many sets of tools stay ready; a file often has the same few in turn."""


def repair(options: argparse.Namespace) -> int:
    """Write a line for each line that is read, in order, in constant memory."""
    menders = lru_cache(maxsize=_MENDERS)(_Menders(options.strategies))
    failed = 0
    with ExitStack() as files:
        out = _open(options.out, "w", files)
        for line in _open(options.jsonl, "r", files):
            if line.strip():
                answer = _answer(line, menders)
                failed += answer["outcome"] in ("ask", "failed")
                print(json.dumps(answer), file=out, flush=out is sys.stdout)
    return 1 if failed else 0


class _Menders:
    """Makes the mender of a set of tools, written as JSON."""

    def __init__(self, strategies: str | None) -> None:
        self._options: Any = {"strategies": strategies} if strategies else {}

    def __call__(self, tools: str) -> Mender:
        offered: dict[str, JsonObject] = {}
        for tool in json.loads(tools):
            # Of two tools of one name nobody can say which is meant: the first one is.
            name = tool.get("name") or (tool.get("function") or {}).get("name")
            offered.setdefault(str(name), tool)
        return Mender(offered.values(), **self._options)


def _answer(line: str, menders: Any) -> JsonDict:
    item: Any = {}
    try:
        item = json.loads(line)
        given = _given(item)
        mender = menders(json.dumps(item["tools"]))
        beside = {key: item[key] for key in ("request", "finish_reason") if item.get(key)}
        return {"id": item.get("id"), **_result(mender.call(given, **beside))}
    except (ValueError, RecursionError, SelfCorrectError) as error:
        about = item.get("id") if isinstance(item, Mapping) else None
        empty = {"calls": [], "changes": [], "model_calls": 0}
        reason = {"reason": "invalid_input", "detail": str(error)[:500]}
        return {"id": about, "outcome": "failed", **empty, **reason}


def _given(item: Any) -> JSON:
    if not isinstance(item, Mapping) or not isinstance(item.get("tools"), list):
        raise InputError('a line must be an object with "tools" (a list), and "raw" or "call"')
    given = item.get("call") if item.get("call") is not None else item.get("raw")
    if given is None:
        raise InputError('"raw" or "call" is missing')
    return given


def _result(mending: Mending) -> JsonDict:
    reports = [each.failure for each in mending.calls if each.failure]
    answer: JsonDict = {
        "outcome": mending.outcome,
        "calls": [{"name": each.name, "arguments": each.args} for each in mending.ready],
        "changes": [_change(each) for each in mending.changes],
        "model_calls": sum(each.get("counts", {}).get("model_calls", 0) for each in reports),
    }
    if mending.reason is not None:
        answer |= {"reason": mending.reason, "detail": mending.detail}
    return answer


def _change(change: Change) -> JsonDict:
    values = {"path": change.path, "before": change.before, "after": change.after}
    values = {key: None if item is ABSENT else item for key, item in values.items()}
    return values | {
        "strategy": change.strategy,
        "rule": change.rule,
        "safety": change.safety.value,
    }


def _open(name: str, mode: str, files: ExitStack) -> IO[str]:
    if name == "-":
        return sys.stdin if mode == "r" else sys.stdout
    # Half a character in a line must not end the file.
    return files.enter_context(Path(name).open(mode, encoding="utf-8", errors="surrogatepass"))
