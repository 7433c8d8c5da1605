"""The commands `diagnose` and `explain`: what recorded errors are, and what is done about them."""

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from selfcorrect.cli.batch import run_batch
from selfcorrect.cli.maps import chosen_map
from selfcorrect.cli.screen import InputError, say_lines
from selfcorrect.diagnosis.facts import recorded_finding
from selfcorrect.drawing.recorded import shown
from selfcorrect.drawing.text import align
from selfcorrect.model import RETRYABLE, Finding, JsonDict, name_place
from selfcorrect.nodes.diagnose import diagnose_faults
from selfcorrect.strategy_map.strategy_map import StrategyMap


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
    return _line_of(findings)


def explain_error(options: argparse.Namespace) -> int:
    """Show what a map makes of an error."""
    finding = recorded_finding(options.text, options.exception, options.status, options.code)
    say_lines(explain(chosen_map(options.map), finding, options.tool))
    return 0


def explain(loaded: StrategyMap, finding: Finding, tool: str | None = None) -> str:
    """Return the diagnosis of an error by a map, and all rules that match, one fact a line."""
    findings = diagnose_faults(loaded, finding, tool)
    facts = {
        **_line_of(findings),
        "captures": findings[0]["captures"],
        "matches": [placed.key for placed in loaded.matches(finding, tool)],
    }
    return align((name, shown(fact)) for name, fact in facts.items())


def _line_of(findings: Sequence[Finding]) -> JsonDict:
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
