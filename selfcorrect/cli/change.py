"""`selfcorrect explain --change`: what the kernel says of running one call for another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from selfcorrect.batch.lines import parse
from selfcorrect.cli.recorded import from_tools
from selfcorrect.cli.screen import console, refuse, row, show
from selfcorrect.kernel.changes import judge
from selfcorrect.kernel.verdicts import LAWS, Reason, Step, worst
from selfcorrect.model import Call
from selfcorrect.plain import loaded
from selfcorrect.policies.safety import DEFAULT_ALLOW
from selfcorrect.schema.slots import slots_of
from selfcorrect.tools import ToolSpec
from selfcorrect.tools.collection import tool_specs


def tell_change(written: str, runs: str, tools: str | None, effect: str | None) -> bool:
    """Print the class of a change and its reasons; whether it may run unasked by default."""
    before, after = _call("WRITTEN", written), _call("RUNS", runs)
    if after.raw is not None:
        refuse("RUNS: args must be an object; a text does not run")
    offered = _tools(tools, effect)
    if (tool := offered.get(after.name)) is None:
        refuse(f"RUNS: there is no tool {after.name!r} in {tools}")
    reasons = [
        reason
        for one, other in _steps(before, after)
        for reason in judge(
            Step(
                one,
                other,
                slots_of(tool.schema),
                offered,
                tool.effect,
                offers=lambda name: slots_of(offered[name].schema),
                takes=lambda: [name for name, each in offered.items() if each.is_valid(after.args)],
            )
        ).reasons
    ]
    safety = worst(reason.safety for reason in reasons)
    is_free = safety in DEFAULT_ALLOW
    screen = console()
    told = "runs unasked by default" if is_free else "does not run unasked by default"
    screen.print(
        row("class", (safety.value, "bold green" if is_free else "bold yellow"), f"  {told}")
    )
    screen.print(row("effect", tool.effect))
    for reason in reasons:
        show(screen, _told(reason))
    for finding in tool.violations(after.args):
        show(screen, row("invalid", (finding.text, "yellow")))
    return is_free


def _steps(written: Call, runs: Call) -> Iterator[tuple[Call, Call]]:
    """A text is judged as in a run: what was read in it, then what came of that."""
    read = loaded(written.raw)
    if isinstance(read, dict):
        inner = Call(written.name, read)
        yield written, inner
        written = inner
    yield written, runs


def _told(reason: Reason) -> Text:
    words, place = reason.words or LAWS[reason.law], reason.path or "/raw"
    return row(f"law {reason.law}", (reason.safety.value, "bold"), f"  {place}  {words}")


def _call(which: str, text: str) -> Call:
    try:
        value: Any = parse(text)
    except ValueError as error:
        refuse(f"{which}: {error}")
    name = value.get("name") if isinstance(value, Mapping) else None
    args = value.get("args", value.get("arguments")) if isinstance(value, Mapping) else None
    if not isinstance(name, str) or not isinstance(args, dict | str):
        refuse(f'{which}: a call is {{"name": …, "args": {{…}}}}; arguments may be a text')
    return Call(name, args) if isinstance(args, dict) else Call(name, {}, raw=args)


def _tools(path: str | None, effect: str | None) -> Mapping[str, ToolSpec]:
    if path is None:
        refuse("--change needs --tools FILE: a JSON list of function definitions")

    def made(tools: list[Any]) -> Mapping[str, ToolSpec]:
        # What the file says of its tools counts here: nothing is executed.
        own = (effect or (one.get("effect") if isinstance(one, Mapping) else None) for one in tools)
        specs: Any = zip(tools, own, strict=True)
        return tool_specs([ToolSpec.from_schema(one, effect=each) for one, each in specs])

    return from_tools(path, made)
