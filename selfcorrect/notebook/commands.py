"""What can be pressed, as data: one function from a message to the stepper."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from selfcorrect.errors import GraphSetupError
from selfcorrect.notebook.form import edit_from

if TYPE_CHECKING:
    from selfcorrect.notebook.stepper import Stepper

MIME = {
    "html": "text/html",
    "svg": "image/svg+xml",
    "json": "application/json",
    "mermaid": "text/vnd.mermaid",
}


def perform(stepper: Stepper, message: Mapping[str, Any]) -> None:
    """Do what a message says.

    Raises:
        GraphSetupError: If it cannot be done here.
        ValueError: If a form holds no JSON.
    """
    match message.get("do"):
        case "step":
            stepper.step(confirm=message.get("confirm") is True)
        case "run":
            stepper.run()
        case "pause":
            stepper.pause()
        case "back":
            stepper.back()
        case "restart":
            stepper.restart()
        case "goto":
            stepper.goto(str(message.get("id")))
        case "break":
            node = str(message.get("node"))
            stepper.break_at(node, on=node not in stepper.breakpoints)
        case "edit":
            strategy = message.get("strategy")
            text = str(message.get("text") or "")
            stepper.edit(edit_from(stepper, text, strategy if isinstance(strategy, str) else None))
        case "answer":
            stepper.answer(_answer(stepper, message))
        case other:
            raise GraphSetupError(f"there is no command {other!r:.40}")


def exported(stepper: Stepper, form: str) -> dict[str, str]:
    """A file for the browser to save.

    Raises:
        GraphSetupError: If there is no such form.
    """
    make = {
        "html": stepper.to_html,
        "svg": stepper.to_svg,
        "json": stepper.to_json,
        "mermaid": stepper.to_mermaid,
    }.get(form)
    if make is None:
        raise GraphSetupError(f"there is no export {form!r:.40}")
    ending = "mmd" if form == "mermaid" else form
    return {"save": f"run.{ending}", "mime": MIME[form], "text": make()}


def _answer(stepper: Stepper, message: Mapping[str, Any]) -> Any:
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
    ours = stepper.parts.loop is not None
    if not ours or (isinstance(value, Mapping) and "action" in value):
        return value
    return {"action": "answer", "value": value}
