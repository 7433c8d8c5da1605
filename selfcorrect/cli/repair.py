"""The command `repair`: repairs calls of a JSON Lines file, and executes nothing."""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from selfcorrect.cli.lines import UNUSABLE, write_lines
from selfcorrect.cli.screen import InputError
from selfcorrect.mender import Mender, Mending
from selfcorrect.model import JSON, JsonDict, JsonObject, change_json

_SHOWN = ("path", "before", "after", "strategy", "rule", "safety")
_MENDERS = 64
"""How many sets of tools stay ready; a file often has the same few in turn."""


def repair_lines(options: argparse.Namespace) -> int:
    """Write a line for each call that is read."""
    chosen: Any = {"strategies": options.strategies} if options.strategies else {}
    outcomes = Counter[str]()

    @lru_cache(maxsize=_MENDERS)
    def mender_of(tools: str) -> Mender:
        offered: dict[str, JsonObject] = {}
        for tool in json.loads(tools):
            # Of two tools of one name nobody can say which is meant: the first one is.
            name = tool.get("name") or (tool.get("function") or {}).get("name")
            offered.setdefault(str(name), tool)
        return Mender(offered.values(), **chosen)

    def repair(line: str) -> JsonDict:
        output = _repair(line, mender_of)
        outcomes[output["outcome"]] += 1
        return output

    write_lines(options, repair)
    return 1 if outcomes["ask"] + outcomes["failed"] else 0


def _repair(line: str, mender_of: Callable[[str], Mender]) -> JsonDict:
    item: Any = {}
    try:
        item = json.loads(line)
        call = _call_in(item)
        mender = mender_of(json.dumps(item["tools"]))
        beside = {key: item[key] for key in ("request", "finish_reason") if item.get(key)}
        return {"id": item.get("id"), **_result(mender.call(call, **beside))}
    except UNUSABLE as error:
        about = item.get("id") if isinstance(item, Mapping) else None
        empty = {"calls": [], "changes": [], "model_calls": 0}
        reason = {"reason": "invalid_input", "detail": str(error)[:500]}
        return {"id": about, "outcome": "failed", **empty, **reason}


def _call_in(item: Any) -> JSON:
    if not isinstance(item, Mapping) or not isinstance(item.get("tools"), list):
        raise InputError('a line must be an object with "tools" (a list), and "raw" or "call"')
    for name in ("call", "raw"):
        if item.get(name) is not None:
            return item[name]
    raise InputError('"raw" or "call" is missing')


def _result(mending: Mending) -> JsonDict:
    changes = map(change_json, mending.changes)
    output: JsonDict = {
        "outcome": mending.outcome,
        "calls": [{"name": call.name, "arguments": call.args} for call in mending.ready],
        "changes": [{key: change.get(key) for key in _SHOWN} for change in changes],
        "model_calls": mending.cost.get("model_calls", 0),
    }
    if mending.reason is not None:
        output |= {"reason": mending.reason, "detail": mending.detail}
    return output
