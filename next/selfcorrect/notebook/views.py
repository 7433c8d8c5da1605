"""Says what is shown of a run: LangGraph's history in, one `View` out."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby, pairwise, product
from typing import Any, Final

from langgraph.types import StateSnapshot

from selfcorrect.drawing.view import (
    VERSION,
    Detail,
    Match,
    Moment,
    Picture,
    Status,
    View,
    ViewChange,
)
from selfcorrect.model import JsonDict, JsonObject, Safety
from selfcorrect.notebook.edits import loop_of
from selfcorrect.notebook.history import History, Point, id_of
from selfcorrect.routing import END
from selfcorrect.setup import Loop
from selfcorrect.text import quote, release, text_of

_MOST: Final = 2_000
_SENTENCES: Final[Mapping[str, str]] = {
    "ready": "Nothing has run yet. Step runs {next}.",
    "running": "A node is running. Pause stops before the next one.",
    "paused": "Stopped before {next}. Step runs it.",
    "waiting": "A person is asked. Answer, and the run goes on.",
    "error": "{next} raised an error. Step runs it again.",
    "finished": "The run ended with a result.",
    "failed": "The run ended with a report.",
    "past": "This is an earlier state. Step starts a new branch with {next}; what tools have done"
    " stays done.",
}
_BEHIND: Final = "This is the end of an earlier branch. Go back to start a new one."


@dataclass(frozen=True, slots=True)
class Sight:
    """What a view is made of.

    Attributes:
        graph: The graph.
        history: The thread.
        head: Where the head stands.
        is_past: Whether newer checkpoints stand behind the head.
        is_running: Whether a command is at work.
        error: What the last step raised.
        breakpoints: The nodes before which a run stops.
        seconds: How long steps took, by checkpoint.
    """

    graph: Any
    history: History
    head: Point
    is_past: bool = False
    is_running: bool = False
    error: str = ""
    breakpoints: Iterable[str] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def now(self) -> StateSnapshot:
        """The state at the head."""
        return self.head.snapshot if self.is_past else self.history.tip

    @property
    def values(self) -> Any:
        """The keys of the state; a state without keys counts as one key."""
        found = self.now.values
        return found if isinstance(found, Mapping) else {"__root__": found}

    @property
    def status(self) -> Status:
        """Where the run stands."""
        if self.is_running:
            return "running"
        if self.is_past:
            return "past"
        if self.error:
            return "error"
        if self.now.interrupts:
            return "waiting"
        if not self.now.next:
            return "failed" if self.values.get("failure") and loop_of(self.graph) else "finished"
        return "paused" if any(each.nodes for each in self.head.path) else "ready"


def view_of(sight: Sight) -> View:
    """Return everything that is shown of a run."""
    loop, now, status = loop_of(sight.graph), sight.now, sight.status
    named = ", ".join(dict.fromkeys(now.next))
    is_over = status == "past" and not now.next
    sentence = (_BEHIND if is_over else _SENTENCES[status]).format(next=named)
    return {
        "version": VERSION,
        "title": release(_title(sight, loop), 200),
        "status": status,
        "sentence": release(sentence, 500),
        "picture": _picture(sight),
        "timeline": [*_moments(sight)],
        "detail": _detail(sight, loop),
        "state": {release(text_of(k), 100): quote(v, _MOST) for k, v in sight.values.items()},
        "question": _question(now) if status == "waiting" else None,
        "outcome": _outcome(sight.values) if loop is not None else {},
        "commands": _commands(sight, status),
        "problem": "",
    }


def _title(sight: Sight, loop: Loop | None) -> str:
    name = (sight.values.get("current") or {}).get("name") if loop is not None else None
    return text_of(name or sight.graph.name)


def _picture(sight: Sight) -> Picture:
    from selfcorrect.drawing.picture import picture_of

    path = [each.nodes for each in sight.head.path if each.nodes]
    end = [] if sight.now.next else [(END,)]
    steps = pairwise([("__start__",), *path, *end])
    return picture_of(
        sight.graph,
        visits=Counter(node for nodes in path for node in nodes),
        taken=Counter(edge for both in steps for edge in product(*both)),
        current=path[-1] if path else (),
        next=sight.now.next,
        breakpoints=tuple(sight.breakpoints),
    )


def _moments(sight: Sight) -> Iterator[Moment]:
    path = {each.id for each in sight.head.path}
    for each in sight.history.points:
        values = each.snapshot.values
        ran = values.get("attempts") if isinstance(values, Mapping) else None
        trail = _last_event(each)
        yield {
            "id": each.id,
            "node": release(", ".join(dict.fromkeys(each.nodes)), 200),
            "outcome": release(text_of(trail.get("outcome", "")), 200),
            "attempt": max(0, len(ran) - 1) if isinstance(ran, list) else 0,
            "seconds": round(sight.seconds.get(each.id, each.seconds), 6),
            "kind": each.kind,
            "is_left": each.id not in path,
            "is_head": each.id == sight.head.id,
        }
    if sight.error and not sight.is_past:
        yield {
            "id": sight.head.id,
            "node": release(", ".join(dict.fromkeys(sight.now.next)), 200),
            "outcome": release(sight.error.partition(":")[0], 200),
            "attempt": 0,
            "seconds": round(sight.seconds.get(id_of(sight.now), 0.0), 6),
            "kind": "error",
            "is_left": False,
            "is_head": False,
        }


def _last_event(point: Point) -> JsonDict:
    """Return the event that the node of a point wrote into the trail; empty where there is none."""
    values = point.snapshot.values
    trail = values.get("trail") if isinstance(values, Mapping) else None
    last = trail[-1] if isinstance(trail, list) and trail else None
    return last if isinstance(last, dict) and (last.get("node"),) == point.nodes else {}


def _detail(sight: Sight, loop: Loop | None) -> Detail | None:
    head, event = sight.head, _last_event(sight.head)
    if head.parent is None and not sight.error:
        return None
    changes = [*_edited(head)] if head.kind == "edit" else map(_change, _dicts(event.get("changes")))
    cost = event.get("cost") if isinstance(event.get("cost"), dict) else {}
    findings = _dicts(sight.values.get("findings")) if loop is not None else []
    return {
        "changes": [*changes],
        "matches": [_match(each, loop) for each in findings if loop and "ladder" in each],
        "tried": [
            {key: _shown(item) for key, item in each.items()} for each in _dicts(event.get("tried"))
        ],
        "cost": {key: float(item) for key, item in cost.items() if isinstance(item, int | float)},
        "error": "" if sight.is_past else sight.error,
    }


def _dicts(items: Any) -> list[JsonDict]:
    """Return the objects of a list; an edit may have left anything."""
    return [each for each in items if isinstance(each, dict)] if isinstance(items, list) else []


def _shown(value: Any, most: int = _MOST) -> str:
    return release(value, most) if isinstance(value, str) else quote(value, most)


def _change(change: JsonObject) -> ViewChange:
    def value(name: str) -> str:
        return quote(change[name], _MOST) if name in change else ""

    return {
        "place": _shown(change.get("path") or ""),
        "before": value("before"),
        "after": value("after"),
        "safety": _shown(change.get("safety") or ""),
        "strategy": _shown(change.get("strategy") or ""),
        "rule": _shown(change.get("rule") or ""),
    }


def _edited(head: Point) -> Iterator[ViewChange]:
    """Yield the keys of the state that a person has written."""
    before: Any = head.parent.snapshot.values if head.parent is not None else {}
    after: Any = head.snapshot.values
    if not (isinstance(before, Mapping) and isinstance(after, Mapping)):
        before, after = {"": before}, {"": after}
    for key in dict.fromkeys([*before, *after]):
        old, new = (quote(each[key], _MOST) if key in each else "" for each in (before, after))
        if old != new:
            place = release(f"/{key}", 200)
            yield {
                "place": place,
                "before": old,
                "after": new,
                "safety": Safety.HUMAN.value,
                "strategy": "person",
                "rule": "",
            }


def _match(finding: JsonObject, loop: Loop | None) -> Match:
    key = finding.get("rule")
    rule = loop.context.map.rule(key if isinstance(key, str) else None) if loop else None
    pattern = rule.match or "" if rule else ""
    return {
        "rule": _shown(key or ""),
        "pattern": release(pattern, _MOST),
        "parts": _parts(release(text_of(finding.get("text", "")), _MOST), pattern),
        "ladder": [_shown(each) for each in finding.get("ladder") or ()],
    }


def _parts(text: str, pattern: str) -> list[tuple[str, str]]:
    """Return a text in pieces: outside the match, in it, and in each of its named groups."""
    from selfcorrect.strategy_map.patterns import compile_pattern

    labels = [""] * len(text)
    if pattern and (found := compile_pattern(pattern).search(text)):
        spans = [(*found.span(at), name) for name, at in found.re.groupindex.items()]
        # Of groups in one another the innermost shows.
        spans.sort(key=lambda span: span[0] - span[1])
        for start, end, name in [(*found.span(), "match"), *spans]:
            if start >= 0:  # a group may have no part in the match
                labels[start:end] = [name] * (end - start)
    pieces = groupby(zip(labels, text, strict=True), key=lambda each: each[0])
    return [("".join(letter for _, letter in piece), label) for label, piece in pieces]


def _question(now: StateSnapshot) -> JsonDict:
    first = now.interrupts[0]
    asked = first.value
    if not isinstance(asked, Mapping) or "question" not in asked:
        return {"id": first.id, "question": _shown(asked), "options": []}
    options = asked.get("options")
    offered = options if isinstance(options, list) else []
    return {
        "id": _shown(asked.get("id") or first.id, 100),
        "question": _shown(asked["question"]),
        "options": [quote(each, _MOST) for each in offered],
    }


def _outcome(values: JsonObject) -> dict[str, str]:
    if isinstance(failure := values.get("failure"), Mapping):
        return {release(text_of(key), 100): _shown(item) for key, item in failure.items() if item}
    return {"result": _shown(values["result"])} if "result" in values else {}


def _commands(sight: Sight, status: Status) -> list[str]:
    if status == "running":
        return ["pause"]
    can = {
        "step": bool(sight.now.next) and status != "waiting",
        "run": bool(sight.now.next) and status != "waiting",
        "back": sight.head.parent is not None,
        "goto": True,
        "edit": True,
        "answer": status == "waiting",
        "restart": sight.head.parent is not None,
        "break_at": True,
    }
    return [name for name, is_open in can.items() if is_open]
