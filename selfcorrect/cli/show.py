"""A run told to a person: what was wrong, what was tried, what changed, how it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from rich.text import Text

from selfcorrect.batch.lines import clip
from selfcorrect.cli.screen import counted, row, short
from selfcorrect.kernel.texts import visible
from selfcorrect.model import ABSENT, JSON

STYLES: Final = {
    "healthy": "green",
    "mended": "bold green",
    "asked": "bold yellow",
    "reported": "bold red",
    "failed": "bold red",
}
"""What can become of an input, in the order of a summary, with its style."""


_MEANINGS: Final = {
    "mended": " and done",
    "asked": ": a person decides",
    "reported": ": not done, and why",
}

TOLD_ELSEWHERE: Final = ("changed", "wait", "answered")
"""Outcomes of a strategy that show in the changes, the wait or the result."""

Telling: TypeAlias = Callable[[Mapping[str, Any]], Iterator[Text]]


def verdict(output: Mapping[str, Any]) -> str:
    """What became of an input: one word of `STYLES`."""
    if "error" in output:
        return "failed"
    if "__interrupt__" in output:
        return "asked"
    if failure := output.get("failure"):
        asks = isinstance(failure, Mapping) and failure.get("reason") == "needs_person"
        return "asked" if asks else "reported"
    touched = any(event.get("node") in ("repair", "retry") for event in _events(output))
    return "mended" if touched else "healthy"


@dataclass(slots=True)
class Tally:
    """What a whole command came to."""

    verdicts: Counter[str] = field(default_factory=Counter)
    executions: int = 0
    model_calls: int = 0

    def add(self, output: Mapping[str, Any]) -> None:
        """Count one output."""
        self.verdicts[verdict(output)] += 1
        for event in _events(output):
            self.executions += _called(event)
            calls = event.get("model_calls")
            self.model_calls += calls if isinstance(calls, int) else 0

    @property
    def all_done(self) -> bool:
        """Whether every input ended with a result."""
        return not {"asked", "reported", "failed"} & self.verdicts.keys()

    def line(self) -> Text:
        """The summary, on one line."""
        total = self.verdicts.total()
        line = Text(f"{counted(total, 'call')}: ", style="bold")
        line.append_text(
            Text(", ").join(
                Text(f"{count} {word}", style)
                for word, style in STYLES.items()
                if (count := self.verdicts[word])
            )
            if total
            else Text("nothing to do")
        )
        executions = counted(self.executions, "execution")
        line.append(f" · {executions}, {counted(self.model_calls, 'model call')}", "not bold")
        return line


def legend() -> Text:
    """What the words mean that the head of a run ends with, in their styles."""
    line = Text()
    for word, what in _MEANINGS.items():
        line.append(f"■ {word}", STYLES[word]).append(f"{what}   ", "dim")
    line.append("\n")
    return line


def story(title: str, output: Mapping[str, Any]) -> Iterator[Text]:
    """The lines that tell one run."""
    word = verdict(output)
    head = Text("■ ", STYLES[word])
    head.append(clip(visible(title)), "bold").append(f"  {word}", STYLES[word])
    yield head
    for event in _events(output):
        yield from _safely(_event, event)
    yield from _safely(_end, output)


def _safely(tell: Telling, data: Mapping[str, Any]) -> list[Text]:
    """What is told of the data; a graph that is not ours may have put anything there."""
    try:
        return list(tell(data))
    except Exception:
        return [row("event", short(data))]


def _events(output: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    trail = output.get("trail")
    return [each for each in trail if isinstance(each, Mapping)] if isinstance(trail, list) else []


def _event(event: Mapping[str, Any]) -> Iterator[Text]:
    match event.get("node"):
        case "plan" if call := event.get("call"):
            yield row("call", _call(call))
        case "execute" if _called(event):
            # What was wrong is told by the diagnosis that follows.
            how = ("ok", "green") if event.get("ok") else ("failed", "red")
            yield row(f"attempt {event['attempt']}", how)
        case "execute" if event.get("replayed") and event.get("ok"):
            yield row("known", "done before; the stored result, and no execution")
        case "diagnose":
            for finding in event.get("findings", ()):
                yield _finding(finding)
        case "repair":
            yield from _repair(event)
        case "validate":
            for change in event.get("refused", ()):
                why = f"  not unasked: {change.get('why', 'the policy refuses it')}"
                yield row("refused", *_change(change), (why, "yellow"))
        case "retry" if event.get("wait"):
            yield row("waited", f"{event['wait']:.3g} s")


def _called(event: Mapping[str, Any]) -> bool:
    """Whether the tool was called; a stored result is told without it."""
    return event.get("node") == "execute" and "attempt" in event and not event.get("replayed")


def _call(call: Mapping[str, Any]) -> str:
    if "raw" in call:
        return clip(f"{call.get('name') or ''} {call['raw']}".strip())
    return f"{call.get('name', '')} {short(call.get('args', {}), 200)}"


def _finding(finding: Mapping[str, Any]) -> Text:
    rule = finding.get("rule")
    kind = finding.get("kind", "")
    category = finding.get("category", "none")
    sort = kind if category == "none" else f"{kind}, {category}"
    return row(
        "wrong",
        (clip(finding.get("text", ""), 160), "red"),
        (f"  {sort}", "dim"),
        (f"  rule {rule}", "cyan") if rule else ("  no rule", "yellow"),
        (sureness(finding), "dim"),
    )


def sureness(finding: Mapping[str, Any]) -> str:
    """How sure a finding is, and who saw it: `  0.83 by rule`; nothing where nobody says."""
    sure, witness = finding.get("confidence"), finding.get("witness")
    return f"  {sure:.2f} by {witness}" if isinstance(sure, int | float) and witness else ""


def _repair(event: Mapping[str, Any]) -> Iterator[Text]:
    told = set()
    # Where a round came to something, what gave up in it tells a reader nothing.
    helped = event.get("next") in ("validate", "retry", "__end__")
    for tried in event.get("tried") or ():
        outcome, reason = str(tried.get("outcome")).replace("_", " "), tried.get("reason")
        words = f"  {outcome}: {clip(str(reason), 160)}" if reason else f"  {outcome}"
        line = (str(tried.get("strategy")), words)
        skipped = outcome in TOLD_ELSEWHERE or (outcome == "gave up" and helped)
        if not skipped and line not in told:
            told.add(line)
            yield row("tried", (line[0], "cyan dim"), (words, "dim"))
    yield from _changes(event.get("changes") or ())


def _changes(changes: Sequence[Mapping[str, Any]]) -> Iterator[Text]:
    """Each change on a line; a value that only moved is one change to a reader."""
    left = list(changes)
    while left:
        change = left.pop(0)
        if left and _moved(change, left[0]):
            moved = f"{change['path']} → {left[0]['path']}  "
            yield row("mended", (moved, "bold"), short(change["before"], 60), _by(left.pop(0)))
        else:
            yield row("mended", *_change(change))


def _moved(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    return (
        "after" not in first
        and "before" not in second
        and first.get("before", ABSENT) == second.get("after")
        and first.get("strategy") == second.get("strategy")
    )


def _change(change: Mapping[str, Any]) -> tuple[tuple[str, str] | str, ...]:
    before, after = (change.get(key, ABSENT) for key in ("before", "after"))
    return (
        (f"{change.get('path')}  ", "bold"),
        f"{short(before, 60)} → ",
        (short(after, 60), "green"),
        _by(change),
    )


def _by(change: Mapping[str, Any]) -> tuple[str, str]:
    return f"  {change.get('strategy') or 'a person'}, {change.get('safety')}", "cyan"


def _end(output: Mapping[str, Any]) -> Iterator[Text]:
    if "error" in output:
        yield row("error", (clip(str(output["error"])), "red"))
    elif failure := output.get("failure"):
        yield row("report", (f"{failure.get('reason')}", "bold red"), f"  {failure.get('detail')}")
        question = failure.get("question")
        if question:
            yield row("question", (_question(question), "yellow"))
        for advice in failure.get("advice", ()):
            if not (question and advice.startswith("Asked: ")):
                yield row("advice", clip(str(advice)))
        if failure.get("reason") == "unknown_outcome":
            yield row("advice", "If it was not done, or may be done twice: run it with --again.")
    elif "result" in output:
        yield row("result", (short(output["result"]), "green"))


def _question(question: JSON) -> str:
    if not isinstance(question, Mapping):
        return str(question)
    options = question.get("options") or ()
    listed = f"  [{', '.join(short(option, 60) for option in options[:10])}]" if options else ""
    return f"{question.get('question', '')}{listed}"
