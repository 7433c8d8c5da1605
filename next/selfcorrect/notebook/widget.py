"""The live cell of a stepper: a view goes out, commands come in. Needs the extra `jupyter`."""

import json
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from contextvars import copy_context
from importlib import import_module
from importlib.resources import files
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from selfcorrect.drawing.html import brief, static, still
from selfcorrect.drawing.svg import draw
from selfcorrect.drawing.view import View
from selfcorrect.errors import GraphSetupError, SelfCorrectError
from selfcorrect.notebook.edits import loop_of
from selfcorrect.text import release, text_of

if TYPE_CHECKING:
    from selfcorrect.notebook.stepper import Stepper

OFTEN = 0.1
"""Seconds between two pictures of a run that goes on."""


def display_cell(stepper: "Stepper") -> None:
    """Display a live cell, and below it a copy for whoever opens the notebook without a kernel.

    The copy hides where the cell lives. Without anywidget it is all that is shown.
    """
    shown: Any = import_module("IPython.display")
    name = f"selfcorrect-copy-{uuid4().hex[:8]}"

    def copy(view: View) -> Any:
        return shown.HTML(f'<div class="{name}">{still(view)}</div>')

    view = stepper.view()
    widget = _widget(copy=name, svg=draw(view["picture"]), view=_shown(stepper, view))
    if widget is not None:
        shown.display(widget)
    handle = shown.display(copy(view), display_id=True)
    last, turn = 0.0, Lock()

    def paint(problem: str = "") -> None:
        nonlocal last
        view = stepper.view()
        is_running, now = view["status"] == "running", monotonic()
        if is_running and now - last < OFTEN:
            return
        last = now
        widget.view = _shown(stepper, {**view, "problem": problem})
        if not is_running and handle is not None:
            handle.update(copy(view))

    def take(_: Any, message: Any, __: Any) -> None:
        if isinstance(message, Mapping):
            Thread(target=copy_context().run, args=(work, message), daemon=True).start()

    def work(message: Mapping[str, Any]) -> None:
        # Whoever presses a key thrice wants three steps; only Pause waits for nobody.
        with nullcontext() if message.get("act") == "pause" else turn:
            _obey(stepper, message, widget.send, paint)

    if widget is not None:
        stepper.listen(paint)
        widget.on_msg(take)


def _shown(stepper: "Stepper", view: View) -> dict[str, Any]:
    """Return what the page needs to know of a view."""
    head = next((each["id"] for each in view["timeline"] if each["is_head"]), "")
    nodes = view["picture"]["nodes"]
    at_repair = any(each["id"] == "repair" and each["mark"] == "next" for each in nodes)
    return {**brief(view), "head": head, "args": _args(stepper), "at_repair": at_repair}


def _args(stepper: "Stepper") -> str:
    """Return the arguments that an edit begins with; empty where they may not be shown whole."""
    current = loop_of(stepper.graph) and stepper.values.get("current")
    text = json.dumps(
        (current or {}).get("args") or {}, ensure_ascii=False, indent=1, default=text_of
    )
    return text if current and release(text, 10_000) == text else ""


def _obey(
    stepper: "Stepper",
    message: Mapping[str, Any],
    send: Callable[[Any], None],
    paint: Callable[[str], None],
) -> None:
    """Do what was pressed; what is wrong with it is shown, and never raised."""
    try:
        if message["act"] == "export":
            send(_export(stepper, str(message["value"])))
        else:
            _COMMANDS[message["act"]](stepper, message)
    except SelfCorrectError as error:
        paint(release(text_of(error)))
    except Exception as error:  # a thread has nobody else to tell
        paint(release(f"{type(error).__name__}: {text_of(error)}"))


def _edit(stepper: "Stepper", message: Mapping[str, Any]) -> None:
    written = {name: text for name, text in message["values"].items() if text.strip()}
    edit = {**_json("values", written.pop("values", "{}"))}
    for name in ("args", "options"):
        if name in written:
            edit[name] = _json(name, written[name])
    if "strategy" in written:
        edit["strategy"] = written["strategy"].strip()
    stepper.edit(edit)


def _json(name: str, text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise GraphSetupError(f"{name} is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise GraphSetupError(f"{name} must be a JSON object")
    return value


def _answer(stepper: "Stepper", value: Any) -> None:
    question = stepper.view()["question"] or {}
    is_ours = loop_of(stepper.graph) is not None
    stepper.answer({"question": question.get("id"), "answer": value} if is_ours else value)


def _value(text: str) -> Any:
    """Return what a person typed: JSON where it is JSON, and a text otherwise."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _break(stepper: "Stepper", node: Any) -> None:
    for name in [node] if node else stepper.next:
        (stepper.clear if name in stepper.breakpoints else stepper.break_at)(name)


_COMMANDS: Mapping[str, Callable[["Stepper", Mapping[str, Any]], Any]] = {
    "step": lambda stepper, _: stepper.step(),
    "run": lambda stepper, _: stepper.run(),
    "pause": lambda stepper, _: stepper.pause(),
    "back": lambda stepper, _: stepper.back(),
    "restart": lambda stepper, _: stepper.restart(),
    "goto": lambda stepper, message: stepper.goto(message["id"]),
    "break": lambda stepper, message: _break(stepper, message.get("node")),
    "edit": _edit,
    "answer": lambda stepper, message: _answer(stepper, _value(message["values"]["answer"])),
    "choose": lambda stepper, message: _answer(
        stepper, {"action": "choose", "choice": int(message["value"])}
    ),
    "decide": lambda stepper, message: _answer(stepper, message["value"]),
}


def _export(stepper: "Stepper", form: str) -> dict[str, str]:
    texts = {
        "html": ("text/html", stepper.to_html),
        "svg": ("image/svg+xml", stepper.to_svg),
        "json": ("application/json", stepper.to_json),
        "mermaid": ("text/plain", stepper.to_mermaid),
    }
    mime, text = texts[form]
    return {"name": f"run.{form}", "mime": mime, "text": text()}


def _widget(**values: Any) -> Any:
    try:
        import anywidget
        import traitlets
    except ModuleNotFoundError:
        return None

    class StepperWidget(anywidget.AnyWidget):
        """What the module in the page reads."""

        _esm = static("paint.js") + (files(__package__) / "static" / "widget.js").read_text("utf-8")
        _css = static("style.css")
        copy = traitlets.Unicode().tag(sync=True)
        svg = traitlets.Unicode().tag(sync=True)
        view = traitlets.Dict().tag(sync=True)

    return StepperWidget(**values)
