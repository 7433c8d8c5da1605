"""Draws a view as the inside of a live cell: what is seen of a run, and what can be done."""

from collections.abc import Iterable, Iterator
from html import escape
from typing import Final

from selfcorrect.drawing.html import table
from selfcorrect.drawing.svg import draw
from selfcorrect.drawing.text import moment_text
from selfcorrect.drawing.view import Detail, View

BUTTONS: Final = {
    "step": ("Step", "n", "Run the next node"),
    "run": ("Run", "r", "Run to a breakpoint, a question, an error, or the end"),
    "pause": ("Pause", "p", "Stop before the next node"),
    "back": ("Back", "b", "Look at the state before; what tools have done stays done"),
    "restart": ("Restart", "Shift+R", "Look at the beginning; what tools have done stays done"),
}
HELP: Final = (
    *((key, hint) for _, key, hint in BUTTONS.values()),
    ("→ ←", "Step and back"),
    (".", "Stop before the node that is next; Enter on a node does it there"),
    ("e", "Edit the state: a new branch; Ctrl+Enter sends it"),
    ("a", "Answer a question"),
    ("x", "Export"),
    ("Esc", "Close a form"),
)
EXPORTS: Final = ("html", "svg", "json", "mermaid")


def draw_cell(view: View, args: str) -> str:
    """Return the inside of a live cell as HTML; every text in it is escaped.

    Args:
        view: What is shown.
        args: The arguments of the call that an edit begins with.
    """
    parts = [
        f"<h2>{escape(view['title'])}</h2>",
        f'<div class="keys" role="toolbar" aria-label="Commands">{_buttons(view)}</div>',
        *_forms(view, args),
        f'<div class="body"><div class="picture">{draw(view["picture"])}</div>',
        f'<div class="side">{_ask(view)}{"".join(_detail(view["detail"]))}{_end(view)}',
        "</div></div>",
        f'<details data-form="state"><summary>State</summary>'
        f'{table(("Key", ""), view["state"].items())}</details>',
        f'<ol class="steps" aria-label="Steps">{"".join(_steps(view))}</ol>',
    ]
    return "".join(parts)


def _buttons(view: View) -> str:
    return "".join(
        f'<button type="button" data-act="{name}" title="{hint} ({key})" aria-keyshortcuts="{key}"'
        f"{'' if name in view['commands'] else ' disabled'}>{label}</button>"
        for name, (label, key, hint) in BUTTONS.items()
    )


def _forms(view: View, args: str) -> Iterator[str]:
    fields = [_field("args", "Arguments", args)] if args else []
    if any(each["id"] == "repair" and each["mark"] == "next" for each in view["picture"]["nodes"]):
        fields += [_field("strategy", "Strategy", ""), _field("options", "Its options", "")]
    fields.append(_field("values", "Keys of the state, as JSON", ""))
    yield _form("edit", "Edit", [*fields, "<button>Write</button>"])
    exports = (_act("export", each, each) for each in EXPORTS)
    yield _form("export", "Export", exports)
    yield _form("help", "Help", [table(("Key", ""), HELP)])


def _field(name: str, label: str, text: str) -> str:
    area = f'<textarea name="{name}" rows="{min(12, text.count(chr(10)) + 1)}">{escape(text)}</textarea>'
    return f"<label>{label}{area}</label>"


def _form(name: str, label: str, parts: Iterable[str]) -> str:
    inside = "".join(parts)
    return (
        f'<details data-form="{name}"><summary>{label}</summary>'
        f'<form data-form="{name}">{inside}</form></details>'
    )


def _act(name: str, value: str, label: str) -> str:
    return f'<button type="button" data-act="{name}" data-value="{value}">{escape(label)}</button>'


def _ask(view: View) -> str:
    if (question := view["question"]) is None:
        return ""
    options = enumerate(question["options"])
    buttons = [_act("choose", str(number), each) for number, each in options]
    buttons += [_act("decide", each, each.capitalize()) for each in ("approve", "reject")]
    field = _field("answer", "Answer", "") + "<button>Send</button>"
    asked = f'<p class="question">{escape(question["question"])}</p>'
    return asked + _form("answer", "Answer", ["".join(buttons), field]).replace(
        "<details", "<details open", 1
    )


def _detail(detail: Detail | None) -> Iterator[str]:
    if detail is None:
        return
    if detail["error"]:
        yield f'<p class="error quote">{escape(detail["error"])}</p>'
    changes = (
        (each["place"], each["before"], each["after"], f"{each['strategy']}, {each['safety']}")
        for each in detail["changes"]
    )
    yield table(("Change", "before", "after", "by"), changes)
    for match in detail["matches"]:
        yield f"<p>Rule <b>{escape(match['rule'])}</b> <code>{escape(match['pattern'])}</code></p>"
        yield f'<p class="quote">{_pieces(match["parts"])}</p>'
        groups = {name: text for text, name in match["parts"] if name not in ("", "match")}
        yield table(("Group", ""), groups.items())
        yield f"<p>Strategies: {escape(', '.join(match['ladder']))}</p>"
    yield table(("Tried", "", "", "", ""), (tuple(each.values()) for each in detail["tried"]))
    yield table(("Cost", ""), ((name, f"{each:g}") for name, each in detail["cost"].items()))


def _pieces(parts: Iterable[tuple[str, str]]) -> str:
    return "".join(
        f'<mark title="{escape(name)}">{escape(text)}</mark>' if name else escape(text)
        for text, name in parts
    )


def _end(view: View) -> str:
    return table(("End", ""), view["outcome"].items())


def _steps(view: View) -> Iterator[str]:
    longest = max((each["seconds"] for each in view["timeline"]), default=0.0) or 1.0
    for each in view["timeline"]:
        classes = [each["kind"], *(["left"] if each["is_left"] else [])]
        here = ' aria-current="step"' if each["is_head"] else ""
        label = moment_text(each) + (", on a branch that was left" if each["is_left"] else "")
        yield (
            f'<li><button type="button" data-act="goto" data-id="{escape(each["id"])}"{here} '
            f'class="{" ".join(classes)}" style="--long:{each["seconds"] / longest:.2f}">'
            f"{escape(label)}</button></li>"
        )
