"""`selfcorrect diagnose`: what recorded errors mean, and what the map would try."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer

from selfcorrect.cli import lines
from selfcorrect.cli.screen import clip, listed, refuse
from selfcorrect.errors import MapError
from selfcorrect.evidence import interpreted, read_report
from selfcorrect.loop.progress import is_retryable
from selfcorrect.mapping.loading import load_map
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import Finding

GIVEN: Final = {
    "id": "what the answer is known by, if anything",
    "message": "what the error says; must be given",
    "status": "HTTP status, SQLSTATE, gRPC code or exit code",
    "exception": "dotted name of the exception's class",
    "tool": "the tool that failed",
    "schema": "the JSON Schema of its arguments",
    "arguments": "those that it was called with",
}
"""The keys of a line that is read."""
ANSWERED: Final = {
    "id": "the line's own",
    "kind": "what may help: validation, transient, rate_limit, auth …",
    "category": "what is wrong with the input: missing_param, enum, range …",
    "params": "the arguments at fault",
    "constraint": "what was violated, in words of JSON Schema, or null",
    "retryable": "whether the same call may succeed when it is repeated",
    "retry_after_s": "seconds that the error asks to wait, or null",
    "rule": "the rule of the map that decided",
    "ladder": "the strategies that it would try, in order",
    "error": "why the line has no answer, in place of all this",
}
"""The keys of a line that is written."""
HELP: Final = "\n\n".join(
    (listed("A line of IN is an object in JSON:", GIVEN), listed("A line of OUT:", ANSWERED))
)
"""What `--help` says of the lines."""


def diagnose(
    jsonl: Annotated[str, typer.Option(metavar="IN", help="Errors, one per line; - is stdin.")],
    out: Annotated[str, typer.Option(metavar="OUT", help="Answers, in order; - is stdout.")],
    strategies: Annotated[
        str | None, typer.Option(metavar="NAME|PATH", help="Another error-strategy map.")
    ] = None,
) -> None:
    """Say of recorded errors what they mean: one answer per line, in order."""
    try:
        policy = load_map(strategies)
    except MapError as error:
        refuse(str(error))
    all_done = True
    with lines.reader(jsonl) as given, lines.writer(out, jsonl) as stream:
        for line in given:
            answer = answered(line, policy)
            lines.write(stream, answer)
            all_done = all_done and "error" not in answer
    raise typer.Exit(0 if all_done else 1)


def answered(line: lines.Line, policy: StrategyMap) -> dict[str, Any]:
    """The answer to one line; whatever is wrong with it becomes an answer too."""
    given = line.value if isinstance(line.value, Mapping) else {}
    answer: dict[str, Any] = {"id": given.get("id")}
    if line.error is not None:
        return answer | {"error": line.error}
    wrong = _wrong(line.value)
    if wrong is not None:
        return answer | {"error": f"{line.where}: {wrong}"}
    try:
        return answer | _told(_findings(given, policy), policy)
    except Exception as error:  # one bad line never stops the others
        return answer | {"error": clip(f"{line.where}: {type(error).__name__}: {error}")}


def _wrong(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return "a line is an object"
    if not isinstance(value.get("message"), str):
        return "message is a text"
    status = value.get("status")
    if status is not None and (isinstance(status, bool) or not isinstance(status, int | str)):
        return "status is a number or a text"
    for key in ("tool", "exception"):
        if not isinstance(value.get(key), str | None):
            return f"{key} is a text"
    if not isinstance(value.get("schema"), Mapping | None):
        return "schema is an object"
    return None


def _findings(given: Mapping[str, Any], policy: StrategyMap) -> list[Finding]:
    tool, schema, arguments = (given.get(key) for key in ("tool", "schema", "arguments"))
    found = read_report(
        given["message"],
        exception=given.get("exception"),
        status=given.get("status"),
        schema=schema,
        arguments=arguments,
        tool=tool,
    )
    return [interpreted(finding, policy, tool, arguments, schema) for finding in found]


def _told(findings: list[Finding], policy: StrategyMap) -> dict[str, Any]:
    """The first finding decides; the parameters are those of all."""
    first = findings[0]
    return {
        "kind": first.kind.value,
        "category": first.category.value,
        "params": list(dict.fromkeys(name for finding in findings for name in finding.params)),
        "constraint": dict(first.constraint) or None,
        "confidence": first.confidence,
        "witness": first.witness.value,
        "retryable": is_retryable(first, policy),
        "retry_after_s": first.retry_after,
        "rule": first.rule,
        "ladder": list(first.ladder),
    }
