"""The command `diagnose`: says of recorded errors what they are."""

import argparse
import json
from collections.abc import Mapping
from typing import Any

from selfcorrect.cli.lines import write_lines
from selfcorrect.cli.screen import InputError
from selfcorrect.diagnosis.facts import recorded_finding
from selfcorrect.model import RETRYABLE, JsonDict, name_place
from selfcorrect.nodes.diagnose import diagnose_faults
from selfcorrect.strategy_map.strategy_map import StrategyMap, load_default


def diagnose_lines(options: argparse.Namespace) -> int:
    """Write a line for each error that is read."""
    chosen = options.strategies
    strategies = StrategyMap.load(chosen) if chosen else load_default()
    failed = write_lines(options, lambda line: diagnosis_line(json.loads(line), strategies))
    return 2 if failed else 0


def diagnosis_line(record: object, strategies: StrategyMap) -> JsonDict:
    """Return the diagnosis of a recorded error.

    Raises:
        InputError: If the record is unusable.
    """
    if not isinstance(record, Mapping):
        raise InputError("a line must be an object")
    if not isinstance(record.get("message"), str):
        raise InputError('"message" is missing (it must be a string)')
    facts = map(record.get, ("exception", "status", "code"))
    finding = recorded_finding(record["message"], *facts)
    schema, args = record.get("schema"), record.get("arguments")
    schema = schema if isinstance(schema, Mapping) else None
    findings = diagnose_faults(strategies, finding, record.get("tool"), args=args, schema=schema)
    first: Any = findings[0]
    paths = [name_place(path) for finding in findings for path in finding["paths"]]
    return {
        "id": record.get("id"),
        **{name: first[name] for name in _SHOWN},
        "params": list(dict.fromkeys(paths)),
        "constraint": first["constraint"] or None,
        "retryable": first["kind"] in RETRYABLE,
        "retry_after_s": first["retry_after"],
    }


_SHOWN = ("kind", "category", "rule", "ladder", "confidence", "witness")
