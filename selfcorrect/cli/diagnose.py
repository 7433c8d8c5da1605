"""The command `diagnose`: says of recorded errors what they are."""

import argparse
from collections.abc import Mapping
from functools import partial
from typing import Any

from selfcorrect.cli.batch import run_batch
from selfcorrect.cli.maps import chosen_map
from selfcorrect.cli.screen import InputError
from selfcorrect.diagnosis.facts import recorded_finding
from selfcorrect.model import RETRYABLE, JsonDict, name_place
from selfcorrect.nodes.diagnose import diagnose_faults


def diagnose_lines(options: argparse.Namespace) -> int:
    """Write a line for each error that is read."""
    # A map that cannot be used is no fault of a line.
    chosen_map(options.strategies)
    counts = run_batch(options, partial(diagnosis_line, options.strategies), {})
    return 2 if counts["invalid_input"] else 0


def diagnosis_line(strategies: str | None, record: JsonDict) -> JsonDict:
    """Return the diagnosis of a recorded error.

    Raises:
        InputError: If the record is unusable.
    """
    if not isinstance(record.get("message"), str):
        raise InputError('"message" is missing (it must be a string)')
    facts = map(record.get, ("exception", "status", "code"))
    finding = recorded_finding(record["message"], *facts)
    schema, args = record.get("schema"), record.get("arguments")
    schema = schema if isinstance(schema, Mapping) else None
    findings = diagnose_faults(
        chosen_map(strategies), finding, record.get("tool"), args=args, schema=schema
    )
    first: Any = findings[0]
    paths = [name_place(path) for finding in findings for path in finding["paths"]]
    return {
        **{name: first[name] for name in _SHOWN},
        "params": list(dict.fromkeys(paths)),
        "constraint": first["constraint"] or None,
        "retryable": first["kind"] in RETRYABLE,
        "retry_after_s": first["retry_after"],
    }


_SHOWN = ("kind", "category", "rule", "ladder", "confidence", "witness")
