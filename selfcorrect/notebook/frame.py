"""What one step did, ready to be looked at: bounded, masked, plain JSON.

Everything that is shown of a run is made of frames: by the widget, the replay, the terminal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import ABSENT
from selfcorrect.notebook.marked import marked
from selfcorrect.notebook.shown import cut, plain_text, value_text

MOST: Final = 40
"""Changes, findings or tries of one step that are shown."""


@dataclass(slots=True)
class Frame:
    """One item of the timeline.

    Attributes:
        id: Where it can be gone to.
        parent: The item that it follows, or None.
        kind: `start`, `step`, `edit`, `error` (a node raised), or `fork`.
        nodes: What ran, one name per task.
        next: What runs after it.
        tone: `ok`, `error`, `edit`, or `held`: a call was turned away before it ran.
        attempt: Which attempt it belongs to, from 1; 0: the graph knows no attempts.
        seconds: How long it took, or None where nobody knows.
        replayed: Whether a stored result stood in for the tool.
        title: What happened, in a few words.
        changes: Changes of the call: path, before, after, safety, strategy, rule, reason.
        findings: What was wrong, with rule, pattern and marked text.
        tried: What strategies came to.
        written: Other keys of the state that changed: path, before, after.
        state: The state after it: key and text.
        model: What models cost in it.
        inside: Nodes of graphs inside that ran.
        error: What a node raised.
    """

    id: str
    parent: str | None
    kind: str = "step"
    nodes: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    tone: str = "ok"
    attempt: int = 0
    seconds: float | None = None
    replayed: bool = False
    title: str = ""
    changes: list[dict[str, str]] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)
    tried: list[dict[str, str]] = field(default_factory=list)
    written: list[list[str]] = field(default_factory=list)
    state: list[list[str]] = field(default_factory=list)
    model: dict[str, Any] = field(default_factory=dict)
    inside: list[str] = field(default_factory=list)
    error: str = ""

    def as_json(self) -> dict[str, Any]:
        """The frame as plain JSON."""
        return asdict(self)


def tell(frame: Frame, event: Mapping[str, Any], strategies: StrategyMap | None = None) -> None:
    """Add to a frame what an event of a trail says."""
    try:
        _tell(frame, event, strategies)
    except (TypeError, ValueError, AttributeError, KeyError):
        # A trail may come from anywhere; what cannot be read is shown as it is.
        frame.title = frame.title or value_text(event, 120)


def _tell(frame: Frame, event: Mapping[str, Any], strategies: StrategyMap | None) -> None:
    frame.changes += [change_row(change) for change in listed(event, "changes")]
    frame.changes += [change_row(change, refused=True) for change in listed(event, "refused")]
    frame.findings += [_finding(item, strategies) for item in listed(event, "findings")]
    frame.tried += [_tried(item) for item in listed(event, "tried")]
    for item in listed(event, "skipped"):
        frame.tried.append(_tried({**item, "outcome": "skipped", "reason": item.get("why")}))
    errors = event.get("error")
    if isinstance(errors, list) and not frame.findings:
        frame.findings += [
            {**_finding({"text": str(text)}, None), "open": True} for text in errors[:MOST]
        ]
    frame.replayed = frame.replayed or event.get("replayed") is True
    if frame.tone == "ok" and _is_bad(event):
        frame.tone = "held" if _is_held(event) else "error"
    frame.title = plain_text(title_of(event), 160)


def title_of(event: Mapping[str, Any]) -> Any:  # noqa: C901, PLR0912 -- one branch a node
    """What an event of a trail comes to, in a few words."""
    node = event.get("node")
    if "stopped" in event:
        return f"{'not called: ' if _is_held(event) else ''}{event['stopped']}"
    if "problem" in event:
        return event["problem"]
    if node == "plan":
        return "found something wrong" if event.get("findings") else "took the call"
    if node == "execute" or _is_held(event):
        if event.get("replayed"):
            return "replayed the stored result" if event.get("ok") else "outcome unknown"
        if "attempt" in event:
            return "the tool answered" if event.get("ok") else "the tool failed"
        why = event.get("refused")
        why = why if isinstance(why, str) else "it does not fit the tool"
        return f"not called: {why}"
    if node == "diagnose":
        rules = dict.fromkeys(
            str(item.get("rule") or "no rule") for item in listed(event, "findings")
        )
        return ", ".join(rules)
    if node == "select_strategy":
        names = dict.fromkeys(str(item.get("strategy")) for item in listed(event, "selected"))
        return ", ".join(names) if names else "nothing left to try"
    if node == "repair":
        count = len(listed(event, "changes"))
        return f"{count} change{'' if count == 1 else 's'}" if count else "no change"
    if node == "validate":
        return "valid" if event.get("ok") else "not valid"
    if node == "retry":
        wait = event.get("wait")
        return f"after {wait:.3g} s" if isinstance(wait, int | float) and wait else "again"
    if node == "report_failure":
        return event.get("reason", "")
    if node == "edit":
        chosen = [str(item.get("strategy")) for item in listed(event, "selected")]
        return "edited by hand" + "".join(f": chose {name}" for name in chosen)
    return ""


def change_row(change: Mapping[str, Any], *, refused: bool = False) -> dict[str, str]:
    """One change as texts."""
    path = str(change.get("path", ""))
    name = path.rpartition("/")[2]
    return {
        "path": cut(path, 200),
        "before": value_text(change.get("before", ABSENT), 300, name),
        "after": value_text(change.get("after", ABSENT), 300, name),
        "safety": word(change, "safety", 40),
        "strategy": word(change, "strategy", 80),
        "rule": word(change, "rule", 120),
        "reason": plain_text(change.get("why") if refused else change.get("reason") or "", 200),
        "refused": "refused" if refused else "",
    }


def finding_rows(findings: Sequence[Any], strategies: StrategyMap | None) -> list[dict[str, Any]]:
    """Findings of a state, as they are shown."""
    return [_finding(item, strategies) for item in findings[:MOST] if isinstance(item, Mapping)]


def _finding(item: Mapping[str, Any], strategies: StrategyMap | None) -> dict[str, Any]:
    rule = item.get("rule")
    known = strategies.rule(rule) if strategies is not None and isinstance(rule, str) else None
    captures = item.get("captures")
    texts = {str(k): str(v) for k, v in captures.items()} if isinstance(captures, Mapping) else {}
    return {
        "rule": word(item, "rule", 120),
        "kind": word(item, "kind", 40),
        "category": word(item, "category", 40),
        "places": [cut(str(path), 120) for path in listed(item, "paths", of=str)],
        "ladder": [cut(str(name), 80) for name in listed(item, "ladder", of=str)],
        "sure": _sure(item),
        "conditions": _conditions(known),
        **marked(str(item.get("text", "")), known.match if known else None, texts),
    }


def _sure(item: Mapping[str, Any]) -> str:
    """How sure a finding is, who saw it, and the words that spoke."""
    sure, witness = item.get("confidence"), item.get("witness")
    if not isinstance(sure, int | float) or not witness:
        return ""
    spoke = [str(each[0]) for each in listed(item, "spoke", of=list) if each]
    return cut(f"{sure:.2f} by {witness}{': ' if spoke else ''}{', '.join(spoke)}", 200)


def _conditions(rule: Any) -> list[list[str]]:
    """What a rule asks for beside its pattern: why this rule was the one."""
    if rule is None:
        return []
    found = []
    for name in ("tool", "error", "status", "code"):
        values = getattr(rule, name)
        if values:
            found.append([name, cut(", ".join(str(value) for value in values[:8]), 160)])
    return found


def _tried(item: Mapping[str, Any]) -> dict[str, str]:
    return {
        "strategy": cut(str(item.get("strategy")), 80),
        "outcome": cut(str(item.get("outcome", "")).replace("_", " "), 40),
        "reason": plain_text(item.get("reason") or "", 200),
        "path": word(item, "path", 120),
    }


def _is_bad(event: Mapping[str, Any]) -> bool:
    if event.get("node") == "validate":
        return event.get("ok") is False
    bad = event.get("ok") is False or "stopped" in event or "problem" in event
    return bad or event.get("node") == "report_failure"


def _is_held(event: Mapping[str, Any]) -> bool:
    """Whether a call was turned away before its tool was called: nothing was executed."""
    ran = "attempt" in event or "replayed" in event or "problem" in event
    is_guard = event.get("node") == "before_execute" and "ok" in event
    return (event.get("node") == "execute" or is_guard) and not ran


def word(item: Mapping[str, Any], key: str, limit: int) -> str:
    """A name that stands under a key, as it is shown; nothing where there is none."""
    return cut(str(item.get(key) or ""), limit)


def listed(event: Mapping[str, Any], key: str, of: Any = Mapping, most: int = MOST) -> list[Any]:
    """The items of a list that are what they should be, as far as they are shown."""
    items = event.get(key)
    items = items[:most] if isinstance(items, list | tuple) else ()
    return [item for item in items if isinstance(item, of)]
