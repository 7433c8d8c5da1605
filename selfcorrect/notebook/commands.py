"""What can be pressed, as data: from a message of the page to what the stepper is to do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from selfcorrect.errors import GraphSetupError
from selfcorrect.notebook.form import edit_from
from selfcorrect.notebook.standing import Standing


class Command(NamedTuple):
    """A method of the stepper, and what it is called with."""

    method: str
    value: tuple[Any, ...] = ()
    options: Mapping[str, Any] = {}


class Export(NamedTuple):
    """A method of the stepper that makes a file, and how the browser saves it."""

    method: str
    name: str
    mime: str


EXPORTS: Final[Mapping[str, Export]] = {
    "html": Export("to_html", "run.html", "text/html"),
    "svg": Export("to_svg", "run.svg", "image/svg+xml"),
    "json": Export("to_json", "run.json", "application/json"),
    "mermaid": Export("to_mermaid", "run.mmd", "text/vnd.mermaid"),
}
_PLAIN: Final = ("run", "pause", "back", "restart")


def command_of(message: Mapping[str, Any], at: Standing) -> Command:
    """What a message asks of a stepper that stands there.

    Raises:
        GraphSetupError: If there is no such command.
        ValueError: If a form holds no JSON.
    """
    match message.get("do"):
        case "step":
            return Command("step", options={"confirm": message.get("confirm") is True})
        case str(name) if name in _PLAIN:
            return Command(name)
        case "goto":
            return Command("goto", (str(message.get("id")),))
        case "break":
            node = str(message.get("node"))
            return Command("break_at", (node,), {"on": node not in at.breakpoints})
        case "edit":
            text = str(message.get("text") or "")
            strategy, options = (_text(message.get(key)) for key in ("strategy", "options"))
            wanted = edit_from(at, text, strategy, options)
            return Command("edit", (wanted,))
        case "answer":
            return Command("answer", (_answer(message, ours=at.parts.loop is not None),))
        case other:
            raise GraphSetupError(f"there is no command {other!r:.40}")


def export_of(form: str) -> Export:
    """The file that a form of export makes.

    Raises:
        GraphSetupError: If there is no such form.
    """
    if form not in EXPORTS:
        raise GraphSetupError(f"there is no export {form!r:.40}")
    return EXPORTS[form]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _answer(message: Mapping[str, Any], *, ours: bool) -> Any:
    """The answer in the form that the graph expects."""
    if message.get("reject") is True:
        return {"action": "reject"}
    choice = message.get("choice")
    if isinstance(choice, int):
        return {"action": "choose", "choice": choice}
    text = str(message.get("text") or "").strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    if not ours or (isinstance(value, Mapping) and "action" in value):
        return value
    return {"action": "answer", "value": value}
