"""The command `audit`: what would have become of the calls of a log; nothing is executed."""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from selfcorrect.cli.lines import take_lines
from selfcorrect.cli.maps import chosen_map
from selfcorrect.cli.screen import InputError, say, say_lines
from selfcorrect.diagnosis.facts import recorded_finding
from selfcorrect.drawing.html import document, table
from selfcorrect.drawing.text import align
from selfcorrect.effects import Outcome
from selfcorrect.effects.equal import canonical
from selfcorrect.mender import Mender
from selfcorrect.model import JSON, JsonObject, frozen
from selfcorrect.nodes.diagnose import diagnose_faults
from selfcorrect.reading.call_object import strict_json
from selfcorrect.strategy_map.strategy_map import StrategyMap
from selfcorrect.threads.past_calls import past_calls


@frozen
class LoggedCall:
    """A call of a log.

    Attributes:
        run: What the calls of one run share.
        name: The tool, as the model wrote it.
        args: The arguments, or the text in their place.
        error: What the tool, or its caller, said; None for a call that ended well.
    """

    run: str
    name: str
    args: JSON
    error: str | None


def audit(options: argparse.Namespace) -> int:
    """Count what would have become of the calls that failed; write a page where one is wanted."""
    tools: dict[str, JsonObject] = {}
    calls: list[LoggedCall] = []

    def take(line: str) -> None:
        record = json.loads(line)
        calls.extend(_read_calls(record, f"line {len(calls)}"))
        for tool in _read_tools(record):
            tools[str(tool.get("name") or tool["function"]["name"])] = tool

    failed = take_lines(options.calls, take)
    if not calls:
        raise InputError(f"{options.calls}: there is no call in it")
    counts = count_calls(calls, tools, chosen_map(options.strategies))
    rows = [[name, str(number)] for name, number in counts.items()]
    say_lines(align(rows))
    if options.html:
        Path(options.html).write_text(document("Audit", table((), rows)), "utf-8")
        say(f"Written: {options.html}")
    return 1 if failed else 0


def _read_calls(record: JsonObject, run: str) -> Iterator[LoggedCall]:
    """Yield the calls of a line, which is a call or a chat with its answers.

    Args:
        record: The line.
        run: What the calls share where the line names no run.
    """
    if "messages" in record:
        own = str(record.get("id") or run)
        for past in past_calls(record["messages"]):
            # Without an answer nobody knows what became of it.
            if past.error is not None or past.outcome is Outcome.DONE:
                yield LoggedCall(own, past.name, past.args, past.error)
        return
    own, args = str(record.get("task_id") or run), record["arguments"]
    args = strict_json(args) if isinstance(args, str) else args
    yield LoggedCall(own, record["tool"], args, record.get("error"))


def _read_tools(record: JsonObject) -> Iterator[JsonObject]:
    """Yield the schemas of tools that a line holds."""
    yield from record.get("tools") or ()
    if "schema" in record:
        effect = record.get("effect")
        yield {"name": record["tool"], "parameters": record["schema"], "effect": effect}


def count_calls(
    calls: list[LoggedCall], tools: dict[str, JsonObject], rules: StrategyMap
) -> Counter[str]:
    """Return what would have become of the calls, counted, with kinds and strategies behind it."""
    mender = Mender(tools.values(), strategies=rules)
    counts = Counter({**dict.fromkeys(_COUNTED, 0), "calls": len(calls)})
    later: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    # What ended well behind a call is known before the call is looked at.
    for call in reversed(calls):
        if call.error is None:
            later[call.run, call.name].add(canonical(call.args))
            continue
        finding = recorded_finding(call.error)
        kind = diagnose_faults(rules, finding, call.name, args=call.args)[0]["kind"]
        mending = mender.call({"name": call.name, "args": call.args})
        counts.update(["failed", _OUTCOMES[mending.outcome], f"kind: {kind}"])
        if mending.outcome == "repaired":
            counts.update(f"mended by: {change.strategy}" for change in mending.changes)
            (ready,) = mending.ready
            counts[_CONFIRMED] += canonical(ready.args) in later[call.run, ready.name]
    return counts


_CONFIRMED = "mended as the run itself did later"
_REPORTED = "told to the model, with a diagnosis"
_OUTCOMES = {
    "repaired": "mended without a model",
    "ask": "asked of a person",
    "valid": _REPORTED,
    "failed": _REPORTED,
}
_COUNTED = ("calls", "failed", _OUTCOMES["repaired"], _CONFIRMED, _OUTCOMES["ask"], _REPORTED)
"""In the order in which they are shown."""
