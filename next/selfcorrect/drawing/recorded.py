"""Makes the views of a run that has ended from what it left; nothing in that is trusted."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from selfcorrect.drawing.picture import lay_out, paint
from selfcorrect.drawing.view import VERSION, Detail, Match, Moment, Picture, View, ViewChange
from selfcorrect.model import JsonDict, JsonObject, name_place
from selfcorrect.routing import REPORT, ROUTES, STOPPED
from selfcorrect.text import quote, release

_MOST_STEPS: Final = 500
_MOST_NODES: Final = 40
_TRIED: Final = ("strategy", "rule", "path", "outcome", "reason")
_REPORT: Final = ("reason", "detail", "advice", "for_model", "severity")


def views_of(output: Any, *, title: str, picture: Picture | None = None) -> list[View]:
    """Return the views of a run: one for its beginning, and one for each step.

    Args:
        output: What the run ended with: `{"result" or "failure", "trail"}`. What is no step in the
            trail is shown as an error.
        title: What the run is about.
        picture: Its graph; without one, the loop's, with the nodes that the trail adds.
    """
    run = _object(output)
    events = _list(run.get("trail"), _MOST_STEPS + 1)
    if len(events) > _MOST_STEPS:
        events[-1] = "further steps are not shown"
    moments = [_moment(number, event) for number, event in enumerate(events)]
    end = _end(title, run, moments, picture or _picture_of(events))
    visits, taken = Counter[str](), Counter[tuple[str, str]]()
    views = [end]
    for number in range(-1, len(events)):
        following = moments[number + 1]["node"] if number + 1 < len(events) else ""
        view: View = {**end}
        current = ""
        if number >= 0:
            moment, event = moments[number], _object(events[number])
            current = moment["node"]
            visits[current] += 1
            taken[current, _text(event.get("next"))] += 1
            view["timeline"] = [*moments]
            view["timeline"][number] = {**moment, "is_head": True}
            view["detail"] = detail_of(event)
        if following or number + 1 < len(events):
            sentence = f"{current} ended with {moments[number]['outcome']}" if current else "Start"
            view |= {"status": "past", "sentence": f"{sentence}; next: {following}."}
            view |= {"question": None, "outcome": {}}
        view["picture"] = paint(end["picture"], visits, taken, [current], [following])
        views.append(view)
    return views[1:]


def detail_of(event: JsonObject) -> Detail:
    """Return what an event of a trail says, as it may be shown."""
    error = _list(event.get("error")) + [event[name] for name in ("detail",) if name in event]
    return Detail(
        changes=[_change(_object(each)) for each in _list(event.get("changes"))],
        matches=[_match(_object(each)) for each in _list(event.get("findings"))],
        tried=[_texts(_object(each), _TRIED) for each in _list(event.get("tried"))],
        cost={_text(name): _number(item) for name, item in _object(event.get("cost")).items()},
        error="\n".join(map(_text, error)),
    )


def _end(title: str, run: JsonObject, moments: list[Moment], picture: Picture) -> View:
    """Return the view of the end."""
    failure = _object(run.get("failure"))
    asked = _object(run.get("question") or failure.get("question"))
    outcome = {name: text for name, text in _texts(failure, _REPORT).items() if text}
    outcome |= {"result": quote(run["result"], 1_000)} if "result" in run else {}
    for number, each in enumerate(map(_object, _list(failure.get("attempts"))), 1):
        outcome[f"attempt {number}"] = " · ".join(
            _texts(each, ("call", "outcome", "text")).values()
        )
    question: JsonDict = {**_texts(asked, ("id", "question"))}
    status: Any = "failed" if failure else "waiting" if asked else "finished"
    told = {
        "failed": outcome.get("detail") or "The run ended without a result.",
        "waiting": question.get("question") or "A person is asked.",
        "finished": "Finished." if outcome else "The run left no result.",
    }
    return View(
        version=VERSION,
        title=release(title, 200),
        status=status,
        sentence=told[status],
        picture=picture,
        timeline=moments,
        detail=None,
        state={},
        question=question | {"options": [*map(_text, _list(asked.get("options")))]}
        if asked
        else None,
        outcome=outcome,
        commands=["back", "goto"],
        problem="",
    )


def _moment(number: int, event: Any) -> Moment:
    shown = _texts(_object(event), ("node", "outcome"))
    is_step = isinstance(event, Mapping) and isinstance(event.get("node"), str)
    return Moment(
        id=str(number),
        node=shown["node"] if is_step else "",
        outcome=shown["outcome"] if is_step else f"this is no step: {_text(event)[:200]}",
        attempt=int(_number(_object(event).get("attempt"))),
        seconds=_number(_object(event).get("seconds")),
        kind="step" if is_step else "error",
        is_left=False,
        is_head=False,
    )


def _change(change: JsonObject) -> ViewChange:
    shown = _texts(change, ("safety", "strategy", "rule"))
    for name in ("before", "after"):
        shown[name] = quote(change[name], 300) if name in change else ""
    shown["place"] = name_place(_text(change.get("path")))
    return cast("ViewChange", shown)


def _match(finding: JsonObject) -> Match:
    ladder = [*map(_text, _list(finding.get("ladder")))]
    parts = [("", text) for text in _texts(finding, ("category", "text")).values() if text]
    return Match(rule=_text(finding.get("rule")), pattern="", parts=parts, ladder=ladder)


def _picture_of(events: Sequence[Any]) -> Picture:
    """Return the loop's graph with what a trail adds to it."""
    edges = {(a, b, label): None for a, routes in ROUTES.items() for label, b in routes.items()}
    edges |= dict.fromkeys((node, REPORT, STOPPED) for node in ROUTES if node != REPORT)
    pairs = {edge[:2] for edge in edges}
    for event in events:
        shown = _texts(_object(event), ("node", "next", "outcome"))
        node, target = shown["node"], shown["next"]
        if node and target and (node, target) not in pairs and len(pairs) < _MOST_NODES:
            pairs.add((node, target))
            edges[node, target, shown["outcome"]] = None
    return lay_out(edges)


def _texts(item: JsonObject, names: Sequence[str]) -> dict[str, str]:
    return {name: _text(item.get(name)) for name in names}


def _object(value: Any) -> JsonDict:
    return dict(value) if isinstance(value, Mapping) else {}


def _list(value: Any, most: int = 50) -> list[Any]:
    return value[:most] if isinstance(value, list) else []


def _number(value: Any) -> float:
    """Return a number that can be shown, or 0."""
    is_number = isinstance(value, int | float) and math.isfinite(value)
    return value if is_number and 0 <= value < 1e9 else 0


def _text(value: Any) -> str:
    if value is None:
        return ""
    return release(value) if isinstance(value, str) else quote(value, 1_000)
