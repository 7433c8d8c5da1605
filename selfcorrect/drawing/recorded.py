"""Makes the views of a run that has ended from what it left; nothing in that is trusted."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from selfcorrect.drawing.picture import START, lay_out, paint
from selfcorrect.drawing.text import change_text, moment_text
from selfcorrect.drawing.view import (
    Detail,
    Match,
    Moment,
    Picture,
    Status,
    View,
    ViewChange,
)
from selfcorrect.model import JsonDict, JsonObject, name_place
from selfcorrect.routing import END, ENTRY, build_table
from selfcorrect.text import quote, release

_MOST_STEPS = 500
_MOST_DRAWN = 60
"""How many steps may add to the picture."""
_TRIED = ("strategy", "rule", "path", "outcome", "reason")
_REPORT = ("reason", "detail", "advice", "for_model", "severity")


def views_of(output: Any, *, title: str) -> list[View]:
    """Return the views of a run: one for its input, and one for each step.

    Args:
        output: What the run ended with: `{"result" or "failure", "trail"}`. An item of the trail
            that is not a step is not shown.
        title: What the run is about.
    """
    run = dict_of(output)
    steps = [event for event in _dicts(run, "trail", _MOST_STEPS) if event.get("node")]
    events: list[JsonDict] = [{"next": ENTRY}, *steps]
    moments = [
        Moment(
            id=str(number),
            node=shown(event.get("node")),
            outcome=shown(event.get("outcome")),
            kind="step" if number else "input",
            is_left=False,
            is_head=False,
        )
        for number, event in enumerate(events)
    ]
    drawn, outcome = _picture_of(events), outcome_texts(run)
    failure = dict_of(run.get("failure"))
    asked = run.get("question") or failure.get("question")
    question = question_of(asked) if asked else None
    status: Status = "waiting" if question else "finished"
    if failure:
        status = "failed"
    why = outcome.get("detail") or (question or {}).get("question")
    end = f"{status}: {why}" if why else status
    views: list[View] = []
    changes: list[ViewChange] = []
    for number, (event, moment) in enumerate(zip(events, moments, strict=True)):
        later, following = moments[number + 1 :], shown(event.get("next"))
        path = [[step["node"]] for step in moments[1 : number + 1]]
        detail = detail_of(event)
        changes = changes + detail["changes"]
        view = View(
            title=release(title, 200),
            status="past" if later else status,
            sentence=f"{moment_text(moment)}; next: {following}" if later else end,
            picture=paint(drawn, path=path, next=[following] if following != END else ()),
            timeline=[*moments[:number], {**moment, "is_head": True}, *later],
            detail=detail,
            changes=changes,
            state={},
            question=None if later else question,
            outcome={} if later else outcome,
            commands=["back", "goto"],
        )
        views.append(view)
    return views


def detail_of(event: JsonObject) -> Detail:
    """Return what an event of a trail says, as it may be shown."""
    return Detail(
        changes=[*map(_change, _dicts(event, "changes"))],
        matches=[*map(_match, _dicts(event, "findings"))],
        tried=[_texts(rung, _TRIED) for rung in _dicts(event, "tried")],
        error=shown(event.get("detail")),
    )


def outcome_texts(run: JsonObject) -> dict[str, str]:
    """Return the result, or the report with every attempt, as it may be shown."""
    failure = dict_of(run.get("failure"))
    outcome = {name: text for name, text in _texts(failure, _REPORT).items() if text}
    if "result" in run:
        outcome["result"] = "null" if run["result"] is None else shown(run["result"])
    return outcome | attempts_of(failure)


def attempts_of(item: JsonObject) -> dict[str, str]:
    """Return the attempts that a report or a question names, as they may be shown."""
    return {
        f"attempt {number}": " · ".join(_texts(attempt, ("call", "outcome", "text")).values())
        for number, attempt in enumerate(_dicts(item, "attempts"), 1)
    }


def question_of(asked: Any) -> JsonDict:
    """Return what a person is asked, as it may be shown."""
    question = asked if isinstance(asked, Mapping) else {"question": asked}
    options = [*map(_option, list_of(question.get("options"), 60))]
    return {**_texts(question, ("id", "question")), "options": options}


def shown(value: Any) -> str:
    """Return a text as it may leave, any other value as JSON, and nothing for None."""
    if value is None:
        return ""
    return release(value) if isinstance(value, str) else quote(value, 1_000)


def dict_of(value: Any) -> JsonDict:
    """Return a value if it is an object, and else an empty one."""
    return dict(value) if isinstance(value, Mapping) else {}


def list_of(value: Any, most: int = 50) -> list[Any]:
    """Return the beginning of a value if it is a list, and else an empty one."""
    return value[:most] if isinstance(value, list) else []


def _dicts(item: JsonObject, key: str, most: int = 50) -> list[JsonDict]:
    return [*map(dict_of, list_of(item.get(key), most))]


def _change(change: JsonObject) -> ViewChange:
    texts = _texts(change, ("safety", "strategy", "rule"))
    for name in ("before", "after"):
        texts[name] = quote(change[name], 300) if name in change else ""
    texts["place"] = name_place(shown(change.get("path")))
    if origin := shown(change.get("moved_from")):
        texts["place"] = f"{name_place(origin)} → {texts['place']}"
        texts["before"] = texts["before"] or texts["after"]
    return cast("ViewChange", texts)


def _option(option: Any) -> str:
    """Return an option as people read it: a value, or changes that the policy refused."""
    changes = _dicts(dict_of(option), "changes")
    return "; ".join(change_text(_change(change)) for change in changes) or quote(option, 1_000)


def _match(finding: JsonObject) -> Match:
    captures = dict_of(finding.get("captures"))
    return Match(
        rule=shown(finding.get("rule")),
        text=shown(finding.get("text") or finding.get("category")),
        captures={shown(name): shown(text) for name, text in captures.items()},
        ladder=[*map(shown, list_of(finding.get("ladder")))],
    )


def _picture_of(events: Sequence[JsonObject]) -> Picture:
    """Return the loop's graph with what a trail adds to it."""
    table = build_table((), {}, (), ()).routes
    edges = {(node, to, label) for node, routes in table.items() for label, to in routes.items()}
    for event in events[:_MOST_DRAWN]:
        node, target, outcome = _texts(event, ("node", "next", "outcome")).values()
        if node and target:
            edges.add((node, target, outcome))
    return lay_out([(START, ENTRY, ""), *edges])


def _texts(item: JsonObject, names: Sequence[str]) -> dict[str, str]:
    return {name: shown(item.get(name)) for name in names}
