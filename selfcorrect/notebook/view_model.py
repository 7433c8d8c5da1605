"""The one view model: everything that is painted, as plain JSON of one version.

The widget, the replay, the SVG and the terminal all show this and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from selfcorrect.drawing import Shape, label_of
from selfcorrect.drawing.svg import Marks, picture
from selfcorrect.notebook.agents import answered_in
from selfcorrect.notebook.form import form_of
from selfcorrect.notebook.history import History, label
from selfcorrect.notebook.recorded import Recorded
from selfcorrect.notebook.report import report_of
from selfcorrect.notebook.shown import cut, plain_text, value_text
from selfcorrect.notebook.standing import Standing
from selfcorrect.notebook.status import actions_of, status_of

FORMAT: Final = 1
"""Version of the view model; the module in the browser refuses another one."""

ITEMS: Final = 240
"""Items of the timeline that are painted at once, around the head."""

_ITEM_KEYS: Final = ("id", "parent", "kind", "tone", "attempt", "seconds", "replayed", "title")


def recorded_of(at: Standing) -> Recorded:
    """What happened until now, as a run."""
    return Recorded(
        cut(at.title, 120),
        status_of(at),
        at.history,
        report_of(at.values),
        None if at.here.next else result_of(at.values),
        question_of(at.asking),
        sorted(at.breakpoints),
    )


def view_of(at: Standing) -> dict[str, Any]:
    """What there is to see of a stepper now."""
    history, here, run = at.history, at.here, recorded_of(at)
    shown, more = window(len(history), here.number)
    branch = set(history.line())
    return {
        "format": FORMAT,
        "kind": "stepper",
        "title": run.title,
        "status": run.status,
        "alert": cut(at.alert, 600),
        "actions": actions_of(at),
        "marks": marks_as_json(run.marks(at.parts.shape), at.parts.shape),
        "items": [item_of(history, number, branch) for number in shown],
        "more": more,
        "frame": here.frame.as_json(),
        "question": run.question,
        "changes": None if here.next else history.changes(),
        "report": run.report,
        "result": run.result,
        "form": form_of(at),
        "second": None if at.second is None else asdict(at.second),
    }


def graph_of(shape: Shape) -> dict[str, Any]:
    """The picture, which stays the same, and what its elements are called."""
    return {
        "format": FORMAT,
        "svg": picture(shape, live=True),
        "nodes": {name: cut(label_of(name), 120) for name in shape.nodes},
        "edges": [asdict(edge) for edge in shape.edges],
    }


def marks_as_json(marks: Marks, shape: Shape) -> dict[str, Any]:
    """The marks with edges by their place in the shape."""
    ways: Mapping[tuple[str, str], int] = marks.ways
    return {
        "visits": dict(marks.visits),
        "ways": {
            str(number): ways[edge.source, edge.target]
            for number, edge in enumerate(shape.edges)
            if (edge.source, edge.target) in ways
        },
        "current": list(marks.current),
        "next": list(marks.next),
        "breakpoints": list(marks.breakpoints),
    }


def item_of(history: History, number: int, branch: set[int]) -> dict[str, Any]:
    """One item of the timeline."""
    moment = history.moments[number]
    frame = moment.frame
    # What raised left no checkpoint: it belongs to the branch of the moment that it came from.
    at = moment.parent if frame.kind == "error" else number
    item: dict[str, Any] = {key: getattr(frame, key) for key in _ITEM_KEYS}
    item["label"] = cut(label(frame), 60)
    item["left"] = at not in branch
    item["here"] = number == history.head
    return item


def window(total: int, here: int) -> tuple[range, list[int]]:
    """The items around the head that are painted, and how many lie before and after them.

    >>> window(10, 3)
    (range(0, 10), [0, 0])
    >>> window(10_000, 5_000)
    (range(4880, 5120), [4880, 4880])
    """
    start = max(0, min(here - ITEMS // 2, total - ITEMS))
    end = min(total, start + ITEMS)
    return range(start, end), [start, total - end]


def question_of(asking: Sequence[tuple[str, Any]]) -> dict[str, Any] | None:
    """What a person is asked, as it is shown."""
    if not asking:
        return None
    value = asking[0][1]
    if not isinstance(value, Mapping) or "question" not in value:
        return {"text": value_text(value, 1_000), "options": [], "ours": False}
    problem = value.get("problem")
    before = f"The last answer was not used: {problem}. " if problem else ""
    options = value.get("options")
    listed = options if isinstance(options, list) else []
    return {
        "text": plain_text(f"{before}{value['question']}", 1_000),
        "options": [_option(option) for option in listed[:20]],
        "ours": "strategy" in value,
    }


def _option(option: Any) -> str:
    """An option; where it is a list of changes, what they would change."""
    if isinstance(option, list) and option and all(isinstance(each, Mapping) for each in option):
        texts = [
            f"{each.get('path', '')}: {value_text(each.get('after', 'removed'), 80)}"
            for each in option[:6]
        ]
        return cut(", ".join(texts), 200)
    return value_text(option, 200)


def result_of(values: Mapping[str, Any]) -> str | None:
    """What a finished run came to; for an agent, what it said last."""
    if "result" in values:
        return value_text(values["result"], 2_000, "result")
    said = answered_in(values)
    return None if said is None else plain_text(said, 2_000)
