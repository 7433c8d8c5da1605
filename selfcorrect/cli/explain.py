"""`selfcorrect explain`: why a map decides what it decides, and the kernel what it allows."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated, Final

import typer
from rich.text import Text

from selfcorrect.batch.lines import clip
from selfcorrect.cli.screen import console, counted, refuse, row, short, show
from selfcorrect.evidence import ErrorReport, decide, read
from selfcorrect.kernel.texts import visible
from selfcorrect.mapping.explanation import Explanation
from selfcorrect.mapping.loading import load_map
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import Call, Finding, Source

_MOST: Final = 14
"""Lines that tell a finding, and one more for the rest."""
_STATUS: Final = re.compile(r"-?[0-9]{1,6}|[0-9A-Z]{5}|[A-Z]+(?:_[A-Z]+)*")


def explain(
    name: Annotated[
        str | None, typer.Argument(metavar="MAP", help="Name of a map, or path of a file.")
    ] = None,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="What the error says.")] = None,
    status: Annotated[
        str | None, typer.Option(metavar="N", help="HTTP status, SQLSTATE, gRPC code or exit code.")
    ] = None,
    exception: Annotated[
        str | None, typer.Option(metavar="T", help="Dotted class name of the exception.")
    ] = None,
    tool: Annotated[str | None, typer.Option(metavar="NAME", help="The tool that failed.")] = None,
    allow_code: Annotated[
        bool, typer.Option("--allow-code", help="Run the Python that the map names in [use].")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Also each rule before it, and why it does not decide.")
    ] = False,
    change: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="WRITTEN RUNS", help="Instead: two calls as JSON, one written, one to run."
        ),
    ] = None,
    tools: Annotated[
        str | None, typer.Option(metavar="FILE", help="For --change: the tools, as a JSON list.")
    ] = None,
    effect: Annotated[
        str | None, typer.Option(metavar="E", help="For --change: the effect of these tools.")
    ] = None,
) -> None:
    """Show which rule decides about an error; or the safety class of a change, and why."""
    if change is not None:
        from selfcorrect.cli.change import tell_change

        if name is not None:
            refuse("--change takes two calls and no MAP")
        raise typer.Exit(0 if tell_change(*change, tools, effect) else 1)
    name, text = _given(name, text, status)
    strategies = load_map(name) if allow_code else StrategyMap.read(name)
    known = int(status) if status is not None and status.isdecimal() else status
    recorded = ErrorReport(text, exception, known)
    reading = read(recorded, Call(tool or ""), bodies=strategies.bodies)
    screen = console()
    decided = True
    for finding, heard in zip(reading.findings, decide(reading, strategies, "any"), strict=True):
        explanation = strategies.explain(finding, tool)
        if heard.witness is Source.MODEL:
            explanation = replace(explanation, finding=heard)
        lines = told(finding, explanation, strategies)
        rest = missed(explanation)
        if not everything:
            lines, rest = lines[:_MOST], _counted(explanation)
        for line in (*lines, *rest):
            show(screen, line)
        for rung in explanation.finding.ladder:
            if rung in strategies.unchecked:
                what = "its Python is not run without --allow-code"
                screen.print(row("unchecked", (rung, "bold"), f"  {what}"))
        decided = decided and explanation.finding.rule is not None
    raise typer.Exit(0 if decided else 1)


def _given(name: str | None, text: str | None, status: str | None) -> tuple[str, str]:
    """Map and text, which are both there."""
    if name is None or text is None:
        refuse("give MAP and TEXT, or --change WRITTEN RUNS with --tools FILE")
    if not text.strip():
        refuse("TEXT is empty: give what the error says")
    if status is not None and not _STATUS.fullmatch(status):
        refuse(f"--status {status}: an HTTP status (429), an SQLSTATE (23505) or a gRPC code")
    return name, text


def told(evidence: Finding, explanation: Explanation, strategies: StrategyMap) -> list[Text]:
    """The lines that tell one explanation: decision, what matched, and the evidence."""
    finding = explanation.finding
    lines = [
        row("rule", (finding.rule, "bold green"), *_where(finding.rule, strategies))
        if finding.rule
        else row("rule", ("none matches", "bold yellow"))
    ]
    lines += _matched(evidence, finding, strategies)
    lines.append(row("kind", finding.kind.value))
    lines.append(row("category", finding.category.value))
    lines.append(row("sure", f"{finding.confidence:.2f}", f"  by {finding.witness.value}"))
    if finding.spoke:
        words = ", ".join(f"{short(word, 40)} {weight:+.2f}" for word, weight in finding.spoke)
        lines.append(row("spoke", words))
    if finding.retry_after is not None:
        lines.append(row("wait", f"{finding.retry_after:g} s"))
    if finding.captures:
        lines.append(row("captures", short(dict(finding.captures), 200)))
    if finding.rule:
        lines.append(row("ladder", " → ".join(finding.ladder) or "nothing"))
    facts = {
        "types": list(evidence.types),
        "status": evidence.status,
        "code": evidence.code,
        "paths": list(evidence.paths),
        "constraint": dict(evidence.constraint),
    }
    shown = ((key, value) for key, value in facts.items() if value not in (None, [], {}))
    return lines + [row("evidence", (f"{key} ", "bold"), short(value, 200)) for key, value in shown]


def missed(explanation: Explanation) -> list[Text]:
    """The other rules that match, and those before the winner, each with what does not hold."""
    also = [row("also", rule) for rule in explanation.matches[1:]]
    return also + [
        row("not", (each.rule, "bold"), f"  {each.condition}") for each in explanation.missed
    ]


def _counted(explanation: Explanation) -> list[Text]:
    also, before = len(explanation.matches[1:]), len(explanation.missed)
    if not also and not before:
        return []
    rules = counted(also, "rule")
    return [row("more", (f"{rules} match as well, {before} before it do not: --all", "dim"))]


def _where(rule: str, strategies: StrategyMap) -> list[str]:
    place = strategies.source(rule)
    return [] if place is None else [f"  {place[0]}:{place[1]}"]


def _matched(evidence: Finding, finding: Finding, strategies: StrategyMap) -> list[Text]:
    """The pattern of the rule, and the text with what it found in brackets."""
    from selfcorrect.notebook.marked import marked

    rule = strategies.rule(finding.rule)
    pattern = rule.match if rule is not None else None
    pieces = marked(evidence.text, pattern, finding.captures)["pieces"]
    text = row("text")
    for index, (piece, mark) in enumerate(pieces):
        if mark and (index == 0 or not pieces[index - 1][1]):
            text.append("⟦", "bold green")
        text.append(clip(visible(piece), 200), "bold underline" if mark else "not dim")
        if mark and (index + 1 == len(pieces) or not pieces[index + 1][1]):
            text.append("⟧", "bold green")
    return [*([row("pattern", short(pattern, 200))] if pattern else []), text]
