"""Makes the views of a run that has ended from what it left; nothing in that is trusted."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, cast

from selfcorrect.drawing.picture import lay_out, paint
from selfcorrect.drawing.text import moment_text
from selfcorrect.drawing.view import VERSION, Detail, Match, Moment, Picture, View, ViewChange
from selfcorrect.model import JsonDict, JsonObject, name_place
from selfcorrect.routing import build_table
from selfcorrect.text import quote, release

_MOST_STEPS = 500
_MOST_DRAWN = 60
"""How many steps may add to the picture."""
_TRIED = ("strategy", "rule", "path", "outcome", "reason")
_REPORT = ("reason", "detail", "advice", "for_model", "severity")


def views_of(output: Any, *, title: str, picture: Picture | None = None) -> list[View]:
    """Return the views of a run: one for its input, and one for each step.

    Args:
        output: What the run ended with: `{"result" or "failure", "trail"}`. What is no step in the
            trail is shown as an error.
        title: What the run is about.
        picture: Its graph; without one, the loop's, with the nodes that the trail adds.
    """
    run = _object(output)
    trail = _list(run.get("trail"), _MOST_STEPS + 1)
    if len(trail) > _MOST_STEPS:
        trail[-1] = "further steps are not shown"
    events = [{}, *map(_object, trail)]
    moments = [_moment(number, event) for number, event in enumerate([{}, *trail])]
    end = _end(title, run, moments, picture or _picture_of(events))
    visits, taken = Counter[str](), Counter[tuple[str, str]]()
    views: list[View] = []
    changes: list[ViewChange] = []
    for number, (event, moment) in enumerate(zip(events, moments, strict=True)):
        node = moment["node"]
        following = [each["node"] for each in moments[number + 1 : number + 2]]
        visits[node] += 1
        taken[node, _text(event.get("next"))] += 1
        view = end.copy()
        view["timeline"] = [*moments[:number], {**moment, "is_head": True}, *moments[number + 1 :]]
        view["detail"] = detail = detail_of(event)
        changes += detail["changes"]
        view["changes"] = [*changes]
        view["picture"] = paint(end["picture"], visits, taken, [node], following)
        if following:
            view["status"], view["question"], view["outcome"] = "past", None, {}
            view["sentence"] = f"{moment_text(moment)}; next: {following[0]}"
        views.append(view)
    return views


def detail_of(
    event: JsonObject, pattern_of: Callable[[str], str | None] = lambda _: None
) -> Detail:
    """Return what an event of a trail says, as it may be shown.

    Args:
        event: The event.
        pattern_of: The pattern of a rule, where the map is at hand.
    """
    error = [*_list(event.get("error")), event.get("detail")]
    return Detail(
        changes=[_change(_object(each)) for each in _list(event.get("changes"))],
        matches=[_match(_object(each), pattern_of) for each in _list(event.get("findings"))],
        tried=[_texts(_object(each), _TRIED) for each in _list(event.get("tried"))],
        cost={_text(name): _number(item) for name, item in _object(event.get("cost")).items()},
        error="\n".join(filter(None, map(_text, error))),
    )


def outcome_of(run: JsonObject) -> dict[str, str]:
    """Return the result, or the report with every attempt, as it may be shown."""
    failure = _object(run.get("failure"))
    outcome = {name: text for name, text in _texts(failure, _REPORT).items() if text}
    if "result" in run:
        result = run["result"]
        outcome["result"] = release(result) if isinstance(result, str) else quote(result, 1_000)
    for number, each in enumerate(map(_object, _list(failure.get("attempts"))), 1):
        shown = _texts(each, ("call", "outcome", "text"))
        outcome[f"attempt {number}"] = " · ".join(shown.values())
    return outcome


def _end(title: str, run: JsonObject, moments: list[Moment], picture: Picture) -> View:
    """Return the view of the end."""
    failure = _object(run.get("failure"))
    asked = _object(run.get("question") or failure.get("question"))
    outcome = outcome_of(run)
    options = [*map(_text, _list(asked.get("options")))]
    question: JsonDict = {**_texts(asked, ("id", "question")), "options": options}
    status: Any = "failed" if failure else "waiting" if asked else "finished"
    return View(
        version=VERSION,
        title=release(title, 200),
        status=status,
        sentence=": ".join(filter(None, [status, outcome.get("detail") or question["question"]])),
        picture=picture,
        timeline=moments,
        detail=None,
        changes=[],
        state={},
        question=question if asked else None,
        outcome=outcome,
        commands=["back", "goto"],
        problem="",
    )


def _moment(number: int, event: Any) -> Moment:
    item = _object(event)
    shown = _texts(item, ("node", "outcome"))
    is_step = bool(shown["node"])
    return Moment(
        id=str(number),
        node=shown["node"],
        outcome=shown["outcome"] if is_step or not number else f"no step: {_text(event)}",
        attempt=int(_number(item.get("attempt"))),
        seconds=_number(item.get("seconds")),
        kind="step" if is_step else "error" if number else "input",
        is_left=False,
        is_head=False,
    )


def _change(change: JsonObject) -> ViewChange:
    shown = _texts(change, ("safety", "strategy", "rule"))
    for name in ("before", "after"):
        shown[name] = quote(change[name], 300) if name in change else ""
    shown["place"] = name_place(_text(change.get("path")))
    return cast("ViewChange", shown)


def _match(finding: JsonObject, pattern_of: Callable[[str], str | None]) -> Match:
    rule = _text(finding.get("rule"))
    pattern = release(pattern_of(rule) or "", 1_000)
    text = _text(finding.get("text") or finding.get("category"))
    ladder = [*map(_text, _list(finding.get("ladder")))]
    return Match(rule=rule, pattern=pattern, parts=_parts(text, pattern), ladder=ladder)


def _parts(text: str, pattern: str) -> list[tuple[str, str]]:
    """Return a text in pieces: outside the match, in it, and in each of its named groups."""
    from selfcorrect.strategy_map.patterns import compile_pattern

    labels = [""] * len(text)
    compiled = compile_pattern(pattern)
    if pattern and (found := compiled.search(text)):
        groups = {0: "match", **{number: name for name, number in compiled.groupindex.items()}}
        spans = [(*found.span(number), name) for number, name in groups.items()]
        # Of groups in one another the innermost shows.
        for start, end, name in sorted(spans, key=lambda span: span[0] - span[1]):
            if start >= 0:  # a group may have no part in the match
                labels[start:end] = [name] * (end - start)
    pieces = groupby(zip(labels, text, strict=True), key=lambda each: each[0])
    return [("".join(letter for _, letter in piece), label) for label, piece in pieces]


def _picture_of(events: Sequence[JsonObject]) -> Picture:
    """Return the loop's graph with what a trail adds to it."""
    table = build_table((), {}, (), ()).routes
    edges = {(node, to, label) for node, routes in table.items() for label, to in routes.items()}
    for event in events[:_MOST_DRAWN]:
        node, target, outcome = _texts(event, ("node", "next", "outcome")).values()
        if node and target:
            edges.add((node, target, outcome))
    return lay_out(edges)


def _texts(item: JsonObject, names: Sequence[str]) -> dict[str, str]:
    return {name: _text(item.get(name)) for name in names}


def _object(value: Any) -> JsonDict:
    return dict(value) if isinstance(value, Mapping) else {}


def _list(value: Any, most: int = 50) -> list[Any]:
    return value[:most] if isinstance(value, list) else []


def _number(value: Any) -> float:
    """Return a number that can be shown, or 0."""
    return value if isinstance(value, int | float) and 0 <= value < 1e9 else 0


def _text(value: Any) -> str:
    if value is None:
        return ""
    return release(value) if isinstance(value, str) else quote(value, 1_000)
