"""`selfcorrect explain`: why a map decides what it decides."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer
from rich.text import Text

from selfcorrect.cli.screen import console, refuse, row, short
from selfcorrect.errors import MapError
from selfcorrect.evidence import interpreted, read_report
from selfcorrect.mapping.loading import load_map
from selfcorrect.mapping.strategy_map import Explanation, StrategyMap
from selfcorrect.model import Finding, Source


def explain(
    name: Annotated[str, typer.Argument(metavar="MAP", help="Name of a map, or path of a file.")],
    text: Annotated[str, typer.Argument(help="What the error says.")],
    status: Annotated[
        str | None, typer.Option(metavar="N", help="HTTP status, SQLSTATE or gRPC code.")
    ] = None,
    exception: Annotated[
        str | None, typer.Option(metavar="T", help="Dotted class name of the exception.")
    ] = None,
    tool: Annotated[str | None, typer.Option(metavar="NAME", help="The tool that failed.")] = None,
    allow_code: Annotated[
        bool, typer.Option("--allow-code", help="Run the Python that the map names in [use].")
    ] = False,
) -> None:
    """Show the evidence, the rule that decides, and why each earlier rule does not."""
    try:
        strategies = load_map(name) if allow_code else StrategyMap.read(name)
    except MapError as error:
        refuse(str(error))
    known = int(status) if status is not None and status.isdecimal() else status
    findings = read_report(text, exception=exception, status=known, tool=tool)
    screen = console()
    decided = True
    for finding in findings:
        explanation = strategies.explain(finding, tool)
        heard = interpreted(finding, strategies, tool, None)
        if heard.witness is Source.MODEL:
            explanation = replace(explanation, finding=heard)
        for line in told(finding, explanation):
            screen.print(line)
        for rung in explanation.finding.ladder:
            if rung in strategies.unchecked:
                what = "its Python is not run without --allow-code"
                screen.print(row("unchecked", (rung, "bold"), f"  {what}"))
        decided = decided and explanation.finding.rule is not None
    raise typer.Exit(0 if decided else 1)


def told(evidence: Finding, explanation: Explanation) -> list[Text]:
    """The lines that tell one explanation: evidence, decision, and the rules before it."""
    finding = explanation.finding
    facts = {
        "text": evidence.text,
        "types": list(evidence.types),
        "status": evidence.status,
        "code": evidence.code,
        "paths": list(evidence.paths),
        "constraint": dict(evidence.constraint),
    }
    shown = ((key, value) for key, value in facts.items() if value not in (None, [], {}))
    lines = [row("evidence", (f"{key} ", "bold"), short(value, 200)) for key, value in shown]
    lines.append(
        row("rule", (finding.rule, "bold green"))
        if finding.rule
        else row("rule", ("none matches", "bold yellow"))
    )
    lines.append(row("kind", finding.kind.value))
    lines.append(row("category", finding.category.value))
    lines.append(row("sure", f"{finding.confidence:.2f}", f"  by {finding.witness.value}"))
    if finding.spoke:
        words = ", ".join(f"{short(word, 40)} {weight:+.2f}" for word, weight in finding.spoke)
        lines.append(row("spoke", words))
    if finding.captures:
        lines.append(row("captures", short(dict(finding.captures), 200)))
    if finding.rule:
        lines.append(row("ladder", " → ".join(finding.ladder) or "nothing"))
    lines += [row("also", rule) for rule in explanation.matches[1:]]
    lines += [
        row("not", (missed.rule, "bold"), f"  {missed.condition}") for missed in explanation.missed
    ]
    return lines
