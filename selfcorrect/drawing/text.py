"""Tells a view, and a graph, in lines for terminals."""

from collections.abc import Iterable, Iterator

from selfcorrect.drawing.svg import label_of, shown_name
from selfcorrect.drawing.view import Moment, Picture, View, ViewChange
from selfcorrect.errors import SelfCorrectError
from selfcorrect.model import JsonDict
from selfcorrect.text import release, text_of


def view_text(view: View) -> str:
    """Return a view as text: where the run stands, its steps, changes, question and report."""
    return "\n".join(release(line, 2_000).replace("\n", " ") for line in _lines(view))


def ascii_graph(picture: Picture) -> str:
    """Return a picture as a table of nodes, outcomes and targets."""
    rows = [
        (shown_name(edge["source"]), label_of(edge), shown_name(edge["target"]))
        for edge in picture["edges"]
    ]
    return align([("node", "outcome", "target"), *rows])


def align(rows: Iterable[Iterable[str]]) -> str:
    """Return rows with aligned columns, each on one line."""
    table = [[" ".join(cell.split()) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    padded = (map(str.ljust, row, widths) for row in table)
    return "\n".join("  ".join(row).rstrip() for row in padded)


def moment_text(moment: Moment) -> str:
    """Return one step as a person reads it."""
    return " → ".join(filter(None, [moment["node"] or moment["kind"], moment["outcome"]]))


def change_text(change: ViewChange) -> str:
    """Return one edit of the call as a person reads it."""
    before, after = change["before"], change["after"]
    value = f"{before or '(missing)'} → {after or '(removed)'}" if before != after else after
    return f"{change['place']}  {value}  {change['strategy']}, {change['safety']}"


def question_lines(question: JsonDict) -> Iterator[str]:
    """Yield what a person is asked, and the options by number."""
    yield f"? {question['question']}"
    yield from (f"  {number}  {option}" for number, option in enumerate(question["options"], 1))


def error_text(error: Exception, most: int = 1_000) -> str:
    """Return what an error says, with its class where it is not one of the library's own."""
    is_own = isinstance(error, SelfCorrectError | OSError)
    name = "" if is_own else f"{type(error).__name__}: "
    return release(f"{name}{text_of(error)}", most)


def _lines(view: View) -> Iterator[str]:
    yield f"{view['title']}: {view['sentence']}"
    for number, moment in enumerate(view["timeline"]):
        mark = "x" if moment["is_left"] else " "
        yield f"{'>' if moment['is_head'] else mark} {number:3}  {moment_text(moment)}"
    detail = view["detail"]
    yield from (f"  change  {change_text(change)}" for change in detail["changes"])
    yield from (f"  rule  {match['rule']}" for match in detail["matches"])
    if detail["error"]:
        yield f"  error  {detail['error']}"
    if view["question"]:
        yield from question_lines(view["question"])
    yield from (f"{name}  {text}" for name, text in view["outcome"].items())
