"""The command `repair`: repairs calls of a JSON Lines file, and executes nothing."""

import argparse
import json
from functools import lru_cache, partial

from selfcorrect.cli.batch import run_batch
from selfcorrect.cli.maps import chosen_map
from selfcorrect.cli.screen import InputError
from selfcorrect.mender import Mender, Mending
from selfcorrect.model import JSON, JsonDict, JsonObject, change_json

_SHOWN = ("path", "before", "after", "strategy", "rule", "safety")


def repair_lines(options: argparse.Namespace) -> int:
    """Write a line for each call that is read."""
    # A map that cannot be used is no fault of a line.
    chosen_map(options.strategies)
    empty: JsonDict = {"outcome": "failed", "calls": [], "changes": [], "model_calls": 0}
    outcomes = run_batch(options, partial(_repair, options.strategies), empty)
    return 1 if outcomes["ask"] + outcomes["failed"] else 0


def _repair(strategies: str | None, item: JsonDict) -> JsonDict:
    call = _call_in(item)
    mender = _mender_of(strategies, json.dumps(item["tools"]))
    beside = {key: item[key] for key in ("request", "finish_reason") if item.get(key)}
    return _result(mender.call(call, **beside))


@lru_cache(maxsize=64)
def _mender_of(strategies: str | None, tools: str) -> Mender:
    """Return a Mender of tools; a file often has the same few in turn."""
    offered: dict[str, JsonObject] = {}
    for tool in json.loads(tools):
        # Of two tools of one name nobody can say which is meant: the first one is.
        name = tool.get("name") or (tool.get("function") or {}).get("name")
        offered.setdefault(str(name), tool)
    return Mender(offered.values(), strategies=chosen_map(strategies))


def _call_in(item: JsonDict) -> JSON:
    if not isinstance(item.get("tools"), list):
        raise InputError('"tools" is missing (it must be a list)')
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
