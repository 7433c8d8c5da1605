"""The live cell of a stepper: a view goes out, commands come in. Needs the extra `jupyter`."""

import json
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from contextvars import copy_context
from html import escape
from importlib import import_module
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from selfcorrect.drawing.html import brief, static, still
from selfcorrect.drawing.svg import draw
from selfcorrect.drawing.text import error_text
from selfcorrect.drawing.view import View
from selfcorrect.errors import GraphSetupError
from selfcorrect.lazy import name_extra
from selfcorrect.model import JsonDict, JsonObject
from selfcorrect.notebook.edits import loop_of
from selfcorrect.reading.call_object import strict_json
from selfcorrect.text import release, text_of

if TYPE_CHECKING:
    from selfcorrect.notebook.stepper import Stepper

OFTEN = 0.1
"""Seconds between two pictures of a run that goes on."""
COMMANDS = ("step", "run", "pause", "back", "restart", "goto", "break_at", "clear")
"""What the page calls by name."""


def display_cell(stepper: "Stepper") -> None:
    """Display a live cell, and below it a copy for whoever opens the notebook without a kernel.

    The copy hides where the cell lives. Without anywidget it is all that is shown, and says so.
    """
    screen: Any = import_module("IPython.display")
    name, view = f"selfcorrect-copy-{uuid4().hex[:8]}", stepper.view()

    def copy(view: View, note: str = "") -> Any:
        return screen.HTML(f'<div class="{name}">{still(view)}{note}</div>')

    try:
        widget = _widget(copy=name, svg=draw(view["picture"]), view=_data_of(stepper, view))
    except ModuleNotFoundError as error:
        screen.display(copy(view, f"<p>This is a still copy: {escape(str(error))}</p>"))
        return
    screen.display(widget)
    handle = screen.display(copy(view), display_id=True)
    last, turn = 0.0, Lock()

    def paint(problem: str = "") -> None:
        nonlocal last
        view = stepper.view()
        is_running, now = view["status"] == "running", monotonic()
        if is_running and now - last < OFTEN:
            return
        last = now
        widget.view = _data_of(stepper, view, problem)
        if not is_running and handle is not None:
            handle.update(copy(view))

    def obey(message: JsonObject) -> None:
        # Whoever presses a key thrice wants three steps; only Pause does not wait.
        with nullcontext() if message.get("act") == "pause" else turn:
            try:
                _do(stepper, message, widget.send)
            except Exception as error:  # it would be lost in this thread
                paint(error_text(error))

    def take(_: Any, message: Any, __: Any) -> None:
        Thread(target=copy_context().run, args=(obey, message), daemon=True).start()

    stepper.listen(paint)
    widget.on_msg(take)


def _widget(**values: Any) -> Any:
    with name_extra():
        import anywidget
        import traitlets

    class StepperWidget(anywidget.AnyWidget):
        """What the module in the page reads."""

        _esm = static("paint.js") + static("widget.js")
        _css = static("style.css")
        copy = traitlets.Unicode().tag(sync=True)
        svg = traitlets.Unicode().tag(sync=True)
        view = traitlets.Dict().tag(sync=True)

    return StepperWidget(**values)


def _data_of(stepper: "Stepper", view: View, problem: str = "") -> JsonDict:
    """Return what the page needs to know: a view, and why the last command was refused.

    An edit begins with the call's arguments, or empty where they may not be shown whole.
    """
    current = loop_of(stepper.graph) and stepper.values.get("current")
    args = (current or {}).get("args") or {}
    text = json.dumps(args, ensure_ascii=False, indent=1, default=text_of)
    is_whole = current and release(text, 10_000) == text
    return {**brief(view), "problem": problem, "args": text if is_whole else ""}


def _do(stepper: "Stepper", message: JsonObject, send: Callable[[Any], None]) -> None:
    """Do what was pressed."""
    values = message.get("given", ())
    match message["act"]:
        case act if act in COMMANDS:
            getattr(stepper, act)(*values)
        case "edit":
            stepper.edit(_edit(*values))
        case "answer":
            key, text = values
            answer = strict_json(text)
            is_ours = loop_of(stepper.graph) is not None
            stepper.answer({"question": key, "answer": answer} if is_ours else answer)
        case "export":
            send({"name": "run.html", "mime": "text/html", "text": stepper.to_html()})


def _edit(fields: Mapping[str, str]) -> JsonDict:
    """Return what was written into the form, as `Stepper.edit` takes it."""
    edit: JsonDict = {
        name: text.strip() if name == "strategy" else _object(name, text)
        for name, text in fields.items()
        if text.strip()
    }
    return {**edit.pop("values", {}), **edit}


def _object(name: str, text: str) -> JsonDict:
    value = strict_json(text)
    if not isinstance(value, dict):
        raise GraphSetupError(f"{name} must be a JSON object")
    return value
