"""A run as plain text: for terminals, logs and people who do not see the picture."""

from __future__ import annotations

from typing import Final

from selfcorrect.notebook.frame import Frame
from selfcorrect.notebook.history import label
from selfcorrect.notebook.recorded import Recorded
from selfcorrect.notebook.shown import cut

_INDENT: Final = " " * 10
_MOST: Final = 200
"""Steps that are told; the earlier ones are counted."""


def told(run: Recorded) -> str:
    """The run step by step, and the state at the head."""
    history = run.history
    line = set(history.line())
    lines = [f"{cut(run.title, 120)} · {run.status['text']}"]
    start = max(0, len(history) - _MOST)
    if start:
        lines.append(f"  … {start:,} earlier steps")
    for moment in history.moments[start:]:
        here = moment.number == history.head
        lines += _step(moment.frame, here=here, left=moment.number not in line)
    if run.question:
        lines.append(f"question: {run.question['text']}")
        lines += [f"  #{n} {option}" for n, option in enumerate(run.question["options"], 1)]
    if run.report:
        lines.append(f"report: {run.report['reason']}: {run.report['detail']}")
        for attempt in run.report["attempts"]:
            text = f": {attempt['text']}" if attempt["text"] else ""
            lines.append(
                f"  attempt {attempt['number']} {attempt['outcome']} {attempt['call']}{text}"
            )
        lines += [f"  {advice}" for advice in run.report["advice"]]
    elif run.result is not None:
        lines.append(f"result: {run.result}")
    if history.moments:
        lines.append("state:")
        lines += [f"  {key:<12} {cut(text, 160)}" for key, text in history.here.frame.state]
    return "\n".join(lines)


def _step(frame: Frame, *, here: bool, left: bool) -> list[str]:
    mark = "▸" if here else "~" if left else " "
    sign = {"error": "!", "edit": "*", "held": "-"}.get(frame.tone, " ")
    replayed = " (replayed)" if frame.replayed and "replayed" not in frame.title else ""
    attempt = f"  [attempt {frame.attempt}]" if frame.attempt else ""
    head = f"{mark} {frame.id:>3} {sign} {label(frame):<16} {frame.title}{replayed}"
    lines = [f"{head.rstrip()}{attempt}" if "execute" in frame.nodes else head.rstrip()]
    lines += [
        f"{_INDENT}{change['path']}  {change['before']} → {change['after']}{_by(change)}"
        for change in frame.changes
    ]
    lines += [
        f"{_INDENT}{''.join(text for text, _ in finding['pieces'])}"
        + (f"  [{finding['rule']}]" if finding["rule"] else "")
        + (f"  {finding['sure']}" if finding["sure"] else "")
        for finding in (frame.findings if "diagnose" in frame.nodes else ())
    ]
    return lines


def _by(change: dict[str, str]) -> str:
    who = ", ".join(filter(None, (change["strategy"], change["safety"])))
    refused = f"  refused: {change['reason']}" if change["refused"] else ""
    return (f"  ({who})" if who else "") + refused
